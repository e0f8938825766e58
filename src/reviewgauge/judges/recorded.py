"""Two comments raise the same thing when a judge said so and its verdict came with the data.

Source: the labels of the case itself (`same_issue` on a comment-reference pair, `false_positive` on a comment,
`missed` on a reference), for example Martian's stored verdicts (https://github.com/withmartian/code-review-benchmark).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, SubjectKind
from reviewgauge.core.protocols import Judge
from reviewgauge.core.records import Case, Comment, Review
from reviewgauge.core.results import Verdict, Vote
from reviewgauge.core.trust import Word

_DIMENSIONS = frozenset({"same_issue", "false_positive", "missed"})


@dataclass(frozen=True)
class Recorded(Judge):
    """The verdicts of `rater`, which may stay empty where only one rater judged the review.

    A pair without a verdict stays undecided (None): stored verdicts name the best comment of a reference, so the
    others are unknown, not wrong.

    In the place of a reviewer, as in `review DATA recorded`, the word stands for the reviews that came with the data.
    """

    example: ClassVar[str] = (
        "reviewgauge review martian recorded -o runs/martian "
        "&& reviewgauge score runs/martian 'hits(judge=\"recorded\")'"
    )

    rater: Word = ""

    kind: ClassVar[str] = "judges"
    reads_labels: ClassVar[bool] = True

    @property
    def sure(self) -> float:
        """A recorded yes is a yes: there is no unsure band, and a comment's file does not overrule it."""
        return self.threshold

    def judge(
        self, case: Case, comments: Sequence[Comment], references: Sequence[Comment], review: Review
    ) -> Sequence[Sequence[Verdict | None]]:
        """The recorded verdicts on this review. Raises UserError for several raters when `rater` is empty."""
        labels = [
            x
            for x in case.labels
            if x.dimension in _DIMENSIONS
            and x.subject.system in (None, review.system)
            and x.subject.attempt == review.attempt
        ]
        raters = sorted({label.rater for label in labels})
        if self.rater:
            # A rater who skipped this review leaves it unjudged, which is not an error of the whole run.
            labels = [label for label in labels if label.rater == self.rater]
        elif len(raters) > 1:
            raise UserError(
                f"{len(raters)} raters judged {case.id}: {', '.join(raters)}",
                remedy="name one: " + ", or ".join(f"""hits(judge='recorded(rater="{one}")')""" for one in raters),
            )
        return _table(labels, comments, references)


def _table(
    labels: Sequence[Label], comments: Sequence[Comment], references: Sequence[Comment]
) -> list[list[Verdict | None]]:
    pairs: dict[tuple[str | None, str | None], Label] = {}
    false: dict[str | None, Label] = {}
    missed: dict[str | None, Label] = {}
    for label in labels:  # of two words on one thing the later stands
        subject = label.subject
        if subject.kind is SubjectKind.PAIR and label.dimension == "same_issue":
            pairs[subject.comment, subject.reference] = label
        elif subject.kind is SubjectKind.COMMENT and label.dimension == "false_positive":
            false[subject.comment] = label
        elif label.dimension == "missed":
            missed[subject.reference] = label

    def verdict(comment: str, reference: str) -> Verdict | None:
        alone = (one for one in (false.get(comment), missed.get(reference)) if one and one.value is True)
        label = pairs.get((comment, reference)) or next(alone, None)
        return None if label is None else _verdict(label)

    return [[verdict(comment.id, reference.id) for reference in references] for comment in comments]


def _verdict(label: Label) -> Verdict:
    """A recorded yes keeps its confidence as probability when that is above one half; a no has probability 0."""
    same = label.dimension == "same_issue" and label.value is True
    probability = max(0.5, label.confidence if label.confidence is not None else 1.0) if same else 0.0
    vote = Vote(rater=label.rater, value=same, confidence=label.confidence, reason=label.reason)
    reason = (label.reason or f"{label.rater} said {'yes' if same else 'no'}") if same else {
        "false_positive": f"{label.rater} matched this comment with nothing",
        "missed": f"{label.rater} found this nowhere in the review",
    }.get(label.dimension, label.reason or f"{label.rater} said no")  # fmt: skip
    return Verdict(probability=probability, same=same, reason=reason, votes=(vote,))
