"""Porter's stemmer as NLTK extends it: what ROUGE and METEOR are published with.

Source: M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, with the departures that NLTK's
`PorterStemmer` (its default mode) makes from it: a table of irregular forms, `ies` and `ied` after one letter, `y`
after a consonant only, `alli` before the other suffixes, `fulli` and `logi`. The stems are NLTK's for every word
without an asterisk; NLTK itself takes a second to import.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

LONGEST_CACHED = 40  # characters; longer tokens are data, not words, and would only fill the cache

_IRREGULAR = {
    "skies": "sky", "sky": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news",
    "innings": "inning", "inning": "inning", "outings": "outing", "outing": "outing",
    "cannings": "canning", "canning": "canning", "howe": "howe",
    "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}  # fmt: skip

# Steps 2 and 3 apply where the rest has a measure above 0, step 4 where it is above 1.
_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
    "fulli": "ful", "logi": "log",
}  # fmt: skip
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4 = dict.fromkeys(
    "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize".split(),  # noqa: SIM905
    "",
)
_ENDINGS = (tuple(_STEP_2 | _STEP_3), tuple(_STEP_4))  # by the measure that the step asks for: a quick look first


class _Letters(dict[int, str]):
    """What a letter is in a shape: whatever is not a vowel and no y is a consonant."""

    def __missing__(self, code: int) -> str:
        return "c"


_LETTERS = _Letters({ord("y"): "y"} | {ord(vowel): "v" for vowel in "aeiou"})


def stem(word: str) -> str:
    """The stem of `word`, which may be in any case; the stem is in lower case."""
    return _cached(word) if len(word) <= LONGEST_CACHED else _stem(word)


def _stem(word: str) -> str:
    word = word.lower()
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _past(_plural(word))
    if len(word) > 2 and word[-1] == "y" and _shape(word[:-1])[-1] == "c":
        word = word[:-1] + "i"
    word = _replace(_double_suffix(word), _STEP_3, 0)
    word = _replace(word, _STEP_4, 1)
    if word[-1:] == "e":
        shape = _shape(word[:-1])
        measure = shape.count("vc")
        if measure > 1 or (measure == 1 and not _ends_short(word[:-1], shape)):
            word = word[:-1]
    if word.endswith("ll") and _shape(word[:-1]).count("vc") > 1:
        word = word[:-1]
    return word


_cached = lru_cache(maxsize=65_536)(_stem)


def _shape(word: str) -> str:
    """One `v` or `c` a letter: vowel or consonant. A `y` is a vowel after a consonant."""
    shape = word.translate(_LETTERS)
    if "y" not in shape:
        return shape
    letters = list(shape)
    for i, letter in enumerate(letters):
        if letter == "y":
            letters[i] = "v" if i and letters[i - 1] == "c" else "c"
    return "".join(letters)


def _ends_short(word: str, shape: str) -> bool:
    """Porter's *o: consonant, vowel, consonant other than w, x, y; in NLTK also a word of vowel and consonant."""
    return (shape.endswith("cvc") and word[-1] not in "wxy") or shape == "vc"


def _plural(word: str) -> str:
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word[-1] == "s" and word[-2] != "s" else word


def _past(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if "vc" in _shape(word[:-3]) else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            shape = _shape(rest)
            if "v" not in shape:
                return word
            if rest.endswith(("at", "bl", "iz")):
                return rest + "e"
            if len(rest) > 1 and rest[-1] == rest[-2] and shape[-1] == "c":
                return rest if rest[-1] in "lsz" else rest[:-1]
            return rest + "e" if shape.count("vc") == 1 and _ends_short(rest, shape) else rest
    return word


def _double_suffix(word: str) -> str:
    while word.endswith("alli") and "vc" in _shape(word[:-4]):
        word = word[:-2]
    if word.endswith("logi"):  # the l belongs to what is measured
        return word[:-1] if "vc" in _shape(word[:-3]) else word
    return _replace(word, _STEP_2, 0)


def _replace(word: str, rules: Mapping[str, str], above: int) -> str:
    """`word` with its longest suffix among `rules` replaced, where the rest's measure is above `above`."""
    if not word.endswith(_ENDINGS[above]):
        return word
    for length in range(min(7, len(word)), 1, -1):
        suffix = word[-length:]
        if suffix in rules:
            rest = word[:-length]
            if _shape(rest).count("vc") <= above or (suffix == "ion" and rest[-1] not in "st"):
                return word
            return rest + rules[suffix]
    return word
