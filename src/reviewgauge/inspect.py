"""Benchmarks as tasks of inspect_ai and metrics as its scorers: `inspect eval reviewgauge/benchmark --model MODEL`.

Any solver, agent and sandbox of inspect_ai can review so. The log holds each review whole: `replay(path=...)` has it.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from reviewgauge.analysis.stats.arrays import MatrixAggregate, measures_of
from reviewgauge.api.resolve import dataset_label, find_dataset, find_metrics
from reviewgauge.core.errors import MissingExtra, UserError
from reviewgauge.core.json_reader import Node
from reviewgauge.core.protocols import Metric, Parsed
from reviewgauge.core.records import Case, Change, Review
from reviewgauge.core.results import Failed, Outcome
from reviewgauge.core.specs import load_recorded
from reviewgauge.engine.measure import Answered, measure
from reviewgauge.engine.score import Scorer
from reviewgauge.exports.writing.inspect_scores import inspect_score
from reviewgauge.formats.inspect import OURS, carried, read_output
from reviewgauge.models.answers.readers import Unreadable
from reviewgauge.repo.git.repository import Repository
from reviewgauge.reviewers.pr_review import PrReview, prioritised
from reviewgauge.reviewers.reading.review_files import placed, unique

try:
    import anyio
    from inspect_ai import Task, task
    from inspect_ai import scorer as inspect_scorer
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser
    from inspect_ai.scorer import metric as inspect_metric
    from inspect_ai.solver import generate
except ImportError:
    raise MissingExtra("inspect_ai", "inspect") from None

_SYSTEM = "inspect"  # a run names reviews by the reviewer that replays them
_CODE = "The repository as the change leaves it is in the folder `repo` of the sandbox, the change in `change.diff`."


@task
def benchmark(
    dataset: str = "sample", source: str = "", metric: str = "hits", sandbox: str | None = None, most: int = 10
) -> Any:
    """A benchmark whose cases are samples: the change is the input, asked for as `pr_review` asks for `most` findings.

    With a `sandbox` (docker, local) the code after the change lies in it. `source` is the folder of the data set.
    """
    cases, review = _cases(dataset, source), PrReview(model="fake:rules", most=most)
    samples = [_sample(case, review, bool(sandbox)) for case in cases.values()]
    name = dataset_label(find_dataset(dataset, source or None))
    return Task(
        dataset=MemoryDataset(samples, name=name),
        solver=generate(),
        scorer=hits(metric=metric, dataset=dataset, source=source),
        sandbox=sandbox,
    )


@inspect_metric
def measures() -> Any:
    """Every measure of the metric over all samples, made of the sums of their parts; of epochs their mean counts."""

    def compute(scores: Iterable[Any]) -> Mapping[str, float]:
        found = [one.score for one in scores if isinstance(one.score.value, dict)]
        if not found:
            return {}
        metric = load_recorded(Metric, found[0].metadata["metric"])
        values = measures_of(metric, MatrixAggregate.of([one.value for one in found]))
        names = sorted(values, key=lambda name: name != metric.headline)  # the first is inspect_ai's headline
        return {name: float(values[name][0]) for name in names if values[name][0] == values[name][0]}

    return compute


@inspect_scorer.scorer(metrics=[measures()])
def hits(metric: str = "hits", dataset: str = "sample", source: str = "") -> Any:
    """Scores reviews as `reviewgauge score` does. A sample's id is a case's; its output is a review in any format.

    A score's value are the parts that measures are made of. What is no review is unscored, with a reason.
    """
    (found,) = find_metrics([metric])
    if found.joint:
        raise UserError(f"{metric} looks at all systems of a run together", remedy="replay the log, and score that")

    cases = _cases(dataset, source)
    scorer = Scorer(found, cases, "")

    def measured(state: Any, case: Case) -> Any:
        outcome = _reviewed(state, case)
        state.metadata[OURS] = carried(outcome)
        value = next(measure(found, [(case, outcome.review)])) if outcome.review else None
        own = scorer.score(outcome, None if value is None else Answered(value))
        fields = inspect_score(found, own, case, outcome.review)
        return inspect_scorer.Score(**fields | ({"value": dict(own.parts), "reason": None} if own.parts else {}))

    async def score(state: Any, target: Any) -> Any:
        case = cases.get(str(state.sample_id))
        if case is None:
            raise UserError(f"the sample {state.sample_id} is no case of {dataset}", remedy="ids name cases")
        return await anyio.to_thread.run_sync(measured, state, case)

    return score


@lru_cache(maxsize=4)
def _cases(dataset: str, source: str) -> dict[str, Case]:
    return {case.id: case for case in find_dataset(dataset, source or None).cases()}


def _sample(case: Case, review: PrReview, code: bool) -> Any:
    change = _change(case)
    shown = prioritised(change, review.tokens).pieces
    if not shown:
        raise UserError(f"{case.id} has no diff to show", remedy="reviewgauge get DATASET --with-code")
    asked = [
        (ChatMessageSystem if one.role == "system" else ChatMessageUser)(content=one.text)
        for one in review.question(change, shown[0])
    ]
    return Sample(
        id=case.id,
        input=[*asked, ChatMessageUser(content=_CODE)] if code else asked,
        target=[reference.body for reference in case.references],
        files=_files(change, shown[0].text) if code else None,
    )


def _change(case: Case) -> Change:
    return case.change.model_copy(update={"id": case.id})


def _files(change: Change, diff: str) -> dict[str, str]:
    """The code after the change; as data, since inspect_ai takes a text that is a path for the file there."""
    if change.git is None or change.head is None:
        raise UserError(f"the code of {change.id} is not at hand", remedy="reviewgauge get DATASET --with-code")
    repository = Repository(Path(change.git))
    blobs = repository.blobs(change.head, repository.paths(change.head))
    files = {"change.diff": diff.encode(), **{f"repo/{path}": blob for path, blob in blobs.items()}}
    return {path: "data:;base64," + b64encode(blob).decode() for path, blob in files.items() if blob is not None}


def _reviewed(state: Any, case: Case) -> Outcome:
    """What a sample's output says of its case."""
    own = {"case": case.id, "system": _SYSTEM, "attempt": state.epoch}
    try:
        parsed = [Parsed(comments=PrReview(model="fake:rules").read(state.output.completion).comments)]
    except Unreadable:
        parsed = list(read_output(Node(state.output.model_dump(), "the output")))
    try:
        comments = unique(placed(parsed, _change(case)))
    except Failed as error:
        return Outcome(**own, failure=error.failure)
    fake = str(state.model).startswith("mockllm/")
    return Outcome(**own, review=Review(**own, comments=comments, fake=fake))
