"""Assess: can the change be merged as it is? Right and wrong answers, for both positive classes, beside constant ones.

Source: ContextCRBench (arXiv:2511.07017), hunk-level quality estimation. Its evaluator takes *merged* as the positive
class and leaves unreadable answers out; on a balanced set, always saying *merged* has F1 .667 there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from reviewgauge.core.protocols import Aggregate, Measured, Metric
from reviewgauge.core.records import Case, Review
from reviewgauge.core.results import Bounds, Parts

if TYPE_CHECKING:
    from reviewgauge.core.protocols import Numbers

NO_TRUTH = "nobody knows whether the change could be merged"
NO_VERDICT = 'the review gives no verdict, and assess(no_verdict="comments") would go by its comments'


@dataclass(frozen=True)
class Assess(Metric):
    """Verdicts compared with the outcome of the change.

    `merged_*` measures take "can be merged" as the positive class (as the paper does), `not_merged_*` the other one.
    `always_merged_*` and `always_not_*` are what a constant answer would have got on the same changes, for the F1 of
    its own positive class and for accuracy; its balanced accuracy is always .5. `no_verdict="comments"` reads a review
    without a verdict by its comments: none means that it can be merged.
    """

    example: ClassVar[str] = (
        'reviewgauge review sample \'prompt(model="fake:example", preset="contextcrbench_assess")\' '
        "--stage 'split_hunks(task=\"assess\")' -o runs/verdicts && reviewgauge score runs/verdicts assess"
    )

    no_verdict: Literal["skip", "comments"] = "skip"

    headline: ClassVar[str] = "balanced_accuracy"

    def unmeasurable(self, case: Case) -> str:
        """Why the case has no known verdict; empty where it has one."""
        return NO_TRUTH if case.verdict is None else ""

    def parts(self, case: Case, review: Review) -> Measured | str:
        """One of four cells: verdict and truth, each yes or no."""
        if case.verdict is None:
            return NO_TRUTH
        verdict = review.verdict
        if verdict is None and self.no_verdict == "comments":
            verdict = not review.comments
        if verdict is None:
            return NO_VERDICT
        return Measured(parts=_cell(verdict, case.verdict), fake=review.fake)

    def combine(self, aggregate: Aggregate) -> Mapping[str, Numbers]:
        """The measures. Undefined: precision of a class never predicted, recall of one that never occurs."""
        yes_yes, yes_no = aggregate.total("said_yes_is_yes"), aggregate.total("said_yes_is_no")
        no_yes, no_no = aggregate.total("said_no_is_yes"), aggregate.total("said_no_is_no")
        is_yes, is_no, ratio = yes_yes + no_yes, yes_no + no_no, aggregate.ratio
        every = is_yes + is_no
        return {
            "balanced_accuracy": (ratio(yes_yes, is_yes) + ratio(no_no, is_no)) / 2,
            "accuracy": ratio(yes_yes + no_no, every),
            "merged_f1": ratio(2 * yes_yes, 2 * yes_yes + yes_no + no_yes),
            "merged_precision": ratio(yes_yes, yes_yes + yes_no),
            "merged_recall": ratio(yes_yes, is_yes),
            "not_merged_f1": ratio(2 * no_no, 2 * no_no + no_yes + yes_no),
            "not_merged_precision": ratio(no_no, no_no + no_yes),
            "not_merged_recall": ratio(no_no, is_no),
            "always_merged_f1": ratio(2 * is_yes, 2 * is_yes + is_no),
            "always_merged_accuracy": ratio(is_yes, every),
            "always_not_f1": ratio(2 * is_no, 2 * is_no + is_yes),
            "always_not_accuracy": ratio(is_no, every),
        }

    def bounds(self, case: Case) -> Bounds | None:
        """At worst the answer would have been wrong, at best right."""
        if case.verdict is None:
            return None
        return Bounds(worst=_cell(not case.verdict, case.verdict), best=_cell(case.verdict, case.verdict))


def _cell(said: bool, true: bool) -> Parts:
    words = {True: "yes", False: "no"}
    hit = f"said_{words[said]}_is_{words[true]}"
    return {f"said_{a}_is_{b}": float(hit == f"said_{a}_is_{b}") for a in words.values() for b in words.values()}
