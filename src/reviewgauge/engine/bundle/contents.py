"""What a bundle holds of runs, so that every figure can be recomputed offline.

Texts that may not be passed on stay out. The hash of the cases (in the manifest of the run) and that of each review (in
its scores) tell whether another copy of the data is the same.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from reviewgauge.core.base import Record, RelPath
from reviewgauge.core.data_card import Card
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import write_whole
from reviewgauge.core.parsing import records
from reviewgauge.core.records import Case
from reviewgauge.core.results import Outcome, Score
from reviewgauge.core.specs import texts_of
from reviewgauge.engine.run.folder import CASES, LABELS, LOCK, REVIEWS, SCORES, RunFolder
from reviewgauge.engine.run.manifest import MANIFEST, installed_versions
from reviewgauge.models.cache.stores import CALLS

FORMAT = 3
BUNDLE, README, SUMS = "bundle.json", "README.md", "SHA256SUMS"
RUNS, TABLES, PARAMETERS = "runs", "tables", "parameters"
LARGEST_PARAMETER = 64 * 1024 * 1024  # bytes; a larger file is a model, which a bundle does not hold
MOST_RESAMPLES = 1_000_000  # that a bundle may ask of the machine that checks it
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


class RunEntry(Record):
    """One run in the bundle. `texts`: all, only reviews that are not part of the data set (own), or none.

    `why` says why, `withheld` counts the reviews that are left out. `left_out` names files that are not part of a run.
    `validity`: its metrics were compared with people, and a table shows it.
    """

    name: RunName
    dataset: str
    cases: int
    licence: str
    texts: Texts
    why: str = ""
    withheld: int = 0
    validity: bool = False
    left_out: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        """The folder of the run in the bundle."""
        return f"{RUNS}/{self.name}"


class BundleManifest(Record):
    """`bundle.json`: what is in the bundle, what it was made with, and how its tables were made.

    `parameters` names the files that metrics were given, such as a calibration: as given, and its name in the bundle.
    """

    format: int
    reviewgauge: str
    python: str
    libraries: dict[str, str]
    runs: tuple[RunEntry, ...]
    slices: tuple[str, ...] = ()
    resamples: Annotated[int, Field(ge=1, le=MOST_RESAMPLES)]
    seed: Annotated[int, Field(ge=0)]
    parameters: dict[str, RelPath] = Field(default_factory=dict)


def versions() -> dict[str, str]:
    """The libraries that numbers may rest on, as they are installed here."""
    return installed_versions(*_LIBRARIES)


def may_be_passed_on(card: Card) -> bool:
    """Whether the card's licence is one of those that let everybody pass the data on; in doubt it is not."""
    return _OPEN.match(card.licence) is not None and _CLOSED.search(card.licence) is None


# --- from a run folder, and back -----------------------------------------------------------------------------------


def copy_run(run: RunFolder, target: Path) -> None:
    """Copy a run into the new folder `target`, without paths of this machine.

    Raises UserError for a run that was scored in part, whose tables would mislead.
    """
    outcomes = run.outcomes()  # in their order, which splits drawn at random depend on
    scores = sorted(run.scores(), key=lambda s: (s.metric, s.system, s.case, s.attempt))
    _check_complete(run.path, outcomes, scores)
    cases = _own_cases(run)
    target.mkdir(parents=True)
    manifest = run.manifest.model_copy(update={"dataset_path": ""})
    write_whole(target / MANIFEST, manifest.model_dump_json(indent=2).encode() + b"\n")
    _write(target / CASES, cases)
    _write(target / REVIEWS, outcomes)
    _write(target / LABELS, run.labels())
    _write(target / SCORES, scores)
    if (run.path / CALLS).exists():
        _write(target / CALLS, run.calls())


def withhold(folder: Path, texts: Texts) -> int:
    """Remove the texts that stay out from a copied run; returns how many reviews that is."""
    if texts == "all":
        return 0
    run = RunFolder.open(folder)
    came = {name for name, entry in run.manifest.systems.items() if entry.signature.partition("(")[0] == RECORDED}
    outcomes = run.outcomes()
    kept = [one for one in outcomes if texts == "own" and one.system not in came]
    gone = len(outcomes) - len(kept)
    scores = [bare(score) for score in run.scores()]
    _write(folder / REVIEWS, kept)
    _write(folder / SCORES, scores)
    for name in (CASES, LABELS, CALLS):
        (folder / name).unlink(missing_ok=True)
    return gone


def restore(folder: Path, sources: Sequence[RunFolder]) -> bool:
    """Put the texts that a bundled run lacks back, from runs on the same cases; whether there is one."""
    run = RunFolder.open(folder)
    given = [source for source in sources if source.manifest.benchmark == run.manifest.benchmark]
    if not given:
        return False
    _write(folder / CASES, _own_cases(given[0]))
    _write(folder / LABELS, given[0].labels())
    there = run.outcomes()
    wanted = {score.key for score in run.scores()} - {outcome.key for outcome in there}
    found = {outcome.key: outcome for source in given for outcome in source.outcomes()}
    _write(folder / REVIEWS, [*(one for key, one in found.items() if key in wanted), *there])
    return True


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


def _write(path: Path, found: Iterable[Record]) -> None:
    write_whole(path, b"".join(record.to_line() for record in found))


def _check_complete(path: Path, outcomes: Sequence[Outcome], scores: Sequence[Score]) -> None:
    if not outcomes:
        raise UserError(f"{path} holds no reviews", remedy="there is nothing to bundle")
    if not scores:
        raise UserError(f"{path} was not scored yet", remedy=f"reviewgauge score {path} hits")
    known = {(score.metric, *score.key) for score in scores}
    for metric in dict.fromkeys(score.metric for score in scores):
        for one in outcomes:
            if (metric, *one.key) not in known:
                raise UserError(
                    f"{path}: {one.system} on {one.case} was not measured with {metric.partition('(')[0]}",
                    remedy=f"reviewgauge score {path} {metric!r}",
                )


def left_out(folder: Path) -> tuple[str, ...]:
    """The files in a run folder that are not part of a run; leftovers of a killed writer do not count."""
    known = {MANIFEST, CASES, REVIEWS, SCORES, LABELS, LOCK, CALLS}
    names = sorted(path.name for path in folder.iterdir() if path.suffix not in (".torn", ".tmp"))
    return tuple(name for name in names if name not in known)


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
