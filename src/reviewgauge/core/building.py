"""Candidates, decisions and card sections of a build, and what a build offers its stages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from pydantic import Field

from reviewgauge.core.base import Fact, Record, Text
from reviewgauge.core.pull_requests import PullRequest
from reviewgauge.core.records import Case, Review

RESULTS = ".scratch/results"  # in a build's folder: files of the benchmark, which take their places at the very end


class Candidate(Record):
    """A case being built, with the pull request that it is made from (None when it came from a git history alone).

    `reviews` are those that hosted bots and people posted on exactly this change, for `--reviews-by`. Only `case` and
    `reviews` leave a build.
    """

    case: Case
    pull: PullRequest | None = None
    reviews: tuple[Review, ...] = ()

    @property
    def id(self) -> str:
        """The id of its case."""
        return self.case.id

    def with_case(self, **update: object) -> Candidate:
        """The candidate with some fields of its case replaced."""
        return self.model_copy(update={"case": self.case.model_copy(update=update)})

    def with_change(self, **update: object) -> Candidate:
        """The candidate with some fields of its change replaced."""
        return self.with_case(change=self.case.change.model_copy(update=update))

    def with_facts(self, facts: Mapping[str, Fact]) -> Candidate:
        """The candidate with further facts on its case."""
        return self.with_case(facts={**self.case.facts, **facts})


class DecisionKind(StrEnum):
    """What is decided, where people can overrule it."""

    COMMENT = "comment"  # whether it is right, and belongs to the references
    TRIVIAL = "trivial"  # whether it is about words and layout alone
    CATEGORY = "category"
    CONTEXT = "context"  # how far one must look to see it
    CLEAN = "clean"  # whether nothing had to be changed
    DOMAIN = "domain"  # what a change is about
    SAME = "same"  # whether two comments raise the same thing
    WORDS = "words"  # in which a defect is described
    FOUND = "found"  # whether a defect is seen in the diff alone
    DEFECT = "defect"  # whether what was put into a change is one
    CLAIM = "claim"  # whether what a review could say is so


class Decision(Record):
    """One thing that a model decided during a build, in a form that a person can check: `--audit n` draws from these.

    `by` is the short spec of its stage, `shown` what the model was given, `decided` its answer, `reason` why. One of a
    `kind` can be overruled by people: it is about the comment `about`, or, where that is empty, about the change.
    """

    item: str
    by: str
    decided: Text
    shown: Text
    reason: Text = ""
    kind: DecisionKind | None = None
    about: str = ""

    def on(self, kind: DecisionKind, about: str = "") -> Decision:
        """The same as one that people can overrule."""
        return self.model_copy(update={"kind": kind, "about": about})


class CardSection(Record):
    """A part of the build's card: figures that a stage knows (noise estimates, balance before and after).

    `warnings` go to the top of the card: a user must know them before using any figure.
    """

    by: str
    title: str
    text: Text = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str | int | float | None, ...], ...] = ()
    figures: Mapping[str, Fact] = Field(default_factory=dict)
    warnings: tuple[Text, ...] = ()


class BuildContext(Protocol):
    """What a build offers its stages: where things lie, what was found out before, and where to report."""

    @property
    def source(self) -> str:
        """What the user asked to build from: paths, or `github:owner/name`; empty when the stages name it."""
        ...

    @property
    def sources(self) -> tuple[str, ...]:
        """The paths of `source`, one by one."""
        ...

    @property
    def folder(self) -> Path:
        """The folder of the build, which becomes the benchmark."""
        ...

    @property
    def code(self) -> Path:
        """The folder of bare repositories that the benchmark's changes are read from."""
        ...

    def recall(self, key: Sequence[str]) -> bytes | None:
        """The value remembered under `key` in this build folder, also by a run that was killed."""
        ...

    def remember(self, key: Sequence[str], value: bytes) -> None:
        """Keep `value` under `key`, on disk before this returns."""
        ...

    def progress(self, label: str, done: int, total: int | None = None) -> None:
        """Show the user how far a long step is."""
        ...

    def report(self, section: CardSection) -> None:
        """Put a section on the build's card; one of the same stage and title is replaced."""
        ...
