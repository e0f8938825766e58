"""The run folder: a manifest, the cases, and append-only reviews and scores. See docs/reference/runs.md."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

from reviewgauge.core.errors import UserError
from reviewgauge.core.files import check_plain, replacing, write_error, write_whole
from reviewgauge.core.labels import Label, said_of_comment
from reviewgauge.core.records import Case
from reviewgauge.core.results import Outcome, Score
from reviewgauge.core.specs import parse_spec
from reviewgauge.core.stored import ByKey, Lazy, ReplayableStream, checked_line, replayable
from reviewgauge.core.version import __version__
from reviewgauge.engine.run.indexes import (
    StoredCases,
    StoredLabels,
    StoredOutcomes,
    StoredScores,
    stored_cases,
    stored_labels,
    stored_outcomes,
    stored_scores,
)
from reviewgauge.engine.run.journal import CallLog, Journal, Lock
from reviewgauge.engine.run.kept import Origin
from reviewgauge.engine.run.manifest import (
    MANIFEST,
    Manifest,
    SystemEntry,
    benchmark_hash,
    join_pins,
    new_manifest,
    read_manifest,
)
from reviewgauge.models.cache.stores import CALLS
from reviewgauge.models.request.messages import Call

CASES, LABELS, LOCK = "cases.jsonl", "labels.jsonl", "lock"
REVIEWS, SCORES = "reviews.jsonl", "scores.jsonl"
_BEFORE_MANIFEST = {LOCK, CASES, CASES + ".tmp", MANIFEST + ".tmp"}  # what a creation that was killed leaves

T = TypeVar("T")


class RunFolder:
    """One run on disk. Make one with `create` or `open`; as a context manager it closes itself.

    A folder that is open for writing holds the lock until `close`. Reading needs no lock and sees whole lines only.
    The end of a context removes a folder that it made and recorded nothing in.
    """

    def __init__(self, path: Path, lock: Lock | None) -> None:
        """Not to be called directly."""
        self.path, self._lock = path, lock
        self._reviews = Journal(path / REVIEWS, Outcome)
        self._scores = Journal(path / SCORES, Score)
        self._labels = Journal(path / LABELS, Label)
        self._calls = CallLog(path)
        self._cases: StoredCases | None = None
        self._new = self._made = False  # whether the run, and its folder, began with this object
        self._code: Mapping[str, str] | None = None  # the git directory of each case's code now
        self._kept: dict[str, tuple[object, object]] = {}
        self.manifest: Manifest

    @classmethod
    def create(
        cls, path: str | Path, *, dataset: str, dataset_path: str, cases: Iterable[Case], seed: int = 0
    ) -> RunFolder:
        """A run on these cases, open for writing; the same run again when it is there already and recorded anything.

        Labels that the cases gained since are added to the run. Raises UserError: the folder holds something else, a
        run on another benchmark, or is being written.
        """
        folder, known = Path(path), replayable(Case, cases)
        code: dict[str, str] = {}
        labelled: list[str] = []
        benchmark = benchmark_hash(_noted(known, dataset, code, labelled))
        made = _make_folder(folder)
        run = cls(folder, Lock(folder / LOCK))
        run._code = code
        try:
            if (folder / MANIFEST).exists():
                read_manifest(folder)  # one of another version is not replaced
            run._made, run._new = made, run._is_blank()
            if run._new:
                _write_cases(folder / CASES, known)
                run._write_manifest(new_manifest(dataset, dataset_path, benchmark, len(known), seed))
            run.manifest = read_manifest(folder)
            run._refuse_another(dataset, benchmark, seed)
            run._open_journals()
            if labelled:
                run.add_labels(label for case in known for label in case.labels)
        except BaseException:
            run.close()
            raise
        return run

    @classmethod
    def open(cls, path: str | Path, *, write: bool = False) -> RunFolder:
        """The run in a folder. Raises UserError: no run folder, another format, or it is being written."""
        folder = Path(path)
        check_plain(folder)
        manifest = read_manifest(folder)  # before the lock: opening must leave no file in a foreign folder
        run = cls(folder, Lock(folder / LOCK) if write else None)
        try:
            run.manifest = read_manifest(folder) if write else manifest
            if write:
                run._open_journals()
        except BaseException:
            run.close()
            raise
        return run

    def close(self) -> None:
        """Close the files and let the next writer in."""
        self._calls.close()
        self._reviews.close()
        self._scores.close()
        self._cases = None  # what was read from keeps its files open
        self._kept.clear()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._new and self._is_blank():
            for name in (MANIFEST, CASES, REVIEWS, SCORES, LOCK):
                (self.path / name).unlink(missing_ok=True)
            if self._made:
                self.path.rmdir()
        self.close()

    def _is_blank(self) -> bool:
        """Whether nothing was recorded: then it may be a run on other cases."""
        files = (self.path / name for name in (REVIEWS, SCORES, LABELS, CALLS))
        return not any(file.exists() and file.stat().st_size for file in files)

    def _open_journals(self) -> None:
        self._reviews.open_for_writing()
        self._scores.open_for_writing()

    def _refuse_another(self, dataset: str, benchmark: str, seed: int) -> None:
        mine = self.manifest
        if benchmark != mine.benchmark:
            changed = "the data changed since" if dataset == mine.dataset else f"this is {dataset}"
            raise UserError(
                f"{self.path} holds a run on {mine.dataset} (benchmark {mine.benchmark[:12]}); "
                f"{changed} (benchmark {benchmark[:12]})",
                remedy="use another folder",
            )
        if seed != mine.seed:
            raise UserError(
                f"{self.path} holds a run with seed {mine.seed}, not {seed}",
                remedy=f"use seed {mine.seed}, or another folder",
            )

    def _check_writable(self) -> None:
        if self._lock is None:
            raise UserError(f"{self.path} is open for reading only")

    def add_systems(
        self, pins: Mapping[str, Mapping[str, str]], signature: str, *, mixed: bool = False
    ) -> dict[str, int]:
        """Record the reviewer behind these systems, and their pins.

        All of them, or none where the run holds another reviewer under one of the names (UserError). With `mixed` other
        pins are recorded beside those of the reviews that stay; returns how many these are, by system.
        """
        new, older = {}, {}
        for system, own in pins.items():
            known = self.manifest.systems.get(system)
            there = [outcome.review is not None for outcome in self.outcomes() if outcome.system == system]
            if known is None or not there:
                new[system] = SystemEntry(signature=signature, pins=dict(own), reviewgauge=__version__)
                continue
            both = join_pins(known.pins, own)
            changed = [name for name, pin in both.items() if pin != known.pins.get(name)]
            if known.signature != signature:
                what = _other_parameters(known.signature, signature)
            elif changed:
                what = f"rested on another {', '.join(changed)}"
                if mixed:
                    older[system] = sum(there)
                    new[system] = known.model_copy(update={"pins": both if older[system] else dict(own)})
                    continue
            else:
                continue
            remedy = 'to keep both, give this one another name (name="new" among its parameters), or use another folder'
            if changed and known.signature == signature:
                remedy += "; --only failed asks it for what failed before, and says that the rest is older"
            raise UserError(f"{self.path}: {system} {what}", remedy=remedy)
        if new:
            self._write_manifest(self.manifest.model_copy(update={"systems": {**self.manifest.systems, **new}}))
        return older

    def _write_manifest(self, manifest: Manifest) -> None:
        self._check_writable()
        write_whole(self.path / MANIFEST, manifest.model_dump_json(indent=2).encode() + b"\n")
        self.manifest = manifest

    def cases(self) -> Sequence[Case]:
        """The cases in the data set's order, each with the labels that the run holds on it.

        Their code is read from where the data set has it now, as folders move. Raises BadInput when they are not those
        that the manifest names.
        """
        found, labels, code = self._stored_cases().cases, self._stored_labels(), self._code

        def whole(case: Case) -> Case:
            if case.id in labels.on:
                added = [labels.labels[at] for at in labels.on[case.id]]
                case = case.model_copy(update={"labels": (*case.labels, *added)})
            return case if code is None else _with_code(case, code.get(case.id))

        return Lazy.of(found, whole) if labels.on or code is not None else found

    def cases_by_id(self) -> Mapping[str, Case]:
        """The same, each to be found by its id."""
        return ByKey(self._stored_cases().at, self.cases())

    def _stored_cases(self) -> StoredCases:
        if self._cases is None:
            self._cases = stored_cases(self.path / CASES, self.manifest.benchmark)
        return self._cases

    def _stored_labels(self) -> StoredLabels:
        return self._once(LABELS, self._labels, lambda: stored_labels(self._labels))

    def labels(self) -> Sequence[Label]:
        """The labels that were added to the run, in their order."""
        return self._stored_labels().labels

    def _once(self, name: str, journal: Journal[Any], read: Callable[[], T]) -> T:
        """What `read` makes of a journal's file, read again only when the file has changed."""
        stamp = journal.stamp  # before reading: what is written meanwhile is read the next time
        known = self._kept.get(name)
        if known is None or known[0] != stamp:
            known = self._kept[name] = (stamp, read())
        return known[1]  # type: ignore[return-value]  # what `read` of this name returned

    @property
    def origin(self) -> Origin:
        """Where the run is and what it holds, but for what people say of comments: no figure is made of that."""
        labels = (label.to_line() for label in self.labels() if not said_of_comment(label))
        files = self._stored_cases(), self.stored_outcomes(), self.stored_scores()
        held = [self.manifest.to_line(), *labels, *(one.digest.encode() for one in files)]
        return Origin(str(self.path.resolve()), hashlib.sha256(b"".join(held)).hexdigest())

    def add_labels(self, labels: Iterable[Label]) -> int:
        """Record judgements on reviews of this run, such as stored verdicts; those it holds already are left out.

        Returns how many were new. Two runs with different labels are still runs of one benchmark.
        """
        self._check_writable()
        there = {_mark(label) for case in self.cases() for label in case.labels}
        new = replayable(Label, (label for label in labels if _mark(label) not in there))
        if new:
            self._labels.open_for_writing()
            try:
                for label in new:
                    self._labels.write(label, sync=False)
                self._labels.sync()
            finally:
                self._labels.close()
        return len(new)

    def outcomes(self) -> Sequence[Outcome]:
        """One outcome per (case, system, attempt), in the order in which they first came.

        A failure gives way to whatever was recorded after it. Two reviews under one key are an error.
        """
        return self.stored_outcomes().outcomes

    def stored_outcomes(self) -> StoredOutcomes:
        """The same with their keys and digests, which need no reading."""
        known = self._stored_cases()
        return self._once(REVIEWS, self._reviews, lambda: stored_outcomes(self._reviews, known, CASES))

    def append_outcome(self, outcome: Outcome, *, sync: bool = True) -> None:
        """Record one outcome. With `sync` it is on the disk when this returns, otherwise after `sync()`."""
        self._reviews.write(outcome, sync=sync)

    def scores(self, metric: str | None = None) -> Sequence[Score]:
        """One score per (case, system, attempt, metric signature); of two, the later line. All metrics, or one's."""
        if metric is not None:
            return stored_scores(self._scores, self._stored_cases(), CASES, metric).scores
        return self.stored_scores().scores

    def stored_scores(self) -> StoredScores:
        """The same with their heads, which need no reading."""
        known = self._stored_cases()
        return self._once(SCORES, self._scores, lambda: stored_scores(self._scores, known, CASES, None))

    def scored_metrics(self) -> list[str]:
        """The signatures of the metrics that the run was scored with, in the order of their first scores."""
        return list(dict.fromkeys(head.metric for head in self.stored_scores().heads))

    def append_score(self, score: Score, *, sync: bool = True) -> None:
        """Record one score. With `sync` it is on the disk when this returns, otherwise after `sync()`."""
        self._scores.write(score, sync=sync)

    def remove_scores(self, metrics: Container[str]) -> int:
        """Remove what these metrics (signatures) measured; returns how many scores went. The calls stay recorded."""
        self._check_writable()
        gone = sum(score.metric in metrics for _, score in self._scores.read())
        if gone:
            self._scores.close()
            with replacing(self._scores.path) as out:
                kept = (score for _, score in self._scores.read() if score.metric not in metrics)
                out.writelines(map(checked_line, kept))
            self._scores.open_for_writing()
        return gone

    def append_call(self, call: Call, *, ours: bool = False) -> None:
        """Record one call of a chat model; it is on the disk after `sync()`. Safe for several threads.

        `ours`: the answer came from a cache, and it was this run that paid for it, before it was killed.
        """
        self._check_writable()
        self._calls.append_call(call, ours=ours)

    @property
    def payer(self) -> str:
        """The name under which this run pays for calls: another one in a copy of the folder, or when it was moved."""
        text = f"{self.path.resolve()} {self.manifest.created.isoformat()}"
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]

    def unkept_calls(self) -> Iterator[Call]:
        """The calls that the cache could not take when they were paid for."""
        return self._calls.unkept_calls()

    def calls(self) -> Iterator[Call]:
        """The calls of chat models that were recorded, in their order; of several under one key the last counts."""
        return self._calls.read()

    def spent(self) -> float:
        """Dollars that the recorded calls of this run cost, as far as their prices were known."""
        return self._calls.spent()

    def sync(self) -> None:
        """Put everything that was appended on the disk; calls first, which reviews and scores rest on."""
        self._calls.sync()
        self._reviews.sync()
        self._scores.sync()


def _with_code(case: Case, git: str | None) -> Case:
    if git == case.change.git:
        return case
    return case.model_copy(update={"change": case.change.model_copy(update={"git": git})})


def _mark(label: Label) -> bytes:
    return hashlib.sha256(label.to_line()).digest()[:16]


def _noted(cases: Iterable[Case], dataset: str, code: dict[str, str], labelled: list[str]) -> Iterator[Case]:
    """The cases as they are; notes where the code of each is, and which have labels. Raises UserError."""
    seen: set[str] = set()
    for case in cases:
        if case.id in seen:
            raise UserError(f"{dataset}: case id {case.id!r} occurs twice", remedy="ids tell cases apart")
        seen.add(case.id)
        if case.change.git is not None:
            code[case.id] = sys.intern(case.change.git)
        if case.labels:
            labelled.append(case.id)
        yield case
    if not seen:
        raise UserError(f"{dataset} holds no cases", remedy="there is nothing to run on")


def _write_cases(path: Path, cases: Sequence[Case]) -> None:
    with replacing(path) as out:
        if isinstance(cases, ReplayableStream):
            out.writelines(map(cases.line, range(len(cases))))
        else:
            out.writelines(map(checked_line, cases))


def _make_folder(folder: Path) -> bool:
    """An empty folder, one that holds a run, or what a killed creation left; whether it was made now.

    Raises UserError for any other.
    """
    try:
        made = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        check_plain(folder)
        names = {entry.name for entry in folder.iterdir()}
    except FileExistsError:
        raise UserError(f"{folder} is a file, not a folder", remedy="name another folder") from None
    except OSError as error:
        raise write_error(folder, error) from None
    if MANIFEST not in names and (foreign := names - _BEFORE_MANIFEST):
        raise UserError(
            f"{folder} is not a run folder: it holds {min(foreign)}", remedy="name a new or an empty folder"
        )
    return made


def _other_parameters(before: str, now: str) -> str:
    """How two signatures differ: in the parameters that do, or altogether."""
    old, new = (parse_spec(one) for one in (before, now))
    if old.name != new.name:
        return f"was run as {before}, and is {now} now"
    odd = sorted(k for k in {*old.parameters, *new.parameters} if old.parameters.get(k) != new.parameters.get(k))
    shown = (", ".join(f"{key}={one.parameters.get(key)!r}" for key in odd) for one in (old, new))
    return "was run with {}, and has {} now".format(*shown)
