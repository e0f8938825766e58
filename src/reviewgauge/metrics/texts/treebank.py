r"""Words as the Penn Treebank has them, with NLTK's additions: `don't` is `do` and `n't`, marks stand alone.

Source: R. MacIntyre's tokenizer.sed for the Penn Treebank (1995), as NLTK's `NLTKWordTokenizer` extends it (typographic
quotes and dashes, runs of dots, asterisks). The tokens are those of `nltk.word_tokenize(text.lower(),
preserve_line=True)`, which METEOR is usually computed on. Two corners are left out: a combining mark before an
apostrophe, and the control characters U+001C to U+001F at the end of a text, which Python's `re` and the `regex` module
of newer NLTKs class differently.

Every rule is linear in the length of the text, and a rule whose mark does not occur is skipped.
"""

from __future__ import annotations

import re

from reviewgauge.metrics.texts.tokens import Tokens, remembered

EACH = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # kana, Han, Hangul: a character stands for itself
_EACH_ALONE = re.compile(
    f"[{EACH}\u3001-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]"
)  # and their marks
_OPENING = re.compile("[«“‘„]|`+")
_BACKTICKS = re.compile("``")
_QUOTE_AFTER_BRACKET = re.compile(r"(?<=[ (\[{<])(?:\"|'')")
_OPENING_APOSTROPHE = re.compile(r"(?i)(?<!\w)'(?!(?:re|ve|ll|m|t|s|d|n)\b)(?=\w)")
_LOOSE_END = re.compile(r"([\])}>\"'»”’ ]*)\s*")
_TIGHT_END = re.compile(r"([\])}>\"']*)\s*")
_COLON = re.compile(r"([:,])(\D)")
_LAST_COLON = re.compile(r"[:,]$")
_DOTS = re.compile(r"\.{2,}")
_SIGNS = re.compile("[;@#$%&]|[\u2012-\u2015]")
_ENDS = re.compile("[?!]")
_BRACKETS = re.compile(r"[\]\[(){}<>]")
_CLOSING = re.compile("[»”’]")
_SPACES = re.compile(r"\s+")
_CLITIC = re.compile(r"([^' ])('[smd]?) ")
_LONG_CLITIC = re.compile(r"([^' ])('ll|'re|'ve|n't) ")
_CONTRACTIONS = (
    re.compile(r"(?i)\b(can)(not)\b"),
    re.compile(r"(?i)\b(d)('ye)\b"),
    re.compile(r"(?i)\b(gim)(me)\b"),
    re.compile(r"(?i)\b(gon)(na)\b"),
    re.compile(r"(?i)\b(got)(ta)\b"),
    re.compile(r"(?i)\b(lem)(me)\b"),
    re.compile(r"(?i)\b(more)('n)\b"),
    re.compile(r"(?i)\b(wan)(na)(?=\s)"),
    re.compile(r"(?i) ('t)(is)\b"),
    re.compile(r"(?i) ('t)(was)\b"),
)
_MAY_CONTRACT = re.compile("cannot|d'ye|gimme|gonna|gotta|lemme|more'n|wanna|'ti|'tw")


@remembered()
def treebank(text: str) -> Tokens:
    """The lower-cased words and marks of `text`; a script without blanks stays one word a run."""
    text = text.lower()
    text = _pad_marks(_open_quotes(text))
    text = _BRACKETS.sub(r" \g<0> ", text)
    if "--" in text:
        text = text.replace("--", " -- ")
    text = _close_quotes(f" {text} ")
    if _MAY_CONTRACT.search(text):
        for contraction in _CONTRACTIONS:
            text = contraction.sub(r" \1 \2 ", text)
    return tuple(text.split())


@remembered()
def treebank_unicode(text: str) -> Tokens:
    """The same, but each kana, Han and Hangul character, and each mark of theirs, is a word of its own."""
    return treebank(text if text.isascii() else _EACH_ALONE.sub(r" \g<0> ", text))


def _open_quotes(text: str) -> str:
    if "`" in text or not text.isascii():
        text = _OPENING.sub(r" \g<0> ", text)
    if text.startswith('"'):
        text = "``" + text[1:]
    if "``" in text:
        text = _BACKTICKS.sub(" `` ", text)
    if '"' in text or "''" in text:
        text = _QUOTE_AFTER_BRACKET.sub(" `` ", text)
    return _OPENING_APOSTROPHE.sub("' ", text) if "'" in text else text


def _pad_marks(text: str) -> str:
    text = _split_last_point(text, _LOOSE_END, " ")
    if ":" in text or "," in text:
        text = _LAST_COLON.sub(r" \g<0> ", _COLON.sub(r" \1 \2", text))
    if ".." in text:
        text = _DOTS.sub(r" \g<0> ", text)
    text = _split_last_point(_SIGNS.sub(r" \g<0> ", text), _TIGHT_END, "")
    text = _ENDS.sub(r" \g<0> ", text)
    if "' " in text:
        text = re.sub("([^'])' ", r"\1 ' ", text)
    return text.replace("*", " * ")


def _split_last_point(text: str, rest: re.Pattern[str], space: str) -> str:
    """Part the point that ends the text from its word; `rest` is what may follow it."""
    at = text.rfind(".")
    if at < 1 or text[at - 1] == ".":
        return text
    found = rest.fullmatch(text, at + 1)
    return f"{text[:at]} .{space}{found[1]} " if found else text


def _close_quotes(text: str) -> str:
    if not text.isascii():
        text = _CLOSING.sub(r" \g<0> ", text)
    if "''" in text:
        text = text.replace("''", " '' ")
    if '"' in text:
        text = text.replace('"', " '' ")
    text = _SPACES.sub(" ", text)
    return _LONG_CLITIC.sub(r"\1 \2 ", _CLITIC.sub(r"\1 \2 ", text)) if "'" in text else text
