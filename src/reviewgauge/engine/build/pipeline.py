"""Runs the stages of a recipe over a stream of candidates, in a build or over finished cases, and counts outcomes.

A build is a function of its source: cheap stages are computed again in every run, and costly results (a model's answer,
a walk through the history) are remembered in the folder by the content of the item. So a build that was killed
continues where it stopped, and one whose source grew does only what is new. The benchmark is written when all stages
are done: a folder never holds half a benchmark.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from typing_extensions import override

from reviewgauge.core.building import RESULTS, BuildContext, Candidate, CardSection, Decision
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import write_error, writing
from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import Case, Usage
from reviewgauge.core.reports.build_card import FunnelRow
from reviewgauge.core.results import Drop, Failed, Failure
from reviewgauge.core.specs import all_pins, short_spec, signature
from reviewgauge.core.stored import Lazy, ReplayableStream, Unstorable, replayable
from reviewgauge.engine.build.folder import DECISIONS, SCRATCH, BuildFolder, Stopped, read_decisions
from reviewgauge.engine.build.people import People, StageOutput
from reviewgauge.engine.build.recipes import Step
from reviewgauge.engine.run.executors import Executor, Interruption, failure_of
from reviewgauge.models.chat.client import track_usage
from reviewgauge.models.request.messages import UsageSum
from reviewgauge.stages.history.memory import code_fingerprint

DROPS, FAILURES = "drops.jsonl", "failures.jsonl"
WINDOW = 64  # candidates of a costly stage that are worked on before the next are read
_KINDS: dict[str, type[Candidate] | type[Drop] | type[Decision]] = {"c": Candidate, "d": Drop, "m": Decision}


@dataclass
class StageCount:
    """Counts what one stage did so far."""

    stage: Stage
    step: Step
    entered: int = 0
    kept: int = 0
    dropped: int = 0
    failed: int = 0
    remembered: int = 0
    decisions: int = 0
    fake: bool = False
    seconds: float = 0.0
    reasons: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    usage: UsageSum = field(default_factory=UsageSum)

    def row(self) -> FunnelRow:
        """Its line in the funnel."""
        return FunnelRow(
            stage=short_spec(self.stage),
            why=self.step.why,
            entered=self.entered,
            made=self.kept + self.dropped + self.failed - self.entered,
            kept=self.kept,
            dropped=self.dropped,
            failed=self.failed,
            reasons=dict(self.reasons.most_common()),
            failures=dict(self.failures.most_common()),
            remembered=self.remembered,
            decisions=self.decisions,
            fake=self.fake,
            usage=self.usage.usage,
            seconds=round(self.seconds, 3),
        )


class Pipeline:
    """The stages in a row, each fed by the one before."""

    def __init__(
        self,
        context: BuildFolder,
        stages: Sequence[tuple[Stage, Step]],
        executor: Callable[[Stage], Executor],
        stop: Interruption,
        *,
        dry_run: bool = False,
        people: People | None = None,
    ) -> None:
        """`dry_run`: the fake model replaces every model, so no answer is remembered. `people`: whose word counts."""
        self.counts = [StageCount(stage, step) for stage, step in stages]
        self._build, self._executor, self._stop, self._dry_run = context, executor, stop, dry_run
        self.people = people or People(())
        self._scratch = context.folder / SCRATCH
        self._open = ExitStack()
        self._decided: BinaryIO | None = None

    def run(self) -> Iterator[Candidate]:
        """The candidates that are left after the last stage. Raises Stopped, and UserError of a stage."""
        results = self._build.folder / RESULTS
        try:
            results.mkdir(parents=True, exist_ok=True)
            with self._open:
                self._drops = self._open.enter_context(writing(results / DROPS))
                self._failures = self._open.enter_context(writing(results / FAILURES))
                stream: Iterator[Candidate] = iter(())
                for count in self.counts:
                    stream = self._stage(count, stream)
                yield from stream
        except OSError as error:
            raise write_error(self._build.folder, error) from None

    def decisions(self, stage: Stage) -> Iterator[Decision]:
        """The decisions of a stage's model in this run."""
        return (one for one in read_decisions(self._build.folder / RESULTS) if one.by == short_spec(stage))

    def _stage(self, count: StageCount, before: Iterator[Candidate]) -> Iterator[Candidate]:
        whole = type(count.stage).apply is not Stage.apply
        if whole:
            outputs = self._whole(count, before)
        elif count.stage.costly or count.stage.models:
            outputs = self._costly(count, self._entering(count, before))
        else:
            outputs = self._cheap(count, self._entering(count, before))
        last = count is self.counts[-1]
        for item in self.people.settle(outputs) if last else outputs:
            if self._stop.is_set():
                raise Stopped
            if isinstance(item, Candidate):
                count.kept += 1
                yield item
            elif isinstance(item, Decision):
                count.decisions += 1
                self._decided = self._decided or self._open.enter_context(
                    writing(self._build.folder / RESULTS / DECISIONS)
                )
                self._decided.write(item.to_line())
            elif isinstance(item, Drop):
                count.dropped += 1
                count.reasons[item.reason] += 1
                self._drops.write(item.to_line())

    def _entering(self, count: StageCount, before: Iterable[Candidate]) -> Iterator[Candidate]:
        for item in before:
            count.entered += 1
            yield item

    def _whole(self, count: StageCount, before: Iterator[Candidate]) -> Iterator[StageOutput]:
        """A source, or a stage that sees the stream: it may go through its input more than once."""
        stream = ReplayableStream(Candidate, folder=self._scratch)
        for item in self._entering(count, before):
            try:
                stream.add(item)
            except Unstorable as error:  # one candidate of 64 MB, or with a number that no JSON has
                self._fail(count, item, failure_of(error))
        began = time.monotonic()
        yield from count.stage.apply(stream, self._build)
        count.seconds += time.monotonic() - began

    def _cheap(self, count: StageCount, items: Iterable[Candidate]) -> Iterator[StageOutput]:
        for item in items:
            began = time.monotonic()
            try:
                outputs = list(count.stage.each(item, self._build))
            except UserError as error:
                if not isinstance(error, Failed) or error.stops:
                    raise
                self._fail(count, item, error.failure)
                continue
            except Exception as error:  # a stage's bug costs its item, which is counted, and never the build
                self._fail(count, item, failure_of(error))
                continue
            finally:
                count.seconds += time.monotonic() - began
            decided = any(isinstance(one, Decision) for one in outputs)
            yield from self.people.overrule(count.stage, item, outputs) if decided else outputs

    def _costly(self, count: StageCount, items: Iterator[Candidate]) -> Iterator[StageOutput]:
        """Window by window, so that the order stays and memory is flat; earlier results are remembered."""
        executor = self._executor(count.stage)
        size = max(WINDOW, 4 * executor.workers)
        pins = json.dumps(all_pins(count.stage), sort_keys=True)
        code = "" if count.stage.models else "".join(map(code_fingerprint, ("reviewgauge.repo", "reviewgauge.stages")))
        key = ("each 2", signature(count.stage), pins, code)
        while window := list(islice(items, size)):
            began = time.monotonic()
            found: dict[int, StageOutcome] = {}
            for index, worked in executor.map(lambda item: self._work(count.stage, key, item), window, self._stop):
                found[index] = worked if isinstance(worked, StageOutcome) else StageOutcome(failure=worked)
                with suppress(Stopped):  # what is in flight is finished first: its threads write into the folder
                    self._build.progress(short_spec(count.stage), count.kept + count.dropped + len(found), None)
            count.seconds += time.monotonic() - began
            for index, item in enumerate(window):
                if (done := found.get(index)) is None:
                    raise Stopped
                count.usage.add(done.usage)
                count.fake = count.fake or done.fake
                count.remembered += done.remembered
                if done.failure is not None:
                    self._fail(count, item, done.failure)
                else:
                    yield from self.people.overrule(count.stage, item, done.outputs)
            if self._stop.is_set():
                raise Stopped

    def _work(self, stage: Stage, key: tuple[str, ...], item: Candidate) -> StageOutcome:
        """The stage's outputs for one item, remembered or new. An error that would stop every item stops the build."""
        whole_key = (*key, item.to_line().decode("utf-8", "surrogatepass"))
        with track_usage() as count:
            try:
                if (known := self._build.recall(whole_key)) is not None:
                    return _read(known, item)
                outputs = tuple(stage.each(item, self._build))
                worked = StageOutcome(outputs=outputs, usage=count.usage, fake=count.fake)
                if not (self._dry_run and stage.models):
                    self._build.remember(whole_key, _line(worked, item))
                return worked
            except UserError as error:
                if not isinstance(error, Failed) or error.stops:
                    self._stop.stop(error)
                return StageOutcome(failure=failure_of(error), usage=count.usage, fake=count.fake)

    def _fail(self, count: StageCount, item: Candidate, failure: Failure) -> None:
        count.failed += 1
        count.failures[failure.kind.value] += 1
        note = Drop(item=item.id, by=short_spec(count.stage), reason=failure.kind.value, detail=failure.message)
        self._failures.write(note.to_line())


@dataclass(frozen=True)
class StageOutcome:
    """The outcome of one item of a costly stage."""

    outputs: tuple[StageOutput, ...] = ()
    failure: Failure | None = None
    usage: Usage = field(default_factory=Usage)
    fake: bool = False
    remembered: bool = False


def _line(worked: StageOutcome, item: Candidate) -> bytes:
    """An outcome as it is remembered: a head, then each output behind its kind's letter; `=` is the item itself."""
    lines = (b"=\n" if one == item else _tag(one).encode() + one.to_line() for one in worked.outputs)
    return json.dumps({"fake": worked.fake}).encode() + b"\n" + b"".join(lines)


def _tag(output: StageOutput) -> str:
    return next(tag for tag, kind in _KINDS.items() if isinstance(output, kind))


def _read(line: bytes, item: Candidate) -> StageOutcome:
    head, *rest = line.splitlines()
    outputs = tuple(item if one == b"=" else _KINDS[chr(one[0])].model_validate_json(one[1:]) for one in rest)
    return StageOutcome(outputs=outputs, fake=bool(json.loads(head)["fake"]), remembered=True)


def apply_stages(cases: Iterable[Case], stages: Sequence[Stage]) -> tuple[Sequence[Case], list[Drop]]:
    """(kept, dropped) after all stages, in their order. Raises UserError when nothing is left.

    Cases that come one by one are kept on the disk between two stages, and after the last.
    """
    context = WithoutBuild()
    kept = replayable(Case, cases)
    drops: list[Drop] = []
    for stage in stages:
        before, after = Lazy.of(kept, lambda case: Candidate(case=case)), ReplayableStream(Case)
        for item in stage.apply(before, context):
            if isinstance(item, Candidate):
                after.add(item.case)
            elif isinstance(item, Drop):
                drops.append(item)
        if before and not after:
            last = drops[-1]
            raise UserError(f"{last.by} drops all {len(before)} cases, for example {last.item}: {last.reason}")
        kept = after
    return kept, drops


@dataclass(frozen=True, slots=True)
class WithoutBuild(BuildContext):
    """A `BuildContext` outside of a build: a stage that needs a build's folder cannot be used here."""

    source: str = ""
    sources: tuple[str, ...] = ("",)

    @property
    @override
    def folder(self) -> Path:
        raise UserError("this stage needs a build's folder", remedy="use it in a recipe of reviewgauge build")

    @property
    @override
    def code(self) -> Path:
        return self.folder

    @override
    def recall(self, key: Sequence[str]) -> bytes | None:
        return None

    @override
    def remember(self, key: Sequence[str], value: bytes) -> None:
        return None

    @override
    def progress(self, label: str, done: int, total: int | None = None) -> None:
        return None

    @override
    def report(self, section: CardSection) -> None:
        return None
