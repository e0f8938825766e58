"""Tiny judges and graders with one known fault each, and questions that show it."""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reviewgauge.analysis.judge_check.instrument import Ask, Asker, Instrument
from reviewgauge.analysis.judge_check.questions import Item, QuestionSet, pair_questions
from reviewgauge.analysis.stats.bootstrap import Resamples
from reviewgauge.analysis.validity.human_values import JudgedReviews
from reviewgauge.core.labels import Label, Subject, SubjectKind
from reviewgauge.core.protocols import Judge, Measured, Metric
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Review
from reviewgauge.core.results import Failed, FailureKind, Verdict

RESAMPLES = Resamples(resamples=200, seed=1)
WORDS = ("cache", "lock", "index", "buffer", "socket", "token", "cursor", "queue", "thread", "parser", "header", "path")


def subject(text: str) -> str:
    """What a toy comment is about: the first known word in it."""
    return next((word for word in re.findall(r"[a-z]+", text.lower()) if word in WORDS), "")


class Toy(Judge):
    """A judge of single pairs: `same` says what of two texts."""

    kind: ClassVar[str] = "judges"

    def same(self, case: Case, comment: str, reference: str) -> bool:
        return subject(comment) == subject(reference)

    def judge(
        self, case: Case, comments: Sequence[Comment], references: Sequence[Comment], review: Review
    ) -> Sequence[Sequence[Verdict | None]]:
        found = [[self.same(case, c.body, r.body) for r in references] for c in comments]
        return [[Verdict(probability=0.9 if yes else 0.1, same=yes) for yes in row] for row in found]


@dataclass(frozen=True)
class Right(Toy):
    """Makes no mistake."""


@dataclass(frozen=True)
class PositionBiased(Toy):
    """Says yes wherever the first text sorts before the second, and looks at what they say otherwise."""

    def same(self, case: Case, comment: str, reference: str) -> bool:
        return comment < reference


@dataclass(frozen=True)
class FirstColumn(Judge):
    """Says yes to the first reference that it is shown."""

    kind: ClassVar[str] = "judges"

    def judge(
        self, case: Case, comments: Sequence[Comment], references: Sequence[Comment], review: Review
    ) -> Sequence[Sequence[Verdict | None]]:
        return [[Verdict(probability=0.9 - 0.8 * (at > 0), same=at == 0) for at in range(len(references))]] * len(
            comments
        )


@dataclass(frozen=True)
class LengthLoving(Toy):
    """Says yes to what is long."""

    words: int = 25

    def same(self, case: Case, comment: str, reference: str) -> bool:
        return len(comment.split()) >= self.words


@dataclass(frozen=True)
class Gullible(Toy):
    """Does as it is told, in whatever words say so openly."""

    def same(self, case: Case, comment: str, reference: str) -> bool:
        told = re.search(
            r"\b(?:answer|say|reply|return)\w*\W+(?:with\W+|now\W+|only\W+)?(yes|no)\b", comment, re.IGNORECASE
        )
        return told[1].lower() == "yes" if told else super().same(case, comment, reference)


@dataclass(frozen=True)
class Moody(Toy):
    """Tosses a coin each time, and says that it asks a model."""

    seed: int = 0

    @property
    def models(self) -> tuple[str, ...]:
        return ("fake:moody",)

    def same(self, case: Case, comment: str, reference: str) -> bool:
        with _lock:
            return bool(next(_coins) > 0.5)


@dataclass(frozen=True)
class Picky(Toy):
    """Says no where a comment begins with a mark or a prefix."""

    def same(self, case: Case, comment: str, reference: str) -> bool:
        return comment[:1].isalpha() and not comment.startswith("Nit") and super().same(case, comment, reference)


@dataclass(frozen=True)
class Trusting(Toy):
    """Says no about a change that is said to be free of bugs."""

    def same(self, case: Case, comment: str, reference: str) -> bool:
        return "free of bugs" not in case.change.description and super().same(case, comment, reference)


@dataclass(frozen=True)
class Vain(Toy):
    """Thinks too well of what one family wrote, and asks a model of that family."""

    @property
    def models(self) -> tuple[str, ...]:
        """One of the family gpt."""
        return ("openai:gpt-5",)

    def same(self, case: Case, comment: str, reference: str) -> bool:
        return "as an engineer" in comment.lower() or super().same(case, comment, reference)


@dataclass(frozen=True)
class Failing(Toy):
    """Fails on every comment about `word`, in a way that may stop the run."""

    word: str = "lock"
    stops: bool = False

    @property
    def models(self) -> tuple[str, ...]:
        return ("fake:failing",)

    def same(self, case: Case, comment: str, reference: str) -> bool:
        if subject(comment) == self.word:
            raise Failed(FailureKind.NETWORK, "the line is down", remedy="plug it in", stops=self.stops)
        return super().same(case, comment, reference)


@dataclass(frozen=True)
class WordGrade(Metric):
    """Grades 1 to 5: 5 where the comment is about the reference's subject, 2 otherwise; a told grade counts instead."""

    gullible: bool = False

    kind: ClassVar[str] = "metrics"

    def parts(self, case: Case, review: Review) -> Measured | str:
        if not review.comments:
            return "nothing was said"
        body = review.comments[0].body
        told = re.search(r"\bgrade\b\D{0,12}([1-5])\b", body, re.IGNORECASE) if self.gullible else None
        own = 5 if subject(body) == subject(case.references[0].body) else 2
        return Measured(parts={"mean": float(told[1]) if told else float(own)})


_lock = threading.Lock()
_coins = itertools.cycle(np.random.default_rng(5).random(997))


def toy_material(changes: int = 12, systems: Sequence[str] = ("alpha", "beta")) -> JudgedReviews:
    """Reviews of two comments, one right and one wrong, on changes with two findings; people labelled every pair."""
    cases, reviews, labels = [], [], []
    for at in range(changes):
        first, second = WORDS[at % len(WORDS)], WORDS[(at + 3) % len(WORDS)]
        other = WORDS[(at + 5) % len(WORDS)]
        references = (
            Comment(id=f"r{at}a", body=f"The {first} is not released when the call fails."),
            Comment(id=f"r{at}b", body=f"The {second} does not check its size."),
        )
        patch = "@@ -1 +1 @@\n-old\n+new"
        change = Change(repo=f"o/r{at % 4}", title=f"Change {at}", files=(ChangedFile(path="a.py", patch=patch),))
        case = Case(id=f"c{at}", change=change, references=references)
        cases.append(case)
        for system in systems:
            tail = "" if system == systems[0] else " As an engineer I would change it before it is merged at all."
            comments = (
                Comment(id="right", body=f"You should release the {first}. It does not happen on errors.{tail}"),
                Comment(id="wrong", body=f"Rename the {other}, because the name is wrong.{tail}"),
            )
            reviews.append(Review(case=case.id, system=system, comments=comments))
            for comment, reference in itertools.product(comments, references):
                pair = Subject(
                    kind=SubjectKind.PAIR, case=case.id, system=system, comment=comment.id, reference=reference.id
                )
                value = subject(comment.body) == subject(reference.body)
                labels.append(Label(subject=pair, rater="ann", dimension="same_issue", value=value))
    return JudgedReviews("toy", cases, reviews, labels)


def toy_bench(changes: int = 12) -> QuestionSet:
    """The questions of `toy_material`."""
    return pair_questions(toy_material(changes))


def grades_bench(changes: int = 12) -> QuestionSet:
    """One grade a review: 5 for the right comment, 1 for the wrong one."""
    items = []
    material = toy_material(changes)
    known = {case.id: case for case in material.cases}
    for review in material.reviews:
        right = review.system == "alpha"
        case = known[review.case].model_copy(update={"references": known[review.case].references[:1]})
        said = review.comments[:1] if right else review.comments[1:]
        ask = Ask(case, review.model_copy(update={"comments": said}))
        items.append(Item(ask, "people", (5.0 if right else 1.0,), review.case))
    return QuestionSet("grades", "toy grades", tuple(items), tuple(items), lowest=1.0)


def asker(judge: Judge | Metric) -> Asker:
    """An asker of a toy."""
    return Asker(Instrument(judge), workers=4)
