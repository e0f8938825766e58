"""Mean reciprocal rank: how far down a review's comments the first right one stands.

Source: Voorhees, "The TREC-8 Question Answering Track Report", 1999. CORE (Siow et al., SANER 2020) brought it to the
retrieval of review comments, where the comment that a person wrote is the right one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from reviewgauge.core.parameters import Count
from reviewgauge.core.protocols import Measured, Metric
from reviewgauge.core.records import Case, Comment, Review
from reviewgauge.core.results import Bounds
from reviewgauge.core.specs import signature
from reviewgauge.core.trust import PluginSpec
from reviewgauge.judges.pairs.asking import judge_of
from reviewgauge.metrics.texts.text_metric import EMPTY_REFERENCE, NO_REFERENCE, one_spaced


@dataclass(frozen=True)
class Mrr(Metric):
    """1 / rank of the first right comment, 0 where none of the first `k` is right (`k=0`: of all).

    The comments of a review are ranked candidates, best first. One is right when it is the same text as a reference
    comment, in any phrasing, as in `exact_match`; with `judge` (a judge's spec, or a chat
    model's) when the judge says that it raises the same thing. Blank comments hold their rank and are never right.
    `found` is the share of reviews with a right comment among the first `k`.
    """

    k: Count = 0
    judge: PluginSpec = ""

    headline: ClassVar[str] = "mrr"
    reads_order: ClassVar[bool] = True

    @property
    def estimate_note(self) -> str:
        """The judge's label, such as "offline estimate"."""
        return judge_of(self.judge).estimate if self.judge else ""

    @property
    def reads_labels(self) -> bool:
        """With recorded verdicts, which are labels."""
        return bool(self.judge) and judge_of(self.judge).reads_labels

    @property
    def models(self) -> tuple[str, ...]:
        """Those that the judge asks."""
        return judge_of(self.judge).models if self.judge else ()

    def pins(self) -> Mapping[str, str]:
        """The judge's pins; for one that asks a model, its whole spec too."""
        if not self.judge:
            return {}
        judge = judge_of(self.judge)
        return {**({"judge": signature(judge)} if judge.models else {}), **judge.pins()}

    def parts(self, case: Case, review: Review) -> Measured | str:
        """The reciprocal rank, and whether anything was found at all."""
        references = _spoken(case.references)
        if not references:
            return EMPTY_REFERENCE if case.references else NO_REFERENCE
        listed = review.comments[: self.k] if self.k else review.comments
        comments = [comment for comment in listed if comment.body.strip()]
        right = self._right(case, review, comments, references)
        if isinstance(right, str):
            return right
        ranks = (rank for rank, comment in enumerate(listed, start=1) if comment.id in right)
        rank = next(ranks, None)
        return Measured(parts={"mrr": 1 / rank if rank else 0.0, "found": float(rank is not None)}, fake=review.fake)

    def _right(
        self, case: Case, review: Review, comments: Sequence[Comment], references: Sequence[Comment]
    ) -> set[str] | str:
        """The ids of the comments that are right, or the reason why that is unknown."""
        if not self.judge:
            right = {one_spaced(reference.body) for reference in references}
            return {comment.id for comment in comments if one_spaced(comment.body) in right}
        if not comments:
            return set()
        judge = judge_of(self.judge)
        table = judge.judge(case, comments, references, review)
        verdicts = [[verdict for verdict in row if verdict is not None] for row in table]
        if not any(verdicts):
            return "the judge has no verdict on this review"
        return {
            comment.id
            for comment, row in zip(comments, verdicts, strict=True)
            if any(v.probability >= judge.threshold if v.same is None else v.same for v in row)
        }

    def bounds(self, case: Case) -> Bounds | None:
        """At worst nothing is found, at best the first comment is right."""
        if not _spoken(case.references):
            return None
        return Bounds(worst={"mrr": 0.0, "found": 0.0}, best={"mrr": 1.0, "found": 1.0})


def _spoken(comments: Sequence[Comment]) -> list[Comment]:
    return [comment for comment in comments if comment.body.strip()]
