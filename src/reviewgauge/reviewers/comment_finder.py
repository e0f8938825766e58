"""The review of the closest training code: ten by cosine over words, then the best by gestalt pattern matching.

Source: Hong et al., "CommentFinder: A Simpler, Faster, More Accurate Code Review Comments Recommendation", ESEC/FSE
2022 (https://github.com/CommentFinder/CommentFinder); the strongest tool without a model that GradedReviews
(arXiv:2501.05176) graded. Its code compares characters with difflib's defaults, by which no match begins
at a character that is common in a text of 200 or more: `variant="published"`. Ours compares words, and all of them.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

import numpy as np
from scipy.sparse import csr_matrix
from typing_extensions import override

from reviewgauge.core.parameters import Positive
from reviewgauge.reviewers.reading.nearest import Hit, Mask, Nearest

_WORD = re.compile(r"\b\w\w+\b")  # scikit-learn's CountVectorizer, which the published code counts with
_TOKEN = re.compile(r"\w+|[^\w\s]")
_COMMON = 0.5  # words in more of the examples than this share are left out, as in the published code
_LONGEST = 4_000  # characters that are matched with `published`, which leaves most of them out
_MOST = 500  # tokens that are matched: where much repeats, gestalt matching takes the cube of their number


@dataclass(frozen=True)
class CommentFinder(Nearest):
    """Repeats the comment on the closest training hunk, on at most `most` hunks of a change; learns by `--train`.

    `candidates`: how many are found by cosine and compared by gestalt.
    """

    candidates: Positive = 10
    variant: Literal["own", "published"] = "own"

    @override
    def _index(self, texts: Sequence[str]) -> _Counts:
        return _Counts(texts, self.candidates, self.variant == "published")


class _Counts:
    """Word counts of all examples, each row of length 1."""

    def __init__(self, texts: Sequence[str], candidates: int, published: bool) -> None:
        self._texts, self._candidates, self._published = texts, candidates, published
        counts = [Counter(_WORD.findall(text.lower())) for text in texts]
        occurs = Counter(word for count in counts for word in count)
        few = {word for word, times in occurs.items() if times <= max(1, _COMMON * len(texts))}
        self._columns = {word: column for column, word in enumerate(sorted(few))}
        self._rows = _unit_rows(counts, self._columns)

    def closest(self, text: str, allowed: Mask) -> Hit | None:
        """See `Index.closest`."""
        query = _unit_rows([Counter(_WORD.findall(text.lower()))], self._columns)
        cosines = np.where(allowed, np.asarray((self._rows @ query.T).todense()).ravel(), 0.0)
        order = np.argsort(-cosines, kind="stable")[: self._candidates]
        ratios = [(self._ratio(text, self._texts[number]), int(number)) for number in order if cosines[number] > 0]
        if not ratios:
            return None
        ratio, number = max(ratios, key=lambda item: item[0])  # of equals the one with the higher cosine
        return Hit(number, ratio)

    def _ratio(self, text: str, other: str) -> float:
        if self._published:
            return SequenceMatcher(None, text[:_LONGEST], other[:_LONGEST]).ratio()
        mine, theirs = (_TOKEN.findall(each)[:_MOST] for each in (text, other))
        return SequenceMatcher(None, mine, theirs, autojunk=False).ratio()


def _unit_rows(counts: Sequence[Mapping[str, int]], columns: Mapping[str, int]) -> csr_matrix:
    """A row of length 1 for each text; a text without a known word is a row of zeros."""
    places, values, ends = array("q"), array("d"), array("q", [0])
    for count in counts:
        known = {columns[word]: times for word, times in count.items() if word in columns}
        length = sum(times * times for times in known.values()) ** 0.5
        places.extend(known)
        values.extend(times / length for times in known.values())
        ends.append(len(places))
    return csr_matrix((values, places, ends), shape=(len(counts), max(1, len(columns))))
