"""What a bundle holds: runs with their hashes, scores and tables, so that every figure can be recomputed offline.

Texts that may not be passed on stay out: their place is taken by an outline of the cases (ids, repositories and facts,
which tables need) and by hashes that tell whether another copy of the data is the same.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from reviewgauge.core.base import Record, RelPath
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import write_whole
from reviewgauge.core.parsing import records
from reviewgauge.core.protocols import Card
from reviewgauge.core.records import Case, Change
from reviewgauge.core.results import Outcome, Score
from reviewgauge.core.specs import texts_of
from reviewgauge.engine.run.folder import CASES, LABELS, LOCK, REVIEWS, SCORES, RunFolder
from reviewgauge.engine.run.manifest import MANIFEST, SystemEntry, installed_versions
from reviewgauge.models.cache.stores import CALLS

FORMAT = 2  # 1 held no calls of chat models
BUNDLE, README, OUTLINE = "bundle.json", "README.md", "outline.jsonl"
RUNS, TABLES, PARAMETERS, VALIDITY = "runs", "tables", "parameters", "validity"
LARGEST_PARAMETER = 64 * 1024 * 1024  # bytes; a larger file is a model, which a bundle does not hold
MOST_RESAMPLES = 1_000_000  # that a bundle may ask of the machine that checks it
LONGEST_FACT = 80  # characters; a longer fact is a text, which an outline has none of
RECORDED = "recorded"
OWN_LICENCE = "that of its author"
_PARAMETER_FILES = (".json", ".jsonl", ".csv", ".toml", ".yaml", ".yml", ".txt")
_NOT_PLAIN = re.compile(r"[^\w.-]+")
_LIBRARIES = ("numpy", "pydantic", "scipy", "sacrebleu", "nltk", "rapidfuzz", "onnxruntime", "tokenizers")
_OPEN = re.compile(
    r"(mit|apache|0?bsd|isc|mpl|epl|l?gpl|agpl|cc0|cc[- ]by|unlicense|odc[- ]by|odbl|pddl)(?![a-z])", re.IGNORECASE
)
_CLOSED = re.compile(r"[- ]n[cd]\b", re.IGNORECASE)  # not commercially, not changed: not for us to decide

Texts = Literal["all", "own", "none"]
RunName = Annotated[str, Field(max_length=200, pattern=r"^[\w=][\w.=-]*$")]  # a folder's name and nothing else


class FileEntry(Record):
    """One file of the bundle: its size in bytes and its SHA-256."""

    bytes: int
    sha256: str


class Withheld(Record):
    """Records that the bundle does not hold: how many, and the SHA-256 of their sorted lines."""

    records: int
    sha256: str


class RunEntry(Record):
    """One run in the bundle. `texts`: all, only what is not part of the data set (own), or none; `why` says why.

    `withheld` counts and hashes what is left out: reviews, labels (the benchmark's hash stands for the cases).
    `left_out` names files of the run folder that are not part of the bundle, with the reason. `validity` says whether
    the report that `validate` left in the run folder is there. `calls` counts the recorded calls of chat models, from
    which what models scored is measured again; they hold prompts, so they are there with all texts or not at all.
    """

    name: RunName
    dataset: str
    benchmark: str
    cases: int
    licence: str
    texts: Texts
    why: str = ""
    metrics: tuple[str, ...] = ()
    validity: bool = False
    calls: int = 0
    withheld: Mapping[str, Withheld] = Field(default_factory=dict)
    left_out: Mapping[str, str] = Field(default_factory=dict)

    @property
    def folder(self) -> str:
        """The folder of the run in the bundle."""
        return f"{RUNS}/{self.name}"


class TableEntry(Record):
    """One table: what it shows, of which metric, and the runs that it was made from."""

    path: RelPath
    kind: str
    metric: str
    runs: tuple[RunName, ...]


class BundleManifest(Record):
    """`bundle.json`: what is in the bundle, what it was made with, and how its tables were made.

    `parameters` names the files that metrics were given, such as a calibration: as given, and its name in the bundle.
    """

    format: int
    reviewgauge: str
    python: str
    libraries: Mapping[str, str]
    runs: tuple[RunEntry, ...]
    tables: tuple[TableEntry, ...]
    slices: tuple[str, ...] = ()
    resamples: Annotated[int, Field(ge=1, le=MOST_RESAMPLES)]
    seed: Annotated[int, Field(ge=0)]
    parameters: Mapping[str, RelPath] = Field(default_factory=dict)
    files: Mapping[str, FileEntry]

    @property
    def content(self) -> str:
        """SHA-256 of names and hashes of all files: the same for the same content, however it was compressed."""
        lines = "".join(f"{entry.sha256}  {name}\n" for name, entry in sorted(self.files.items()))
        return hashlib.sha256(lines.encode()).hexdigest()


def versions() -> dict[str, str]:
    """The libraries that numbers may rest on, as they are installed here."""
    return installed_versions(*_LIBRARIES)


def may_be_passed_on(card: Card) -> bool:
    """Whether the card's licence is one of those that let everybody pass the data on; in doubt it is not."""
    return _OPEN.match(card.licence) is not None and _CLOSED.search(card.licence) is None


def lines_hash(found: Iterable[Record]) -> Withheld:
    """The count of some records and the SHA-256 of their lines, free of their order."""
    lines = sorted(record.to_line() for record in found)
    return Withheld(records=len(lines), sha256=hashlib.sha256(b"".join(lines)).hexdigest())


def file_entry(path: Path) -> FileEntry:
    """Size and hash of a file."""
    with path.open("rb") as stream:
        return FileEntry(bytes=path.stat().st_size, sha256=hashlib.file_digest(stream, "sha256").hexdigest())


# --- from a run folder ---------------------------------------------------------------------------------------------


def stage(run: RunFolder, name: str, target: Path, *, texts: Texts, why: str, licence: str) -> RunEntry:
    """Copy what a bundle holds of a run into `target/runs/NAME`, without paths of this machine.

    Raises UserError for a run that was scored in part, whose tables would mislead.
    """
    folder = target / RUNS / name
    folder.mkdir(parents=True)
    cases = _own_cases(run)
    outcomes = run.outcomes()  # in their order, which splits drawn at random depend on
    scores = sorted(run.scores(), key=lambda s: (s.metric, s.system, s.case, s.attempt))
    _check_complete(run.path, outcomes, scores)
    labels = run.labels()
    write_whole(folder / MANIFEST, _manifest_bytes(run))
    withheld: dict[str, Withheld] = {}
    if texts == "all":
        _write(folder / CASES, cases)
        _write(folder / REVIEWS, outcomes)
        _write(folder / LABELS, labels)
        if calls := sum(1 for _ in run.calls()):
            _write(folder / CALLS, run.calls())
    else:
        calls = 0
        came = {name for name, system in run.manifest.systems.items() if is_recorded(system)}
        kept = [o for o in outcomes if texts == "own" and o.system not in came]
        gone = [o for o in outcomes if texts == "none" or o.system in came]
        withheld = {"reviews": lines_hash(gone), "labels": lines_hash([x for c in cases for x in c.labels] + [*labels])}
        _write(folder / OUTLINE, [outline(case) for case in cases])
        _write(folder / REVIEWS, kept)
        scores = [bare(score) for score in scores]
    _write(folder / SCORES, scores)
    return RunEntry(
        name=name,
        dataset=run.manifest.dataset,
        benchmark=run.manifest.benchmark,
        cases=len(cases),
        licence=licence,
        texts=texts,
        why=why,
        metrics=tuple(dict.fromkeys(score.metric for score in scores)),
        calls=calls,
        withheld=withheld,
        left_out=_left_out(run.path, texts),
    )


def is_recorded(system: SystemEntry) -> bool:
    """Whether a system's reviews came with the data set."""
    return system.signature.partition("(")[0] == RECORDED


def outline(case: Case) -> Case:
    """A case without its texts: id, repository, task, verdict and short facts."""
    facts = {key: value for key, value in case.facts.items() if len(str(value)) <= LONGEST_FACT}
    change = Change(repo=case.change.repo, task=case.change.task)
    return Case(id=case.id, change=change, verdict=case.verdict, facts=facts)


def bare(score: Score) -> Score:
    """A score without the evidence that quotes texts: its numbers stay."""
    failure = score.failure.model_copy(update={"raw": None}) if score.failure else None
    return score.model_copy(update={"matching": None, "failure": failure})


def _own_cases(run: RunFolder) -> list[Case]:
    """The cases as the run's file holds them, without the path of their repository on this machine."""
    run.cases()  # checks their hash
    with (run.path / CASES).open("rb") as stream:
        found = list(records(Case, stream, str(run.path / CASES)))
    return [case.model_copy(update={"change": case.change.model_copy(update={"git": None})}) for case in found]


def _manifest_bytes(run: RunFolder) -> bytes:
    manifest = run.manifest.model_copy(update={"dataset_path": ""})
    return manifest.model_dump_json(indent=2).encode() + b"\n"


def _write(path: Path, found: Iterable[Record]) -> None:
    write_whole(path, b"".join(record.to_line() for record in found))


def _check_complete(path: Path, outcomes: Sequence[Outcome], scores: Sequence[Score]) -> None:
    if not outcomes:
        raise UserError(f"{path} holds no reviews", remedy="there is nothing to bundle")
    known = {(s.metric, s.system, s.case, s.attempt): s for s in scores}
    for metric in dict.fromkeys(score.metric for score in scores):
        for outcome in outcomes:
            score = known.get((metric, outcome.system, outcome.case, outcome.attempt))
            if score is None or not outcome.is_measured_by(score):
                raise UserError(
                    f"{path}: {outcome.system} on {outcome.case}, as it is now, was not measured with "
                    f"{metric.partition('(')[0]}",
                    remedy=f"reviewgauge score {path} {metric!r}",
                )
    if len(known) > len(outcomes) * len({score.metric for score in scores}):
        raise UserError(f"{path}: {SCORES} holds scores of reviews that are not there", remedy="score again")


def _left_out(folder: Path, texts: Texts) -> dict[str, str]:
    """The files of a run folder that a bundle does not hold, and why; leftovers of a killed writer do not count."""
    known = {MANIFEST, CASES, REVIEWS, SCORES, LABELS, LOCK, CALLS}
    found = {}
    for path in sorted(folder.iterdir()):
        if path.name not in known and path.suffix not in (".torn", ".tmp"):
            page = path.suffix in (".html", ".htm")
            found[path.name] = "a page is made again from the run" if page else "is not part of a run"
        if path.name == CALLS and texts != "all":
            found[CALLS] = "its prompts hold texts that are left out, so what models scored is not measured again"
    return found


def parameter_files(metrics: Iterable[str], target: Path, include: Sequence[str | Path] = ()) -> dict[str, str]:
    """Copy the files that metrics were given as parameters; the path as it was given, by its name in the bundle.

    A run says which files those are, and a run may come from others: only those in `include` are copied. Raises
    UserError that names the others.
    """
    allowed = {Path(one).resolve() for one in include}
    wanted = dict.fromkeys(value for spec in metrics for value in texts_of(spec) if _is_file(value))
    if missing := [value for value in wanted if Path(value).resolve() not in allowed]:
        raise UserError(
            f"scores rest on {', '.join(missing)}, which would be published with the bundle",
            remedy=" ".join(["if it may be:", *(f"--include {shlex.quote(value)}" for value in missing)]),
        )
    found: dict[str, str] = {}
    for value in wanted:
        found[value] = f"{PARAMETERS}/{len(found) + 1}-{_NOT_PLAIN.sub('-', Path(value).name)}"
        (target / PARAMETERS).mkdir(exist_ok=True)
        shutil.copyfile(value, target / found[value])
    return found


def _is_file(value: str) -> bool:
    if not value.endswith(_PARAMETER_FILES):  # a word such as `lexical` names no file, even where one is called so
        return False
    try:
        return Path(value).is_file() and Path(value).stat().st_size <= LARGEST_PARAMETER
    except (OSError, ValueError):
        return False
