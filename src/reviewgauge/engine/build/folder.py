"""The folder of a build: what its stages find there, and the benchmark and reviews that are written into it."""

from __future__ import annotations

import errno
import hashlib
import shutil
import sqlite3
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count, zip_longest
from pathlib import Path
from typing import BinaryIO

import numpy as np

from reviewgauge.core.building import RESULTS, Candidate, CardSection, Decision
from reviewgauge.core.errors import UserError, one_line
from reviewgauge.core.files import check_plain, files_below, open_database, read_within, replacing, write_error
from reviewgauge.core.parsing import lines, parse_record
from reviewgauge.core.protocols import Progress
from reviewgauge.core.records import ARM, PAIR, Case
from reviewgauge.core.reports.build_card import BuildCard, Spread
from reviewgauge.core.stored import Unstorable, checked_line
from reviewgauge.engine.build.finders import Finders
from reviewgauge.engine.run.executors import Interruption
from reviewgauge.engine.run.journal import CallLog, Lock
from reviewgauge.engine.run.manifest import benchmark_hash
from reviewgauge.repo.git.repository import Repository

MEMORY, CODE, LOCK, SCRATCH, CARD = "memory.sqlite", "repos", "build.lock", ".scratch", "card.json"
FORGE = "forge"  # answers of a forge, which stages keep there
_TABLE = "CREATE TABLE IF NOT EXISTS memory (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID"


class Stopped(Exception):
    """The build was asked to stop; finished work is remembered."""


class BuildFolder:
    """The `BuildContext` of a build. Safe to use from several threads; a lock admits one process at a time.

    It also keeps the calls of chat models that the build pays for, so that it can be replayed.
    """

    def __init__(
        self,
        folder: Path,
        source: str | Sequence[str] = "",
        listener: Progress | None = None,
        stop: Interruption | None = None,
    ) -> None:
        self.sources = (source,) if isinstance(source, str) else tuple(source)
        self.source, self.folder, self.code = ", ".join(self.sources), folder.absolute(), folder.absolute() / CODE
        self.sections: list[CardSection] = []
        self._listener, self._stop = listener, stop
        self._lock = threading.Lock()
        try:
            self._made = not self.folder.exists()
            check_plain(self.folder, CODE, SCRATCH, FORGE)
            self.code.mkdir(parents=True, exist_ok=True)
            self._memory = open_database(folder / MEMORY, [_TABLE])
            self._memory.execute("PRAGMA journal_mode=WAL")
        except OSError as error:
            reason = error.strerror or error
            raise UserError(f"cannot write into {folder}: {reason}", remedy="name another folder with -o") from None
        except sqlite3.Error as error:
            remedy = "name another folder with -o"
            raise UserError(f"cannot write {folder / MEMORY}: {error}", remedy=remedy) from None
        self._writer = Lock(folder / LOCK)
        shutil.rmtree(self.folder / SCRATCH, ignore_errors=True)  # of a killed build
        payer = hashlib.sha256(str(self.folder).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self.calls = CallLog(folder, payer)

    def recall(self, key: Sequence[str]) -> bytes | None:
        """The value remembered under `key`. Raises UserError for a damaged memory."""
        with self._lock, self._explaining():
            row = self._memory.execute("SELECT value FROM memory WHERE key = ?", (_digest(key),)).fetchone()
        return None if row is None else bytes(row[0])

    def remember(self, key: Sequence[str], value: bytes) -> None:
        """Keep `value` under `key`, committed before this returns. Raises UserError where the disk takes no more."""
        with self._lock, self._explaining():
            self._memory.execute("INSERT OR REPLACE INTO memory VALUES (?, ?)", (_digest(key), value))

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Turn errors of the memory's database into errors with a remedy."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if "full" in str(error):
                raise write_error(self.folder / MEMORY, OSError(errno.ENOSPC, str(error))) from None
            raise UserError(f"cannot use {self.folder / MEMORY}: {error}") from None
        except sqlite3.DatabaseError as error:
            remedy = "remove it: remembered work is then done, and paid for, again"
            raise UserError(f"{self.folder / MEMORY} is damaged: {error}", remedy=remedy) from None

    def progress(self, label: str, done: int, total: int | None = None) -> None:
        """Report progress. Raises Stopped once the build is asked to stop."""
        if self._stop is not None and self._stop.is_set():
            raise Stopped
        if self._listener is not None:
            self._listener(done, total or done, label)

    def listen(self, listener: Progress | None) -> None:
        """Replace the listener for progress."""
        self._listener = listener

    def report(self, section: CardSection) -> None:
        """Put a section on the card; one of the same stage and title is replaced."""
        with self._lock:
            self.sections = [s for s in self.sections if (s.by, s.title) != (section.by, section.title)] + [section]

    def close(self) -> None:
        """Close the memory and release the folder; one that was made for nothing is removed."""
        self.calls.close()
        with self._lock, suppress(sqlite3.Error):  # a thread that a second Ctrl-C left at work may be writing
            self._made = self._made and self._memory.execute("SELECT 1 FROM memory LIMIT 1").fetchone() is None
        with self._lock:
            self._memory.close()
        if self._made and {path.name for path in self.folder.iterdir()} == {MEMORY, CODE, LOCK}:
            with suppress(OSError):
                self.code.rmdir()  # refuses where something was cloned
                shutil.rmtree(self.folder)
        self._writer.release()


def _digest(key: Sequence[str]) -> bytes:
    joined = "".join(f"{len(part)}:{part}" for part in key)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).digest()


CASES, REVIEWS, DECISIONS = "cases.jsonl", "reviews.jsonl", "decisions.jsonl"

MOST = 40  # values of a fact that are named; the rest is counted together
_OTHERS = "(others)"
_ABOUT_LABELS = ("check_labels", "verify_")  # stages that say more of a benchmark's labels, and make no other one

_COUNTS = ("changes", "changed", "clean", "without a verdict", "references", "findings", "neutral", "rejected")

_PER_CASE = ("changed_lines", "changed_files", "commits", "hunks")

_LICENCE = ("licence", "license", "copying", "unlicense")


@dataclass
class Census:
    """Counts over the cases that were added. Numbers are kept, texts are not."""

    counts: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(_COUNTS, 0)))
    facts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    numbers: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    finders: Finders = field(default_factory=Finders)
    labelled: list[int] = field(default_factory=list)  # the year of each case with references, 0 where it is unknown

    def add(self, case: Case) -> None:
        """One more case."""
        count = self.counts
        count["changes"] += 1
        changed = case.references or case.verdict is False  # the rule of every stage that separates the two
        count["changed" if changed else "clean" if case.clean else "without a verdict"] += 1
        count["references"] += len(case.references)
        count["findings"] += sum(comment.same_as is None for comment in case.references)
        count["neutral"] += len(case.neutral)
        count["rejected"] += len(case.rejected)
        self.finders.add(case)
        self.facts["repository"][case.change.repo] += 1
        year = case.facts.get("year")
        injected = ARM in case.facts  # today's defect, whatever the year of its change
        self.labelled += [year if isinstance(year, int) and not injected else 0] if case.references else []
        for name, value in case.facts.items():
            if name == PAIR:
                continue
            if name in _PER_CASE and isinstance(value, int | float):
                self.numbers[name].append(float(value))
            elif name != "created" and (isinstance(value, str | bool) or name == "year"):
                self.facts[name][str(value)] += 1
        if isinstance(created := case.facts.get("created"), str):
            self.facts["created"][created[:7]] += 1
        for comment in case.references:
            for name, label in (
                ("category", comment.category),
                ("needs", comment.needs),
                ("severity", comment.severity),
                ("tier", comment.tier),
            ):
                if label is not None:
                    self.facts[f"reference {name}"][str(label)] += 1
        if case.claims:
            sources = (source for claim in case.claims for source in claim.source.split("+"))
            self.facts["claim source"].update(filter(None, sources))
            self.numbers["claims per change"].append(len(case.claims))
        self.numbers["findings per change"].append(sum(comment.same_as is None for comment in case.references))

    def distributions(self) -> dict[str, dict[str, int]]:
        """How often each value of each fact occurs; dates in their order, others the most frequent first.

        Months are left out where there are too many to name: years remain.
        """
        shown = {name: counter for name, counter in self.facts.items() if name != "created" or len(counter) <= MOST}
        return {name: _most(name, counter) for name, counter in sorted(shown.items())}

    def spreads(self) -> dict[str, Spread]:
        """The quartiles of each number."""
        return {name: _spread(values) for name, values in self.numbers.items() if values}


def _most(name: str, counter: Counter[str]) -> dict[str, int]:
    ranked = counter.most_common(MOST)
    rest = counter.total() - sum(n for _, n in ranked)
    ordered = sorted(ranked) if name in ("created", "year") else ranked
    return dict(ordered) | ({_OTHERS: rest} if rest else {})


def _spread(values: list[float]) -> Spread:
    names = ("smallest", "lower", "median", "upper", "largest")
    quartiles = dict(zip(names, np.quantile(values, (0, 0.25, 0.5, 0.75, 1)).tolist(), strict=True))
    return Spread(n=len(values), mean=round(sum(values) / len(values), 4), **quartiles)


@dataclass
class Written:
    """Counts of what was written. `mirrors` are the folders of bare repositories that the cases name."""

    benchmark: str = ""
    cases: int = 0
    reviews: int = 0
    twice: list[str] = field(default_factory=list)
    unstorable: list[str] = field(default_factory=list)
    mirrors: set[str] = field(default_factory=set)
    census: Census = field(default_factory=Census)


def holds_cases(folder: Path) -> bool:
    """Whether there is a benchmark in a folder."""
    path = folder / CASES
    return path.exists() and path.stat().st_size > 0


def replaced_benchmark(folder: Path, stages: Sequence[str], names: Sequence[str], source: str = "") -> str:
    """What is in `folder` that a build by `stages` would replace and not extend; empty where there is nothing.

    That is a benchmark of other stages, or of other repositories than `names`; without any they are not compared. With
    `source`, one of any other source is replaced, too, even where this build would extend it. Raises UserError for
    cases that no build wrote.
    """
    if not holds_cases(folder):
        return ""
    if not any((folder / name).exists() for name in (MEMORY, CARD)):
        raise UserError(
            f"{folder / CASES} was not made by a build, and would be replaced", remedy="name another folder"
        )
    try:
        card = BuildCard.model_validate_json(read_within(folder / CARD))
    except (OSError, UserError, ValueError):
        return f"a benchmark whose {CARD} cannot be read"
    recorded = [row.stage for row in card.funnel]
    known = {_OTHERS, *map(str.casefold, names)}
    lost = [one for one in sorted(card.distributions.get("repository", ())) if names and one.casefold() not in known]
    if lost:
        return f"a benchmark of {one_line(', '.join(lost[:3]), 200)}"
    if source and card.source != source:
        return f"a benchmark of {one_line(card.source, 200)}"
    before, after = ([one for one in specs if not one.startswith(_ABOUT_LABELS)] for specs in (recorded, stages))
    pairs = zip_longest(before, after, fillvalue="nothing in its place")
    return next((f"a benchmark made with {one_line(a, 200)}, not {one_line(b, 200)}" for a, b in pairs if a != b), "")


def read_decisions(folder: Path) -> Iterator[Decision]:
    """Every decision of the models of a build; none where no model was asked. Raises BadInput."""
    if (folder / DECISIONS).is_file():
        with (folder / DECISIONS).open("rb") as stream:
            for number, line in lines(stream, DECISIONS):
                yield parse_record(Decision, line, DECISIONS, number)


def free_name(folder: Path) -> Path:
    """Where an earlier benchmark is kept: `FOLDER.1`, or the next number that is free."""
    return next(path for n in count(1) if not (path := Path(f"{folder}.{n}")).exists())


def publish(folder: Path, keep_as: Path | None = None) -> None:
    """Move the results of a build into its folder. The one that was there is first copied to `keep_as`.

    The card comes first and the cases last: killed in between, the same command goes on.
    """
    results, part = folder / RESULTS, folder / SCRATCH / "earlier"
    try:
        if keep_as is not None:
            ours = shutil.ignore_patterns(SCRATCH, LOCK, FORGE, f"{MEMORY}*")
            shutil.copytree(folder, part, symlinks=True, ignore=ours)
            part.rename(keep_as)
        for name in (REVIEWS, DECISIONS):
            if not (results / name).exists():
                (folder / name).unlink(missing_ok=True)
        for path in sorted(files_below(results), key=lambda path: (path.name == CASES, path.name != CARD)):
            place = folder / path.relative_to(results)
            place.parent.mkdir(exist_ok=True)
            path.replace(place)
    except OSError as error:
        raise write_error(folder, error) from None


def write_benchmark(folder: Path, items: Iterable[Candidate], into: Path | None = None) -> Written:
    """Write `cases.jsonl`, and `reviews.jsonl` where there are any; both replace older ones when all went through.

    A case whose id was seen before, or that no line can hold, is not written but listed. Paths of git directories below
    `folder` become relative, so that the folder can be moved. `into`: where the files lie until they are moved there.
    Raises UserError, and whatever the stream raises.
    """
    written, into = Written(), into or folder
    with replacing(into / CASES) as cases, replacing(into / REVIEWS) as reviews:
        written.benchmark = benchmark_hash(_writing(folder, items, cases, reviews, written))
    if not written.reviews:
        (into / REVIEWS).unlink()
    return written


def _writing(
    folder: Path, items: Iterable[Candidate], cases: BinaryIO, reviews: BinaryIO, written: Written
) -> Iterator[Case]:
    seen: set[str] = set()
    for item in items:
        case = _movable(item.case, folder, written)
        if case.id in seen:
            written.twice.append(case.id)
            continue
        seen.add(case.id)
        try:
            cases.write(checked_line(case))
        except Unstorable:
            written.unstorable.append(case.id)
            continue
        written.cases += 1
        written.census.add(case)
        for review in item.reviews:
            reviews.write(checked_line(review.model_copy(update={"case": case.id})))
            written.reviews += 1
        yield case


def _movable(case: Case, folder: Path, written: Written) -> Case:
    if case.change.git is None:
        return case
    git = Path(case.change.git)
    try:
        inside = git.relative_to(folder)
    except ValueError:
        return case
    written.mirrors.add(inside.name)
    return case.model_copy(update={"change": case.change.model_copy(update={"git": inside.as_posix()})})


def find_licences(code: Path, names: Iterable[str]) -> Mapping[str, str]:
    """The first words of the licence file at the top of each mirror in `code` whose folder's name is among `names`."""
    found: dict[str, str] = {}
    for folder in sorted(code.glob("*.git")):
        if folder.name not in names:
            continue
        repository = Repository(folder)
        try:
            tree = [path for path in repository.paths("HEAD") if "/" not in path]
            file = next((path for path in tree if path.lower().startswith(_LICENCE)), None)
            text = (repository.blob("HEAD", file) or b"") if file else b""
        except UserError:
            found[folder.stem] = "could not be read"
            continue
        words = next((line for line in text.decode("utf-8", "replace").splitlines() if line.strip()), "")
        found[folder.stem] = f"{file}: {one_line(words, 100)}" if file else "no licence file at the top"
    return found
