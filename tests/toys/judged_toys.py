"""A small study for the tests of validity: cases, reviews of known quality, and people who graded them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from reviewgauge.analysis.validity.human_values import HumanValues, human_values
from reviewgauge.analysis.validity.review_table import ReviewTable
from reviewgauge.core.labels import Label, RaterKind, Scale, Subject, SubjectKind
from reviewgauge.core.protocols import Measured, Metric
from reviewgauge.core.records import Case, Change, Claim, Comment, Review
from reviewgauge.core.results import Outcome, Score

LIKERT = Scale(low=1, high=5, row_sets={"grade < 5": (1, 4)})
WORDS = ("buffer", "index", "lock", "cache", "parser", "socket", "timer", "queue")


@dataclass(frozen=True)
class Shared(Metric):
    """The share of the reference's words that the review says."""

    headline: ClassVar[str] = "share"

    def parts(self, case: Case, review: Review) -> Measured | str:
        if not case.references:
            return "the case has no reference comment"
        said = {word for comment in review.comments for word in comment.body.split()}
        wanted = case.references[0].body.split()
        return Measured(parts={"share": sum(word in said for word in wanted) / len(wanted)})


@dataclass(frozen=True)
class Missed(Shared):
    """The share of the reference's words that the review does not say."""

    lower_is_better: ClassVar[frozenset[str]] = frozenset({"share"})

    def parts(self, case: Case, review: Review) -> Measured | str:
        found = super().parts(case, review)
        return found if isinstance(found, str) else Measured(parts={"share": 1 - found.parts["share"]})


def reference(number: int) -> str:
    """Eight words that no other reference has."""
    own = "".join(chr(ord("a") + int(digit)) for digit in f"{number:03d}")
    return " ".join(f"{word}x{own}x" for word in WORDS)


def case(number: int, **facts: str) -> Case:
    return Case(
        id=f"case-{number:03d}",
        change=Change(repo="o/r"),
        references=(Comment(id="r", body=reference(number)),),
        claims=tuple(Claim(id=f"c{n}", body="claim") for n in range(number % 3)),
        facts={"language": ("java", "python")[number % 2], **facts},
    )


def review(number: int, system: str, grade: int) -> Outcome:
    """A review that says 2 words of the reference for each grade above the lowest."""
    words = reference(number).split()[: 2 * (grade - 1)] or ["nothing"]
    words += ["filler"] * ((number * 7 + len(system) * 11) % 23)
    said = Review(case=f"case-{number:03d}", system=system, comments=(Comment(id="c", body=" ".join(words)),))
    return Outcome(case=said.case, system=system, review=said)


def label(of: Outcome, value: float | str, rater: str = "ann", dimension: str = "grade", **more: object) -> Label:
    subject = Subject(kind=SubjectKind.REVIEW, case=of.case, system=of.system, attempt=of.attempt)
    fields = {"subject": subject, "rater": rater, "dimension": dimension, "value": value, "rater_kind": RaterKind.HUMAN}
    return Label.model_validate({**fields, **more})


@dataclass(frozen=True)
class Study:
    """Cases, outcomes and labels that belong together."""

    cases: tuple[Case, ...]
    outcomes: tuple[Outcome, ...]
    labels: tuple[Label, ...]

    def bench(self, people: Sequence[str] = ()) -> ReviewTable:
        return ReviewTable.of(self.cases, self.outcomes, people)

    def humans(self, scales: Mapping[str, Scale] | None = None) -> list[HumanValues]:
        return human_values(self.labels, {"grade": LIKERT} if scales is None else scales)[0]

    def scores(self, metric: Metric) -> list[Score]:
        of = {found.id: found for found in self.cases}
        scores = []
        for outcome in self.outcomes:
            assert outcome.review is not None
            found = metric.parts(of[outcome.case], outcome.review)
            parts, reason = (None, found) if isinstance(found, str) else (found.parts, "")
            scores.append(
                Score(
                    case=outcome.case, system=outcome.system, metric="shared", benchmark="b", parts=parts, reason=reason
                )
            )
        return scores


def study(count: int = 60, noise: float = 0.6, seed: int = 0) -> Study:
    """Four systems of rising quality on every case, graded by one person who errs a little."""
    generator = np.random.default_rng(seed)
    cases = tuple(case(number) for number in range(count))
    outcomes, labels = [], []
    for number in range(count):
        for quality, system in enumerate(("weak", "fair", "good", "best")):
            grade = int(np.clip(generator.integers(1, 4) + quality - 1, 1, 5))
            outcome = review(number, system, grade)
            outcomes.append(outcome)
            labels.append(label(outcome, int(np.clip(round(grade + generator.normal() * noise), 1, 5))))
    return Study(cases, tuple(outcomes), tuple(labels))


def write_study(folder: Path, made: Study, labels: bool = True) -> Path:
    """The study as a user's own files: `cases.jsonl`, with the labels on the cases, and `reviews.jsonl`."""
    folder.mkdir(exist_ok=True)
    on: dict[str, tuple[Label, ...]] = {}
    for one in made.labels if labels else ():
        on[one.subject.case] = (*on.get(one.subject.case, ()), one)
    cases = [case.model_copy(update={"labels": on.get(case.id, ())}) for case in made.cases]
    (folder / "cases.jsonl").write_bytes(b"".join(case.to_line() for case in cases))
    (folder / "reviews.jsonl").write_bytes(b"".join(o.review.to_line() for o in made.outcomes if o.review))
    return folder
