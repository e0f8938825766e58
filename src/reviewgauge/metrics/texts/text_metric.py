"""Text metrics: the text of a review compared with the text of its reference.

The text of a review is its comments in order, one a line. Several phrasings of one finding (`same_as`) are
alternative references; several findings are one reference text, the first phrasing of each in order, one a line.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Aggregate, Measured, Metric
from reviewgauge.core.records import Case, Review, findings
from reviewgauge.core.results import Bounds, Failure, Parts

if TYPE_CHECKING:
    from reviewgauge.core.protocols import Numbers


NO_REFERENCE = "the case has no reference comment"
EMPTY_REFERENCE = "the reference is empty"
VALUE, MEAN = "value", "mean"


class TextPair(NamedTuple):
    """The text of the review, and the phrasings of its reference (at least one, none blank)."""

    hypothesis: str
    references: tuple[str, ...]


MOST_STEPS = 10**10  # of one alignment: some seconds, in which nothing is heard of Ctrl-C


def too_long(hypothesis: Sequence[object], references: Sequence[Sequence[object]], units: str) -> str:
    """Why two texts cannot be aligned in time that grows with the product of their lengths; empty where they can."""
    sizes = [len(reference) for reference in references if reference != hypothesis]
    if len(hypothesis) * sum(sizes) <= MOST_STEPS:
        return ""
    return f"the texts are too long to align: {len(hypothesis):,} {units} with {sum(sizes):,}"


class FlatPairs(NamedTuple):
    """Every phrasing beside its review's text, one row each; `starts` are the first rows of the pairs."""

    hypotheses: list[str]
    references: list[str]
    starts: list[int]


def flatten(pairs: Sequence[TextPair]) -> FlatPairs:
    """The pairs with one row a phrasing."""
    sizes = [len(pair.references) for pair in pairs]
    hypotheses = [pair.hypothesis for pair in pairs for _ in pair.references]
    references = [text for pair in pairs for text in pair.references]
    return FlatPairs(hypotheses, references, [0, *accumulate(sizes)][: len(pairs)])


def text_pair(case: Case, review: Review) -> TextPair | str:
    """The two texts of one measurement, or the reason why there is nothing to compare."""
    references = reference_texts(case)
    if isinstance(references, str):
        return references
    return TextPair("\n".join(comment.body for comment in review.comments), references)


def reference_texts(case: Case) -> tuple[str, ...] | str:
    """The alternative phrasings of the reference text, or the reason why there is none."""
    if not case.references:
        return NO_REFERENCE
    found = findings(case.references)
    if len(found) == 1:
        texts = [comment.body for comment in found[0]]
    else:
        texts = ["\n".join(finding[0].body for finding in found)]
    kept = tuple(text for text in texts if text.strip())
    return kept or EMPTY_REFERENCE


class TextMetric(Metric):
    """A metric of one text against another. A text metric writes `segments`; everything else follows.

    A blank hypothesis gets the lowest value of the metric, which `segments` must return; a case without a reference
    text is not measured.
    """

    reads_order: ClassVar[bool] = True
    batch: ClassVar[int] = 1024  # pairs that `segments` is handed at once: what memory grows with

    @abstractmethod
    def segments(self, pairs: Sequence[TextPair]) -> Sequence[Parts]:
        """The additive parts of each pair, in order. A metric with one number calls it `value`."""

    def refusal(self, pair: TextPair) -> str:
        """Why a pair is not measured; empty where it is."""
        return ""

    def _measurable(self, case: Case, review: Review) -> TextPair | str:
        pair = text_pair(case, review)
        return pair if isinstance(pair, str) else self.refusal(pair) or pair

    def parts(self, case: Case, review: Review) -> Measured | str:
        """The parts of the review's text against the reference's."""
        pair = self._measurable(case, review)
        return pair if isinstance(pair, str) else self._alone(pair)

    def parts_many(self, items: Sequence[tuple[Case, Review]]) -> Iterator[Measured | str | Failure]:
        """The same in batches; where a batch breaks, its pairs are measured one by one."""
        for start in range(0, len(items), self.batch):
            yield from self._batch(
                [self._measurable(case, review) for case, review in items[start : start + self.batch]]
            )

    def _batch(self, found: Sequence[TextPair | str]) -> Iterator[Measured | str | Failure]:
        pairs = [pair for pair in found if isinstance(pair, TextPair)]
        unique = list(dict.fromkeys(pairs))
        known: dict[TextPair, Measured | str | Failure] = {}
        try:
            measured = self.segments(unique)
            known = {pair: Measured(parts=parts) for pair, parts in zip(unique, measured, strict=True)}
        except UserError:
            raise
        except Exception:  # one pair broke the batch: each is measured alone, so that only that one is a Failure
            known = {pair: self.guarded(partial(self._alone, pair)) for pair in unique}
        for pair in found:
            yield pair if isinstance(pair, str) else known[pair]

    def _alone(self, pair: TextPair) -> Measured:
        return Measured(parts=self.segments([pair])[0])

    def combine(self, aggregate: Aggregate) -> Mapping[str, Numbers]:
        """The mean of every part; that of the one called `value` is the measure `mean`."""
        return {
            MEAN if name == VALUE else name: aggregate.ratio(aggregate.total(name), aggregate.count)
            for name in aggregate.names
        }

    def unmeasurable(self, case: Case) -> str:
        """Why the case has no reference text; empty where it has one."""
        references = reference_texts(case)
        return references if isinstance(references, str) else ""

    def bounds(self, case: Case) -> Bounds | None:
        """At worst an empty review, at best the reference itself."""
        references = reference_texts(case)
        if isinstance(references, str):
            return None
        pair = TextPair(references[0], references)
        if self.refusal(pair):
            return None
        worst, best = self.segments([TextPair("", references), pair])
        return Bounds(worst=worst, best=best)


def one_spaced(text: str) -> str:
    """The text with one blank for each run of white space, and none at its ends: equal ones are the same text."""
    return " ".join(text.split())
