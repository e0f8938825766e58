"""People and models judge the same reports, as in SWR-Bench's study of its judge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from reviewgauge.analysis.point_labels import Report, key_of, on_reports, point_labels
from reviewgauge.analysis.raters import AgreementSettings, agreement_report
from reviewgauge.api.validation.data import JudgedData, is_run
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, SubjectKind
from reviewgauge.core.protocols import Measured, Metric, Progress
from reviewgauge.core.records import Case, Review
from reviewgauge.core.reports.agreement import AgreementReport
from reviewgauge.core.results import Failure
from reviewgauge.core.specs import load_recorded, short_spec
from reviewgauge.datasets.files.labels import read_label_file
from reviewgauge.engine.measure import ScoreJob
from reviewgauge.engine.run.executors import Threads
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.model_options import ModelOptions, spending
from reviewgauge.metrics.points import Points


def points_of_run(run: RunFolder) -> list[tuple[Points, list[Report]]]:
    """Each `points` metric that a run was scored with, and what it found in each report."""
    found = []
    for name in run.scored_metrics():
        try:
            metric = load_recorded(Metric, name)
        except UserError:  # code of the user that is gone
            continue
        if isinstance(metric, Points):
            scores = (score for score in run.scores(name) if score.matching is not None)
            found.append((metric, [Report(s.case, s.system, s.attempt, s.matching) for s in scores if s.matching]))
    return found


def labels_of_points(run: RunFolder) -> list[Label]:
    """What `points` found in a run, as labels of its models."""
    return [label for metric, reports in points_of_run(run) for label in point_labels(metric, reports)]


def warn_of_fakes(labels: Iterable[Label]) -> tuple[str, ...]:
    """A sentence for each fake model among the raters."""
    raters = dict.fromkeys(label.rater for label in labels if label.rater.startswith("fake:"))
    return tuple(f"{rater} is a fake model, whose labels say nothing" for rater in raters)


def judges_points(metrics: Sequence[Metric], labels: str | Path | None) -> bool:
    """Whether a `points` metric is to be compared with people's labels on points, and not with grades of reviews."""
    if labels is None or len(metrics) != 1 or not isinstance(metrics[0], Points):
        return False
    return all(label.subject.kind is SubjectKind.LINK for label in read_label_file(Path(labels)).labels)


def points_check(
    metric: Metric, data: JudgedData, models: ModelOptions, settings: AgreementSettings, progress: Progress | None
) -> AgreementReport:
    """How far a `points` metric agrees with people on the reports that they judged, and they with each other.

    Asks about these reports only; what the run was scored with counts as further raters.
    """
    assert isinstance(metric, Points) and data.labels is not None
    if not metric.model:
        raise UserError(f"{short_spec(metric)} names no model", remedy="points(model='openai:gpt-5')")
    if not is_run(data.word):
        raise UserError(f"{data.word} is not a run folder", remedy="validate RUN 'points(...)' --labels FILE")
    on = Path(str(data.word))
    people = read_label_file(Path(data.labels)).labels
    keys = {key_of(label) for label in people}
    with RunFolder.open(on) as run, models.client() as client:
        reviews = [outcome.review for outcome in run.outcomes() if outcome.review is not None]
        judged = [one for one in reviews if (one.case, one.system, one.attempt) in keys]
        if not judged:
            raise UserError(f"{data.labels} judges no report of {on}")
        known = [one for one in labels_of_points(run) if one.rater != metric.model]
        found = _ask(metric, [(run.cases_by_id()[one.case], one) for one in judged], models.in_flight, progress)
        bill = spending(client).sentence
    every = [*people, *on_reports(known, keys), *point_labels(metric, found)]
    report = agreement_report(every, source=on.resolve().name, settings=settings)
    lacking = len(judged) - len(found)
    gaps = f"{lacking} of {len(judged)} reports have no answer of {metric.model}" if lacking else ""
    more = (gaps, *warn_of_fakes(every), *report.warnings, bill)
    return report.model_copy(update={"warnings": tuple(filter(None, more))})


def _ask(
    metric: Points, items: Sequence[tuple[Case, Review]], in_flight: int, progress: Progress | None
) -> list[Report]:
    """What the metric finds in each report, without those on which it failed. Raises what concerns all of them."""
    found: dict[int, Report] = {}
    jobs = [[item] for item in items]
    for done, (at, answers) in enumerate(Threads(in_flight).map(ScoreJob(metric), jobs), 1):
        review = items[at][1]
        if progress is not None:
            progress(done, len(items), review.case)
        if isinstance(answers, Failure):
            continue
        if answers.refused is not None:
            raise answers.refused
        value = answers.values[0].value
        if isinstance(value, Measured) and value.matching is not None:
            found[at] = Report(review.case, review.system, review.attempt, value.matching)
    return [found[at] for at in sorted(found)]
