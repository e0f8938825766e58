"""Text to tokens, for the text metrics: the tokenisers of the field, stop words, and a bounded cache of both.

Sources: mteval-v13a (NIST), as sacrebleu has it; the BLEU script of CodeXGLUE and CodeReviewer, which GradedReviews
used; R. MacIntyre's tokenizer.sed for the Penn Treebank (1995), as NLTK's `NLTKWordTokenizer` extends it. The Treebank
tokens are those of `nltk.word_tokenize(text.lower(), preserve_line=True)`, which METEOR is usually computed on, but
for two corners: a combining mark before an apostrophe, and the control characters U+001C to U+001F at the end of a
text, which Python's `re` and the `regex` module of newer NLTKs class differently. The other tokenisers and the stop
words are ours. Every rule is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from typing import TypeVar

from reviewgauge.models.text import words as review_words

T = TypeVar("T")
Tokens = tuple[str, ...]

LONGEST_KEPT = 5_000  # characters of a text whose tokens are kept

# The words of English that say little about what a text is about; negations say much, and are kept.
STOP_WORDS = review_words.STOP_WORDS | frozenset(
    """
    am d he her hers herself him himself his i'd i'll i'm i've it's let's ll m me mine my myself ours ourselves re she
    that's theirs themselves ve we'd we'll we're we've whom whose you'd you'll you're you've yours yourself
    """.split()  # noqa: SIM905
)

EACH = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # kana, Han, Hangul: a character stands for itself
_WORD = re.compile(rf"[{EACH}]|[^\W{EACH}]+")
_WORD_OR_MARK = re.compile(rf"[{EACH}]|[^\W{EACH}]+|[^\w\s]")
_WORD_OR_SIGN = re.compile(r"[^\W_]+|\S")
_MARK = r"!-&(-+/:-@\[-`{-~"  # ASCII punctuation but for ' , - . which depend on what they touch
_13A = re.compile(rf"(?:[^\s{_MARK}.,-]+|(?<![0-9])-+|(?<=[0-9])[.,](?=[0-9]))+|[{_MARK}.,-]")
_13A_ODD = re.compile(r"[.,][.,][0-9]")  # here mteval's rules depend on how many points come before
_13A_RULES = (
    (re.compile(rf"([{_MARK}])"), r" \1 "),
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)


def remembered(function: Callable[[str], T]) -> Callable[[str], T]:
    """A function of one text that remembers its latest results; long texts are not kept, so that memory is bounded."""
    kept = lru_cache(maxsize=4096)(function)

    @wraps(function)
    def of(text: str) -> T:
        return kept(text) if len(text) <= LONGEST_KEPT else function(text)

    return of


@remembered
def words(text: str) -> Tokens:
    """The words alone, lower-cased: runs of letters, digits and underscores. No punctuation, no emoji.

    Kana, Han and Hangul characters are a word each. Other scripts that put no blanks between words (Thai, Khmer) stay
    one word a run, and combining marks (Devanagari vowel signs) end a word.
    """
    return tuple(_WORD.findall(text.lower()))


@remembered
def words_and_marks(text: str) -> Tokens:
    """The words as in `words`, and every punctuation mark, symbol and emoji code point as a token of its own."""
    return tuple(_WORD_OR_MARK.findall(text.lower()))


@remembered
def graded_reviews(text: str) -> Tokens:
    r"""The tokens of GradedReviews' BLEU: lower-cased, every character but letters and digits on its own.

    Its script splits punctuation off (`\w+` or one character), then runs mteval's rules over the result, which by
    then only part `snake_case` at its underscores. Chinese and Japanese runs stay one token; an emoji is one token a
    code point.
    """
    return tuple(_WORD_OR_SIGN.findall(text.lower()))


@remembered
def mteval_13a(text: str) -> Tokens:
    """The tokens of mteval-v13a, sacrebleu's default: case kept, ASCII punctuation split off, `'` and `1.5` whole.

    Chinese and Japanese runs, emoji and typographic punctuation stay attached to what they touch.
    """
    line = text.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    if "&" in line:
        for entity, mark in (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")):
            line = line.replace(entity, mark)
    if not _13A_ODD.search(line):
        return tuple(_13A.findall(line))
    line = f" {line} "
    for rule, replacement in _13A_RULES:
        line = rule.sub(replacement, line)
    return tuple(line.split())


def without_stop_words(tokens: Sequence[str]) -> Tokens:
    """The tokens but for the stop words; all of them where nothing else is left, so that a text stays a text."""
    kept = tuple(token for token in tokens if token.lower() not in STOP_WORDS)
    return kept or tuple(tokens)


_EACH_ALONE = re.compile(
    f"[{EACH}\u3001-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]"
)  # and their marks
_OPENING = re.compile("[«“‘„]|`+")
_BACKTICKS = re.compile("``")
_QUOTE_AFTER_BRACKET = re.compile(r"(?<=[ (\[{<])(?:\"|'')")
_OPENING_APOSTROPHE = re.compile(r"(?i)(?<!\w)'(?!(?:re|ve|ll|m|t|s|d|n)\b)(?=\w)")
_LOOSE_END = re.compile(r"([\])}>\"'»”’ ]*+)\s*")
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
_CONTRACTIONS = [
    re.compile(f"(?i){pattern}")
    for pattern in (
        r"\b(can)(not)\b",
        r"\b(d)('ye)\b",
        r"\b(gim)(me)\b",
        r"\b(gon)(na)\b",
        r"\b(got)(ta)\b",
        r"\b(lem)(me)\b",
        r"\b(more)('n)\b",
        r"\b(wan)(na)(?=\s)",
        r" ('t)(is)\b",
        r" ('t)(was)\b",
    )
]
_MAY_CONTRACT = re.compile("cannot|d'ye|gimme|gonna|gotta|lemme|more'n|wanna|'ti|'tw")


@remembered
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


@remembered
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
