"""`reviewgauge score --labels`: a model sorts the comments, references or changes of a run into classes."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Progress
from reviewgauge.core.specs import parse_spec
from reviewgauge.engine.classify import Of, Sorted
from reviewgauge.engine.classify import classify as classify_all
from reviewgauge.engine.run.executors import Interruption, Threads
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.model_options import ModelOptions, Spending, spending
from reviewgauge.judges.classes.classes import QUESTIONS, Classifier, PromptKind, What


class ClassifyResult(Record):
    """What was sorted, into which classes, and what it cost."""

    schema_version: int = 1
    run: str
    sorted: Sorted
    spending: Spending


class Labelling(Record):
    """What to ask, and of what: "comments" of the reviews (default), "references", or "changes" (default of domains).

    `without_code` asks also where the diff hunk of the prompt is missing, unlike the published setting.
    """

    model: str
    what: What = "category"
    votes: int = 1
    prompt: PromptKind = "fenced"
    of: Of | None = None
    without_code: bool = False


def read_labelling(word: str) -> Labelling:
    """A model, which sorts by category, or what to sort by: `domain(model="openai:gpt-5", votes=3)`."""
    name = word.partition("(")[0].strip()
    if name not in QUESTIONS:
        return Labelling(model=word)
    try:
        return Labelling.model_validate({**parse_spec(word).parameters, "what": name})
    except ValidationError as error:
        wrong = error.errors()[0]
        field = ".".join(map(str, wrong["loc"]))
        raise UserError(f"{word}: {field}: {wrong['msg']}", remedy=f'{name}(model="openai:gpt-5", votes=3)') from None


def classify(
    run: str | Path,
    labels: str,
    *,
    models: ModelOptions | None = None,
    stop: Interruption | None = None,
    progress: Progress | None = None,
) -> ClassifyResult:
    """Let a model sort what a run holds, and write one label each into the run; what it labelled before is left out.

    `labels` is a model (`openai:gpt-5` sorts comments by category), or says more: see `Labelling`.
    """
    models, write = models or ModelOptions(), not (models and models.dry_run)
    with RunFolder.open(run, write=write) as folder, models.client(folder) as client:
        found = classify_run(folder, labels, models.in_flight, write=write, stop=stop, progress=progress)
        spent = spending(client)
    return ClassifyResult(run=str(run), sorted=found, spending=spent)


def classify_run(
    folder: RunFolder,
    labels: str,
    in_flight: int,
    *,
    write: bool = True,
    stop: Interruption | None = None,
    progress: Progress | None = None,
) -> Sorted:
    """`classify` in a run folder that is open, with the models of the client that is."""
    asked = read_labelling(labels)
    return classify_all(
        folder,
        Classifier(asked.model, asked.what, asked.votes, asked.prompt),
        of=asked.of or ("changes" if QUESTIONS[asked.what].of_changes else "comments"),
        without_code=asked.without_code,
        write=write,
        executor=Threads(in_flight),
        stop=stop,
        progress=progress,
    )
