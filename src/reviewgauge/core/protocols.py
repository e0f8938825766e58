"""The protocol of each kind of plug-in: one file in its kind's folder, with one public frozen dataclass."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from pydantic import Field

from reviewgauge.core.base import Record
from reviewgauge.core.building import BuildContext, Candidate, Decision
from reviewgauge.core.data_card import Card
from reviewgauge.core.errors import NothingRecorded, UserError, crash_message
from reviewgauge.core.labels import Label, Scale
from reviewgauge.core.records import Case, Change, Comment, Review
from reviewgauge.core.results import (
    Bounds,
    Coverage,
    Drop,
    Failed,
    Failure,
    FailureKind,
    Matching,
    Parts,
    Verdict,
    Vote,
)
from reviewgauge.core.secrets import hide_secrets
from reviewgauge.core.specs import Plugin, short_spec
from reviewgauge.core.trust import Word

if TYPE_CHECKING:
    import numpy as np

    Numbers = np.ndarray[Any, np.dtype[np.float64]]


Progress = Callable[[int, int, str], None]  # (done, total, what is being done)


class Dataset(Plugin):
    """A data set: cases, and where they came with it, recorded reviews and labels.

    `path` (a parameter of every data set that lives in files) is the folder or file; empty means the data home.
    """

    kind: ClassVar[str] = "datasets"
    path: str

    @property
    @abstractmethod
    def card(self) -> Card:
        """The data set's card."""

    @abstractmethod
    def cases(self) -> Iterable[Case]:
        """The cases, in a stable order."""

    def recorded(self, **parameters: object) -> tuple[Sequence[Review], Sequence[Label]]:
        """The reviews that came with the data, and the labels on them; `parameters` choose among several sets."""
        raise NothingRecorded(f"{type(self).__name__} came without recorded reviews", remedy="name a reviewer instead")

    def scales(self) -> Mapping[str, Scale]:
        """The scale of each dimension that people judged in, by its name; empty where the data does not say."""
        return {}

    @property
    def human_systems(self) -> Sequence[str]:
        """The systems of the recorded reviews that are people: left out of rankings and correlations."""
        return ()

    def counts(self) -> Mapping[str, int]:
        """Counts of the local files, by the names that the card uses; zero counts are left out."""
        cases = list(self.cases())
        found = {
            "changes": len(cases),
            "references": sum(len(case.references) for case in cases),
            "neutral": sum(len(case.neutral) for case in cases),
            "rejected": sum(len(case.rejected) for case in cases),
            "repositories": len({case.change.repo for case in cases}),
            "languages": len({case.facts["language"] for case in cases if "language" in case.facts}),
        }
        return {name: count for name, count in found.items() if count}

    def check_out(self, folder: Path) -> int:
        """Put the code that ships with the data set into `folder`, for tools to read; returns the number of files."""
        raise UserError(
            f"{type(self).__name__} ships no code", remedy="reviewgauge info shows where its data comes from"
        )

    def code_remedy(self) -> str:
        """What to do when a reviewer needs the code under review and it is missing."""
        return "its changes come without code: choose a reviewer that needs none"

    def notes(self) -> Sequence[Drop]:
        """What reading corrected or left out, each with its reason. Complete after `cases()` was read."""
        return ()


StageOutput = Iterator[Candidate | Drop | Decision]


class Stage(Plugin):
    """One step of building a benchmark. Most stages only write `keep`.

    One that needs the pull request behind a case writes `narrow`; one that makes several candidates out of one, or
    reports a model's decisions, writes `each`; a source, or one that must see the whole stream (to resample, to
    balance), writes `apply`. `items` of `apply` can be gone through more than once, and are not held in memory.
    `needs_pulls`: it reads the pull request behind a case.
    `costly`: what `each` yields is remembered by the content of the item, so that a killed build does not pay twice;
    a stage that asks a model is costly.
    """

    kind: ClassVar[str] = "stages"
    costly: ClassVar[bool] = False
    needs_build: ClassVar[bool] = False  # its folder or its history: `review --stage` has neither
    needs_pulls: ClassVar[bool] = False

    def keep(self, case: Case) -> Case | str:
        """The case, changed or not, or the reason why it is dropped."""
        return case

    def narrow(self, item: Candidate) -> Candidate | str:
        """The candidate, changed or not, or the reason why it is dropped; by default `keep` on its case."""
        kept = self.keep(item.case)
        return item.model_copy(update={"case": kept}) if isinstance(kept, Case) else kept

    def each(self, item: Candidate, context: BuildContext) -> StageOutput:
        """The results for one candidate; by default what `narrow` returns."""
        kept = self.narrow(item)
        yield kept if isinstance(kept, Candidate) else self.drop(item.id, kept)

    def apply(self, items: Iterable[Candidate], context: BuildContext) -> StageOutput:
        """The whole stream; by default `each` on each candidate."""
        for item in items:
            yield from self.each(item, context)

    def overruled(
        self, before: Candidate, after: Candidate, kept: Sequence[Decision], wrong: Sequence[Decision]
    ) -> Candidate | Drop:
        """`after`, made of `before`, once people found some decisions `wrong`: for kinds of which one stage decides."""
        return after

    def drop(self, item: str, reason: str, detail: str = "") -> Drop:
        """A drop by this stage. `reason` is one of few, since reasons are counted; particulars go into `detail`."""
        return Drop(item=item, by=short_spec(self), reason=reason, detail=detail)


@dataclass(frozen=True)
class Reviewer(Plugin):
    """Reviews a change. It never receives a Case, so it cannot see the answers.

    `name` is what tables call it: one reviewer under two names is two systems of a run.
    `learns`: it is handed training cases by `fit`. `leaves_one_out`: it looks its training cases up one by one, and
    leaves out those that are the change under review (core/same_change.py), so they may come from the benchmark itself.
    """

    kind: ClassVar[str] = "reviewers"
    needs_diff: ClassVar[bool] = True
    runs_programs: ClassVar[bool] = False  # named in its parameters, which only the user may write
    baseline: ClassVar[bool] = False  # there to be beaten: outside of every ranking and plan
    learns: ClassVar[bool] = False
    leaves_one_out: ClassVar[bool] = False

    name: Word = field(default="", kw_only=True, compare=False)

    @property
    def system(self) -> str:
        """The name in tables: `name`, else the default."""
        return self.name or self.default_name

    @property
    def default_name(self) -> str:
        """The name of one that is given none: the plug-in's name and its changed parameters."""
        return short_spec(self)

    @abstractmethod
    def review(self, change: Change) -> Review:
        """The review of `change`; its `case` and `attempt` are set by the engine. Errors become Failures there."""

    def check(self, changes: Sequence[Change]) -> None:
        """Called first, before any reviewer learns or prepares. Raises UserError where it can review none of them."""

    def prepare(self, changes: Sequence[Change]) -> Sequence[Drop]:
        """Called once before a run with every change; returns what it cannot use (counted, never silent)."""
        return ()

    def fit(self, cases: Iterable[Case], progress: Progress | None = None) -> Reviewer:
        """The one door to training data: a reviewer that has learnt from `cases`. Raises UserError for too few."""
        return self


class Parsed(Record):
    """The comments that a file holds on one change, before anchoring (`claimed` is set, `span` is not).

    `key` names the change in the file's own words (case id, head commit or URL), None when the file does not say.
    `skipped` counts what is not a review comment: triggers, bot chatter, status lines. `attempt` is None where the file
    knows of none. `answer` stands in place of comments: a whole review, placed already, or why there is none.
    """

    key: str | None = None
    system: str | None = None
    attempt: int | None = None
    answer: Review | Failure | None = None
    root: str | None = None  # the folder that absolute paths start with, when the file tells
    comments: tuple[Comment, ...] = ()
    skipped: tuple[Drop, ...] = ()


class Format(Plugin):
    """An interchange format of review comments."""

    kind: ClassVar[str] = "formats"
    suffixes: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def read(self, data: bytes, source: str) -> list[Parsed]:
        """The comments in `data`; `source` names it in errors (BadInput with record and field)."""

    def recognises(self, data: bytes) -> bool:
        """Whether `data` looks like this format, judged by its content."""
        return False


class Judge(Plugin):
    """Says whether a comment and a reference raise the same thing.

    `threshold` is the probability from which on it says yes. `estimate` is a label for every figure
    of an offline judge, empty for others.
    """

    kind: ClassVar[str] = "judges"
    estimate: ClassVar[str] = ""
    reads_labels: ClassVar[bool] = False  # whether its verdicts are the labels on the case

    @property
    def threshold(self) -> float:
        """Probability from which on a pair counts as the same."""
        return 0.5

    @property
    def sure(self) -> float:
        """Probability from which on the judge is sure: the upper end of its unsure band."""
        return 0.9

    @property
    def penalty(self) -> float:
        """How far a finding that loses its closest comment to another one falls below that closeness."""
        return 0.3

    @property
    def base_rate(self) -> float | None:
        """Share of the rows that were the same where the probabilities were calibrated, without regard to place.

        With it, the place of a pair can be weighed into its probability. None for a judge that decides by itself.
        """
        return None

    @abstractmethod
    def judge(
        self, case: Case, comments: Sequence[Comment], references: Sequence[Comment], review: Review
    ) -> Sequence[Sequence[Verdict | None]]:
        """One row per comment, one Verdict per reference; None where the judge has nothing to say."""

    def refine(
        self, case: Case, tables: Mapping[str, Sequence[Sequence[Verdict | None]]], reviews: Mapping[str, Review]
    ) -> Mapping[str, Sequence[Sequence[Verdict | None]]]:
        """The tables after a second look at all systems' comments on one case (by system); unchanged by default."""
        return tables


class Excerpt(Record):
    """A text that a reviewer is given beside the change. `name`: "issue #12", "src/a.py, lines 3 to 20".

    `around` is the line of `text` (from 1) that matters most: where a budget cuts, it cuts what is farthest from it.
    """

    name: str
    text: str
    around: int = 1


class Context(Plugin):
    """What a reviewer is given beyond the code that it is asked about."""

    kind: ClassVar[str] = "contexts"
    needs_code: ClassVar[bool] = False
    in_change: ClassVar[bool] = False
    """Whether all that it shows is written in the change, so that what has nothing is known before a run."""

    def prepare(self, changes: Sequence[Change]) -> Sequence[Drop]:
        """Called once before a run with every change; returns what it cannot use. Raises UserError."""
        return ()

    @abstractmethod
    def excerpts(self, change: Change, piece: Change) -> Iterable[Excerpt]:
        """The texts for `piece`, the part of `change` that is asked about (one hunk, or all): most useful first.

        Raises NeedsCode where the code of the change is not at hand.
        """


class Aggregate(Protocol):
    """Measurements to be combined, many resamples at once: every total is an array with one entry a resample."""

    @property
    def names(self) -> Sequence[str]:
        """The parts that occur."""

    @property
    def count(self) -> Numbers:
        """The number of measurements (weighted)."""

    def total(self, name: str) -> Numbers:
        """The sum of a part; zeros for a part that does not occur."""

    def ratio(self, numerator: Numbers, denominator: Numbers) -> Numbers:
        """Their quotient, NaN where the denominator is 0."""


class Measured(Record):
    """What `Metric.parts` returns when the metric applies. `votes`: the answers behind it, apart from its matching."""

    parts: Parts
    facets: Mapping[str, Mapping[str, Parts]] = Field(default_factory=dict)
    matching: Matching | None = None
    coverage: Coverage | None = None
    votes: tuple[Vote, ...] = ()
    fake: bool = False


class Metric(Plugin):
    """Measures one (case, review), and combines measurements into measures.

    `headline` is the measure that ranks; `units` name the unit of each measure (a share unless named); `facets` are
    what its scores can be sliced by; `lower_is_better` names the measures where less is more, `signed` those that run
    from -1 to 1, `curved` those that no slope describes near their ends, such as a d′. `reads_order`: the order of the
    comments counts by definition, as in a metric that reads them as one text.
    """

    kind: ClassVar[str] = "metrics"
    headline: ClassVar[str] = "mean"
    units: ClassVar[Mapping[str, str]] = {}
    facets: ClassVar[Sequence[str]] = ()
    lower_is_better: ClassVar[frozenset[str]] = frozenset()
    signed: ClassVar[frozenset[str]] = frozenset()
    curved: ClassVar[frozenset[str]] = frozenset()
    reads_order: ClassVar[bool] = False
    runs_programs: ClassVar[bool] = False  # named in its parameters, which only the user may write

    @abstractmethod
    def parts(self, case: Case, review: Review) -> Measured | str:
        """The additive parts of one measurement, or the reason why the metric does not apply."""

    def parts_many(self, items: Sequence[tuple[Case, Review]]) -> Iterator[Measured | str | Failure]:
        """The batch door, in the order of `items`; a crash on one item is that item's Failure."""
        for case, review in items:
            yield self.guarded(partial(self.parts, case, review))

    @staticmethod
    def guarded(measure: Callable[[], Measured | str]) -> Measured | str | Failure:
        """What `measure` returns, or the Failure that it ends in; what a user can put right is raised."""
        try:
            return measure()
        except Failed as error:
            if error.stops:
                raise
            return error.failure
        except UserError:
            raise
        except Exception as error:  # the boundary where a plug-in's bug becomes a record, never a score
            return Failure(kind=FailureKind.CRASH, message=hide_secrets(crash_message(error)))

    def combine(self, aggregate: Aggregate) -> Mapping[str, Numbers]:
        """The measures of an aggregate; by default the mean of every part."""
        return {name: aggregate.ratio(aggregate.total(name), aggregate.count) for name in aggregate.names}

    def bounds(self, case: Case) -> Bounds | None:
        """The parts that a missing measurement on `case` would have at worst and at best; None: not bounded."""
        return None

    def dry_run(self, items: Iterable[tuple[Case, Review]]) -> str:
        """What measuring these would run beside model calls, in words; empty for a metric that starts no program."""
        return ""

    def unmeasurable(self, case: Case) -> str:
        """Why the metric measures no review of this case, whatever it says; empty where it can."""
        return ""

    @property
    def joint(self) -> bool:
        """Whether a measurement depends on the other reviews in the batch: a new one then has its case redone."""
        return self.joint_over_all

    @property
    def joint_over_all(self) -> bool:
        """Whether it depends on the reviews of all cases: a new one then has everything redone."""
        return False

    @property
    def reads_labels(self) -> bool:
        """Whether a measurement depends on the labels of the cases: new labels then have them all redone."""
        return False

    @property
    def estimate_note(self) -> str:
        """A label for the figures, such as "offline estimate"; empty when there is none."""
        return ""
