"""`reviewgauge classify`: a model sorts the comments, references or changes of a run into classes."""

from __future__ import annotations

from pathlib import Path

from reviewgauge.core.base import Record
from reviewgauge.core.protocols import Progress
from reviewgauge.engine.classify import Of, Sorted
from reviewgauge.engine.classify import classify as classify_run
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


def classify(
    run: str | Path,
    model: str,
    *,
    what: What = "category",
    of: Of | None = None,
    votes: int = 1,
    prompt: PromptKind = "fenced",
    without_code: bool = False,
    models: ModelOptions | None = None,
    stop: Interruption | None = None,
    progress: Progress | None = None,
) -> ClassifyResult:
    """Let `model` sort what a run holds, and write one label each into the run; what it labelled before is left out.

    `of` is "comments" of the reviews (default), "references", or "changes" (default for domains).
    """
    models = models or ModelOptions()
    classifier = Classifier(model, what, votes, prompt)
    subjects: Of = of or ("changes" if QUESTIONS[what].of_changes else "comments")
    with RunFolder.open(run, write=not models.dry_run) as folder, models.client(folder) as client:
        found = classify_run(
            folder,
            classifier,
            of=subjects,
            without_code=without_code,
            write=not models.dry_run,
            executor=Threads(models.in_flight),
            stop=stop,
            progress=progress,
        )
        spent = spending(client)
    return ClassifyResult(run=str(run), sorted=found, spending=spent)
