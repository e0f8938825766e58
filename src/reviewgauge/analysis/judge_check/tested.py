"""A metric that matches comments with findings, against what tests showed of the same reviews, finding by finding."""

from __future__ import annotations

import math
from collections import defaultdict

from reviewgauge.analysis.judge_check.agreement import JudgedRows, pair_agreement
from reviewgauge.analysis.judge_check.instrument import Ask, Decisions
from reviewgauge.analysis.judge_check.questions import Item
from reviewgauge.analysis.judge_check.report import JudgeOptions, gate
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.reports.judge_check import JudgeCost, JudgeReport
from reviewgauge.core.results import CommentState, Matching
from reviewgauge.core.specs import all_pins, parse_spec, short_spec, signature
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.scored_run import recorded_label
from reviewgauge.metrics.execution.outcomes import POLICY

Rows = dict[str, list[tuple[float, float, float]]]
"""What it is about -> (the metric's decision, the probability behind it, what the tests say) of each."""


def metric_that_tested(run: RunFolder, word: str) -> str:
    """The signature of the metric with tests that a word names in a run. Raises UserError for none, and for several."""
    known = {name: recorded_label(name) for name in run.scored_metrics()}
    found = [name for name, label in known.items() if word in (name, label, parse_spec(name).name)]
    if len(found) != 1:
        what = f"names {len(found)} metrics" if found else "is neither a file nor a metric"
        raise UserError(f"{word} {what} of {run.path}", remedy=f"it holds: {', '.join(known.values()) or 'none'}")
    return found[0]


def compare_with_tests(run: RunFolder, metric: Metric, tested: str, options: JudgeOptions) -> JudgeReport:
    """Was a finding hit that was repaired, was a comment matched whose edits repair one? On the scores of a run.

    Raises UserError where `tested` ran no tests, or the metric matches no comments with findings.
    """
    cases, label = run.cases_by_id(), recorded_label(tested)
    reviews = {one.key: one for one in run.outcomes()}
    scores = {one.key: one for one in run.scores(signature(metric))}
    answered: defaultdict[str, list[tuple[Item, Decisions | None]]] = defaultdict(list)
    fake = False
    for truth in run.scores(tested):
        outcome, score = reviews.get(truth.key), scores.get(truth.key)
        if truth.matching is None or outcome is None or outcome.review is None or truth.of != outcome.digest:
            continue
        if truth.matching.policy != POLICY:
            raise UserError(f"{label} runs no tests", remedy="name useful_suggestions or useful_repairs")
        fake |= truth.fake or (score is not None and score.fake)
        ask = Ask(cases[truth.case], outcome.review)
        for what, rows in _rows(truth.matching, score.matching if score else None).items():
            decisions, values, truths = zip(*rows, strict=True)
            reply = Decisions(decisions, values, failure=score.failure if score else None, reason="not scored")
            answered[what].append((Item(ask, f"{parse_spec(tested).name}: {what}", truths, truth.case), reply))
    if not answered:
        raise UserError(f"{label} tested nothing in {run.path}", remedy="reviewgauge info names what it measured")
    if not any(score.matching for score in scores.values()) and any(score.parts for score in scores.values()):
        raise UserError(f"{short_spec(metric)} matches no comments with findings", remedy="name hits, or a judge")
    agreement = [pair_agreement(JudgedRows.of(own, options.resamples), own[0][0].rater) for own in answered.values()]
    return JudgeReport(
        judge=short_spec(metric),
        signature=signature(metric),
        kind="pairs",
        on=f"{label} of {run.path}",
        models=metric.models,
        pins=all_pins(metric),
        estimate_note=metric.estimate_note,
        fake=fake,
        agreement=tuple(agreement),
        spent=JudgeCost(questions=0, decisions=0),
        gate=None if options.min_kappa is None else gate(agreement, options.min_kappa, options.lower),
        resamples=options.resamples.resamples,
        seed=options.resamples.seed,
    )


def _rows(tested: Matching, matching: Matching | None) -> Rows:
    """The findings that tests can show to be repaired, and the comments whose edits were tested."""
    groups = {name: group for group in (matching.groups if matching else ()) for name in group.members}
    said = {one.comment: one for one in (matching.comments if matching else ())}
    rows: Rows = defaultdict(list)
    for finding in tested.groups:
        hit = groups.get(finding.group)
        decision, chance = (float(hit.hit), hit.probability) if hit else (math.nan, None)
        rows["findings"].append((decision, math.nan if chance is None else chance, float(finding.hit)))
    for comment in tested.comments:
        if comment.probability is not None:
            one = said.get(comment.comment)
            same = one is not None and (one.credit >= 0.5 or one.state is CommentState.DUPLICATE)
            decision, chance = (float(same), one.probability) if one else (math.nan, None)
            rows["comments"].append((decision, math.nan if chance is None else chance, comment.probability))
    return rows
