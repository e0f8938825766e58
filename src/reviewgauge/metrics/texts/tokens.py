"""Text to tokens, for the text metrics: the tokenisers of the field, stop words, and a bounded memory of both.

Sources: mteval-v13a (NIST), as sacrebleu has it; the BLEU script of CodeXGLUE and CodeReviewer, which GradedReviews
used. The other tokenisers and the stop words are ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from reviewgauge.models.text import words as review_words

T = TypeVar("T")
Tokens = tuple[str, ...]

REMEMBERED = 600_000  # characters of text whose tokens are kept, and up to twice as many: some 15 MB of tokens

# The words of English that say little about what a text is about; negations say much, and are kept.
STOP_WORDS = review_words.STOP_WORDS | frozenset(
    """
    am d he her hers herself him himself his i'd i'll i'm i've it's let's ll m me mine my myself ours ourselves re she
    that's theirs themselves ve we'd we'll we're we've whom whose you'd you'll you're you've yours yourself
    """.split()  # noqa: SIM905
)

_EACH = "぀-ヿ㐀-鿿가-힯"  # kana, Han, Hangul: a character stands for itself
_WORD = re.compile(rf"[{_EACH}]|[^\W{_EACH}]+")
_WORD_OR_MARK = re.compile(rf"[{_EACH}]|[^\W{_EACH}]+|[^\w\s]")
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


class Remembered(Generic[T]):
    """A function of one text that remembers its latest results, bounded by the characters of the texts behind them.

    Two generations: when the young one is full it becomes the old one, and what was in the old one is forgotten.
    A count of texts would not bound memory: one comment of 1 MB weighs as much as 10,000 usual ones.
    """

    def __init__(self, function: Callable[[str], T], characters: int) -> None:
        self._function, self._most = function, characters
        self._young: dict[str, T] = {}
        self._old: dict[str, T] = {}
        self._weight = 0
        self.__doc__ = function.__doc__

    def __call__(self, text: str) -> T:
        """The value for `text`, computed or remembered."""
        found = self._young.get(text)
        if found is not None:
            return found
        found = self._old.get(text)
        if found is None:
            found = self._function(text)
        if len(text) * 10 <= self._most:
            if self._weight > self._most:
                self._old, self._young, self._weight = self._young, {}, 0
            self._young[text] = found
            self._weight += len(text) + 1
        return found


def remembered(characters: int = REMEMBERED) -> Callable[[Callable[[str], T]], Remembered[T]]:
    """Decorator: remember the results of a function of one text. It must never return None."""

    def decorate(function: Callable[[str], T]) -> Remembered[T]:
        return Remembered(function, characters)

    return decorate


@remembered()
def words(text: str) -> Tokens:
    """The words alone, lower-cased: runs of letters, digits and underscores. No punctuation, no emoji.

    Kana, Han and Hangul characters are a word each. Other scripts that put no blanks between words (Thai, Khmer) stay
    one word a run, and combining marks (Devanagari vowel signs) end a word.
    """
    return tuple(_WORD.findall(text.lower()))


@remembered()
def words_and_marks(text: str) -> Tokens:
    """The words as in `words`, and every punctuation mark, symbol and emoji code point as a token of its own."""
    return tuple(_WORD_OR_MARK.findall(text.lower()))


@remembered()
def graded_reviews(text: str) -> Tokens:
    r"""The tokens of GradedReviews' BLEU: lower-cased, every character but letters and digits on its own.

    Its script splits punctuation off (`\w+` or one character), then runs mteval's rules over the result, which by
    then only part `snake_case` at its underscores. Chinese and Japanese runs stay one token; an emoji is one token a
    code point.
    """
    return tuple(_WORD_OR_SIGN.findall(text.lower()))


@remembered()
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
