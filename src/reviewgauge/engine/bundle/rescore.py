"""Every review of a bundle's runs read and measured again: do the scores come out as the bundle says?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from reviewgauge.core.base import Record
from reviewgauge.core.protocols import Metric, Progress
from reviewgauge.core.records import Case
from reviewgauge.core.results import Outcome, Score
from reviewgauge.core.specs import load_from, load_recorded, parse_spec, replace_texts, short_spec, signature
from reviewgauge.core.trust import FromFile
from reviewgauge.engine.bundle.compare import Contents, first_difference
from reviewgauge.engine.bundle.contents import OUTLINE, RunEntry, Withheld, bare, lines_hash
from reviewgauge.engine.run.folder import CASES, LABELS, REVIEWS, SCORES, RunFolder
from reviewgauge.engine.run.manifest import MANIFEST, benchmark_hash
from reviewgauge.engine.score import score as score_run
from reviewgauge.models.cache.stores import CALLS
from reviewgauge.models.chat.client import ChatClient, call_key
from reviewgauge.models.request.messages import Call, Repeat
from reviewgauge.models.request.model_spec import ChatSettings, parse_model

_ASKS_A_MODEL = re.compile(r"\b(openai|anthropic|azure|bedrock|vertex|litellm):|https?://")
LABELS_PIN = "labels"  # what a score says of the labels that it was measured with
_NOT_NUMBERS = ("usage", "pins", "metric")


def run_files(entry: RunEntry) -> list[str]:
    """The files of a run in a bundle."""
    of_data = (CASES, LABELS) if entry.texts == "all" else (OUTLINE,)
    calls = (CALLS,) if entry.calls else ()
    return [f"{entry.folder}/{name}" for name in (MANIFEST, *of_data, REVIEWS, SCORES, *calls)]


@dataclass(frozen=True)
class StoredRun:
    """One run as the bundle holds it. `cases` are outlines where texts are left out."""

    entry: RunEntry
    cases: tuple[Case, ...]
    outcomes: tuple[Outcome, ...]
    scores: Mapping[str, Mapping[tuple[str, str, int], Score]]


def read_run(contents: Contents, entry: RunEntry) -> StoredRun:
    """A run's records, checked against each other: cases by their hash, scores by their reviews."""
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
    """Raise Differs where records from a copy of the data are not those that the bundle was made from."""
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
    """Check that every recorded call has the key that its model, its request and its repeat give it."""
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


def replaying(contents: Contents, entry: RunEntry) -> ChatClient:
    """A client that answers from the recorded calls of a run and never calls an endpoint."""
    recorded = contents.folder / entry.folder / CALLS
    return ChatClient(ChatSettings(cache=False, replay=recorded if entry.calls else None, offline=True))


def metric_of(contents: Contents, spec: str) -> Metric:
    """The metric of a signature; a file among its parameters is the one that the bundle brought."""
    brought = {given: str(contents.folder / name) for given, name in contents.manifest.parameters.items()}
    return load_from(
        Metric, replace_texts(parse_spec(spec), brought), FromFile("the bundle", contents.folder, offline=True)
    )


def measure_again(contents: Contents, stored: StoredRun, run: Path, spec: str, progress: Progress | None) -> list[str]:
    """Measure every review of `run` (a run folder without scores) and compare the scores with the stored ones.

    Returns notes, such as other versions of what the metric rests on. Raises Differs.
    """
    metric = metric_of(contents, spec)
    with RunFolder.open(run, write=True) as folder, replaying(contents, stored.entry):
        score_run(folder, metric, progress=progress)
        again = {(s.system, s.case, s.attempt): s for s in folder.scores(signature(metric))}
    name = f"{stored.entry.folder}/{SCORES}"
    there = stored.scores[spec]
    short = short_spec(load_recorded(Metric, spec))
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
