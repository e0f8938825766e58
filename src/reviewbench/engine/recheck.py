"""Does a bundle hold what it says? Its hashes, its reviews, and every score measured again, to the first difference.

A number that differs is found by computing it, not by its hash, so that the row, the column and both values can be
named, and so that hashes which were made to fit help nobody.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeGuard, TypeVar

from reviewbench.core.base import Record
from reviewbench.core.errors import BadInput
from reviewbench.core.parsing import parse_record, records
from reviewbench.core.plugins import load, parse_spec, short_spec, signature
from reviewbench.core.protocols import Metric
from reviewbench.core.records import Case
from reviewbench.core.results import Outcome, Score
from reviewbench.engine.archive import Unpacked
from reviewbench.engine.benchmark import benchmark_hash
from reviewbench.engine.bundle import BUNDLE, OUTLINE, README, BundleManifest, RunEntry, Withheld, bare, lines_hash
from reviewbench.engine.score import score as score_run
from reviewbench.engine.store import CASES, LABELS, MANIFEST, REVIEWS, SCORES, Manifest, RunFolder
from reviewbench.models._recorded_calls import CALLS
from reviewbench.models.chat import Door, Settings, call_key
from reviewbench.models.messages import Call, Repeat
from reviewbench.models.model_spec import parse_model

R = TypeVar("R", bound=Record)
Progress = Callable[[int, int, str], None]
DIGITS = 9  # to which numbers must agree
CLOSE = 1e-4  # relative; numbers this close may differ by machine alone, which is said
_TINY = 1e-12
_SMALL = 1e-3  # numbers below are held to the same distance as this one
_ASKS_A_MODEL = re.compile(r"\b(openai|anthropic|azure|bedrock|vertex|litellm):|https?://")
LABELS_PIN = "labels"  # what a score says of the labels that it was measured with
_NOT_NUMBERS = ("usage", "pins", "metric")


class Difference(Record):
    """The first thing that is not as the bundle says: where it stands, what stands there, and what was found."""

    file: str
    row: str = ""
    column: str = ""
    stored: str
    found: str
    hint: str = ""

    @property
    def sentence(self) -> str:
        """The difference in one line."""
        where = ", ".join(part for part in (self.file, self.row, self.column) if part)
        said = f"{where}: the bundle says {self.stored}, it is {self.found}"
        return said + (f" ({self.hint})" if self.hint else "")


class Differs(Exception):
    """Raised at the first difference."""

    def __init__(self, difference: Difference) -> None:
        super().__init__(difference.sentence)
        self.difference = difference


@dataclass(frozen=True)
class Contents:
    """An unpacked bundle: `folder` holds the files, `found` what each of them is, by name.

    Scores that are measured again must agree with the stored ones to `digits` digits.
    """

    folder: Path
    manifest: BundleManifest
    found: Mapping[str, Unpacked]
    digits: int = DIGITS
    changed: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """Names the files whose hash is not the one in the manifest."""
        listed = self.manifest.files
        names = {name for name, one in self.found.items() if name in listed and one.sha256 != listed[name].sha256}
        object.__setattr__(self, "changed", frozenset(names))

    def differs(self, file: str, stored: object, found: object, *, row: str = "", column: str = "") -> Differs:
        """The difference to raise; it says whether the file was changed after it was packed."""
        hint = "the file's hash differs too: it was changed after it was packed" if file in self.changed else ""
        if not hint and same_value(stored, found, CLOSE):
            hint = "another machine or library may round so; --digits 4 lets it pass"
        return Differs(
            Difference(file=file, row=row, column=column, stored=_shown(stored), found=_shown(found), hint=hint)
        )

    def read(self, model: type[R], name: str) -> list[R]:
        """The records of one file. What is no record is a difference."""
        try:
            with (self.folder / name).open("rb") as stream:
                return list(records(model, stream, name))
        except FileNotFoundError:
            raise self.differs(name, "a file", "missing") from None
        except BadInput as error:
            row = f"line {error.record}" if error.record is not None else ""
            raise self.differs(name, "a record", str(error), row=row, column=error.field) from None

    def read_one(self, model: type[R], name: str) -> R:
        """The one record that a whole file is. What is no record is a difference."""
        try:
            return parse_record(model, (self.folder / name).read_bytes(), name)
        except FileNotFoundError:
            raise self.differs(name, "a file", "missing") from None
        except BadInput as error:
            raise self.differs(name, "a record", str(error), column=error.field) from None

    def text(self, name: str) -> str:
        """The text of one file. Raises Differs where it is not there."""
        try:
            return (self.folder / name).read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            raise self.differs(name, "a file", "missing") from None

    def manifest_of(self, entry: RunEntry) -> Manifest:
        """The manifest of a run. Raises Differs where it is of another benchmark, or is none."""
        name = f"{entry.folder}/{MANIFEST}"
        found = self.read_one(Manifest, name)
        for column, stored, there in (
            ("benchmark", entry.benchmark, found.benchmark),
            ("dataset", entry.dataset, found.dataset),
            ("cases", entry.cases, found.cases),
        ):
            if stored != there:
                raise self.differs(name, stored, there, column=column)
        return found


def check_files(contents: Contents) -> None:
    """Every file is there, and none that is not listed."""
    listed, there = contents.manifest.files, contents.found
    for name in sorted(listed.keys() | there.keys() - {BUNDLE}):
        if name not in there:
            raise contents.differs(name, f"{listed[name].bytes:,} bytes", "missing")
        if name not in listed:
            raise contents.differs(name, "no such file", "there")


def check_nothing_else(contents: Contents, expected: Iterable[str]) -> None:
    """No file is there that nothing was held against, however well it is listed."""
    if more := sorted(contents.found.keys() - {BUNDLE, README, *expected, *contents.manifest.parameters.values()}):
        raise contents.differs(more[0], "no such file", "there")


def run_files(entry: RunEntry) -> list[str]:
    """The files of a run in a bundle."""
    of_data = (CASES, LABELS) if entry.texts == "all" else (OUTLINE,)
    calls = (CALLS,) if entry.calls else ()
    return [f"{entry.folder}/{name}" for name in (MANIFEST, *of_data, REVIEWS, SCORES, *calls)]


def check_hashes(contents: Contents) -> None:
    """Every file has its hash; for last, because a hash names no number."""
    for name in sorted(contents.changed):
        listed, there = contents.manifest.files[name], contents.found[name]
        raise contents.differs(name, listed.sha256, there.sha256, column="sha256")


# --- runs ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StoredRun:
    """One run as the bundle holds it. `cases` are outlines where texts are left out."""

    entry: RunEntry
    cases: tuple[Case, ...]
    outcomes: tuple[Outcome, ...]
    scores: Mapping[str, Mapping[tuple[str, str, int], Score]]


def read_run(contents: Contents, entry: RunEntry) -> StoredRun:
    """A run's records, each held against the others: cases against their hash, scores against their reviews."""
    contents.manifest_of(entry)
    whole = entry.texts == "all"
    names = {name: f"{entry.folder}/{name}" for name in (CASES, OUTLINE, REVIEWS, SCORES)}
    cases = contents.read(Case, names[CASES if whole else OUTLINE])
    if whole and (found := benchmark_hash(cases)) != entry.benchmark:
        raise contents.differs(names[CASES], entry.benchmark, found, column="benchmark")
    if len(cases) != entry.cases:
        raise contents.differs(names[CASES if whole else OUTLINE], f"{entry.cases} cases", f"{len(cases)}")
    known = {case.id for case in cases}
    outcomes = {}
    for outcome in contents.read(Outcome, names[REVIEWS]):
        key = (outcome.system, outcome.case, outcome.attempt)
        if key in outcomes or outcome.case not in known:
            why = "a second review" if key in outcomes else "a review of no case"
            raise contents.differs(names[REVIEWS], "one review of a case", why, row=_row(key))
        outcomes[key] = outcome
    scores: dict[str, dict[tuple[str, str, int], Score]] = {metric: {} for metric in entry.metrics}
    for score in contents.read(Score, names[SCORES]):
        key = (score.system, score.case, score.attempt)
        if score.metric not in scores or key in scores[score.metric]:
            why = "a second score" if score.metric in scores else f"a score of {score.metric}"
            raise contents.differs(names[SCORES], "one score of each metric", why, row=_row(key))
        scores[score.metric][key] = score
        outcome_there = outcomes.get(key)
        if outcome_there is None and whole:
            raise contents.differs(names[REVIEWS], "a review that was scored", "missing", row=_row(key))
        if outcome_there is not None and not outcome_there.is_measured_by(score):
            raise contents.differs(
                names[REVIEWS], score.of, outcome_there.digest, row=_row(key), column="hash of the review"
            )
    return StoredRun(entry, tuple(cases), tuple(outcomes.values()), scores)


def check_withheld(contents: Contents, entry: RunEntry, what: str, found: Iterable[Record]) -> None:
    """Records from somebody's own copy of the data are those that the bundle was made from."""
    stored, there = entry.withheld[what], lines_hash(found)
    if stored != there:
        raise contents.differs(f"{entry.folder}/{what} (from the data)", _of(stored), _of(there))


def _of(withheld: Withheld) -> str:
    return f"{withheld.records:,} with hash {withheld.sha256[:16]}"


def asks_a_model(metric: str) -> bool:
    """Whether measuring with this signature would ask a model over the network."""
    return _ASKS_A_MODEL.search(metric) is not None


def why_not_again(contents: Contents, entry: RunEntry, spec: str) -> str:
    """Why a metric is not measured again; empty where it can be: without models, or by replaying recorded calls."""
    models = metric_of(contents, spec).models
    if models and entry.calls:
        for model in models:
            spec = spec.replace(model, "")
    elif any(parse_model(model).provider != "fake" for model in models):
        return "it asks a model, and the bundle holds no recorded calls of it"
    return "it would ask a model over the network" if asks_a_model(spec) else ""


def check_calls(contents: Contents, entry: RunEntry) -> None:
    """Every recorded call is one, and has the key that its model, its request and its repeat give it."""
    if not entry.calls:
        return
    name = f"{entry.folder}/{CALLS}"
    found = contents.read(Call, name)
    if len(found) != entry.calls:
        raise contents.differs(name, f"{entry.calls:,} calls", f"{len(found):,}")
    for number, call in enumerate(found, start=1):
        key = call_key(parse_model(call.model), call.request, Repeat(call.attempt, call.trial, call.ask))
        if key != call.key:
            raise contents.differs(name, call.key, key, row=f"line {number}", column="key")


def replaying(contents: Contents, entry: RunEntry) -> Door:
    """A door behind which the recorded calls of a run answer, and nothing else does."""
    recorded = contents.folder / entry.folder / CALLS
    return Door(Settings(cache=False, replay=recorded if entry.calls else None))


def metric_of(contents: Contents, spec: str) -> Metric:
    """The metric of a signature; a file among its parameters is the one that the bundle brought."""
    metric = load(Metric, spec)
    brought = {
        name: str(contents.folder / contents.manifest.parameters[value])
        for name, value in parse_spec(spec).parameters.items()
        if isinstance(value, str) and value in contents.manifest.parameters
    }
    return dataclasses.replace(metric, **brought) if brought else metric  # type: ignore[type-var]


def measure_again(contents: Contents, stored: StoredRun, run: Path, spec: str, progress: Progress | None) -> list[str]:
    """Measure every review of `run` (a run folder without scores) and hold the scores against the stored ones.

    Returns what must be said, such as other versions of what the metric rests on. Raises Differs.
    """
    metric = metric_of(contents, spec)
    with RunFolder.open(run, write=True) as folder, replaying(contents, stored.entry):
        score_run(folder, metric, progress=progress)
        again = {(s.system, s.case, s.attempt): s for s in folder.scores(signature(metric))}
    name = f"{stored.entry.folder}/{SCORES}"
    there = stored.scores[spec]
    short = short_spec(load(Metric, spec))
    for key in sorted(there.keys() | again.keys()):
        if key not in there or key not in again:
            ends = ("no score", "a score") if key in again else ("a score", "no score")
            raise contents.differs(name, *ends, row=f"{_row(key)}, {short}")
        pins = [scores[key].pins.get(LABELS_PIN) for scores in (there, again)]
        if pins[0] != pins[1]:
            raise contents.differs(f"{stored.entry.folder}/{LABELS}", *pins, column="hash of the labels")
        if metric.models and there[key].failure is not None and again[key].failure is not None:
            continue  # a call that was never answered cannot be replayed, and fails in another way
        new = again[key] if stored.entry.texts == "all" else bare(again[key])
        if difference := first_difference(_numbers(there[key]), _numbers(new), 10.0**-contents.digits):
            column, one, other = difference
            raise contents.differs(name, one, other, row=f"{_row(key)}, {short}", column=column)
    return _other_pins(short, there, again)


def _other_pins(
    short: str, there: Mapping[tuple[str, str, int], Score], again: Mapping[tuple[str, str, int], Score]
) -> list[str]:
    found = {
        (pin, there[key].pins.get(pin, "not there"), again[key].pins.get(pin, "not there"))
        for key in there
        for pin in {*there[key].pins, *again[key].pins}
    }
    return [
        f"{short} was measured with {pin} {old} and is {new} here; the numbers are the same"
        for pin, old, new in sorted(found)
        if old != new
    ]


def _numbers(score: Score) -> object:
    return score.model_dump(mode="json", exclude=set(_NOT_NUMBERS))


def _row(key: tuple[str, str, int]) -> str:
    system, case, attempt = key
    return f"{system} on {case}" + (f", attempt {attempt}" if attempt > 1 else "")


# --- values --------------------------------------------------------------------------------------------------------


def first_difference(
    stored: object, found: object, tolerance: float = 10.0**-DIGITS, path: str = ""
) -> tuple[str, object, object] | None:
    """(place, stored, found) of the first difference of two JSON values; numbers may differ by rounding."""
    if isinstance(stored, Mapping) and isinstance(found, Mapping):
        for key in dict.fromkeys([*stored, *found]):
            place = f"{path}.{key}" if path else str(key)
            if deeper := first_difference(stored.get(key), found.get(key), tolerance, place):
                return deeper
        return None
    if _is_list(stored) and _is_list(found):
        if len(stored) != len(found):
            return path, f"{len(stored)} entries", f"{len(found)} entries"
        pairs = enumerate(zip(stored, found, strict=True))
        return next((d for at, (a, b) in pairs if (d := first_difference(a, b, tolerance, f"{path}[{at}]"))), None)
    return None if same_value(stored, found, tolerance) else (path, stored, found)


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


def same_value(stored: object, found: object, tolerance: float = 10.0**-DIGITS) -> bool:
    """Whether two values are the same; of numbers, within a relative tolerance."""
    numbers = [value for value in (stored, found) if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) == 2:
        return math.isclose(*numbers, rel_tol=tolerance, abs_tol=max(_TINY, tolerance * _SMALL))
    return type(stored) is type(found) and stored == found


def compare_tables(contents: Contents, name: str, found: str, labels: int) -> None:
    """Hold a stored CSV table against the one that was made again. `labels` columns name a row. Raises Differs."""
    stored = _rows(contents.text(name))
    again = _rows(found)
    head = again[0] if again else []
    for number, (one, other) in enumerate(_pad(stored, again)):
        row = "the heading" if number == 0 else " ".join((other or one)[:labels]) or f"row {number}"
        if one == [] or other == []:
            raise contents.differs(
                name, "no such row" if one == [] else "a row", "none" if other == [] else "one", row=row
            )
        for at in range(max(len(one), len(other))):
            a, b = (cells[at] if at < len(cells) else "" for cells in (one, other))
            if not _same_cell(a, b):
                column = head[at] if at < len(head) else f"column {at + 1}"
                raise contents.differs(name, a or "nothing", b or "nothing", row=row, column=column)


def count_figures(text: str) -> int:
    """How many numbers a CSV table holds."""
    return sum(_is_number(cell) for row in _rows(text)[1:] for cell in row)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def compare_text(contents: Contents, name: str, found: str) -> None:
    """Hold a stored text file against the one that was made again, line by line. Raises Differs."""
    stored = contents.text(name).splitlines()
    for number, (one, other) in enumerate(
        _pad([[line] for line in stored], [[x] for x in found.splitlines()]), start=1
    ):
        if one != other:
            stored_, found_ = (line[0] if line else "no such line" for line in (one, other))
            raise contents.differs(name, stored_, found_, row=f"line {number}")


def _rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def _pad(one: list[list[str]], other: list[list[str]]) -> Iterator[tuple[list[str], list[str]]]:
    for at in range(max(len(one), len(other))):
        yield one[at] if at < len(one) else [], other[at] if at < len(other) else []


def _same_cell(one: str, other: str) -> bool:
    if one == other:
        return True
    try:
        return same_value(float(one), float(other))
    except ValueError:
        return False


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 200 else text[:199] + "…"
