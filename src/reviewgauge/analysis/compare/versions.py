"""The scores of the same reviews on two versions of a benchmark: what changed, and who gained by their own comments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from reviewgauge.analysis.compare.compare import compare
from reviewgauge.analysis.stats.bootstrap import point_measures
from reviewgauge.analysis.stats.score_table import table_of
from reviewgauge.core.records import Comment, findings
from reviewgauge.core.reports.leaderboard import Comparison, SystemVersions, VersionTable
from reviewgauge.core.results import Score
from reviewgauge.core.stored import Lazy, chained
from reviewgauge.engine.run.scored_run import ScoredRun

BEFORE = " (before)"
USUAL = ("precision", "recall")


def compare_versions(old: ScoredRun, new: ScoredRun, *, resamples: int = 10_000, seed: int = 0) -> VersionTable:
    """Every system on both versions, on the cases that were scored in both. `old` and `new` have the same systems.

    The measures are the headline, with precision and recall where the metric has them.
    """
    metric = new.metric
    both = replace(new, scores=_together(old, new), systems_in=(), outcomes=(), outcome_keys=(), score_keys=())
    pairs = [(system, system + BEFORE) for system in new.systems if system in old.systems]
    wanted = [metric.headline, *(one for one in USUAL if one in _measures_of(new))]
    table = compare(both, pairs=pairs, measures=wanted, resamples=resamples, seed=seed)
    gains = _gains(old, new)
    of_system: dict[str, list[Comparison]] = {}
    for one in table.comparisons:
        of_system.setdefault(one.first, []).append(one)
    fake = {score.system for score in new.scores if score.fake}

    def measured(run: ScoredRun) -> set[str]:
        return {score.case for score in run.scores if score.parts is not None}

    systems = [
        SystemVersions(system=system, comparisons=tuple(figures), fake=system in fake, **gains.of(system))
        for system, figures in of_system.items()
    ]
    sign = 1 if metric.headline in metric.lower_is_better else -1
    systems.sort(
        key=lambda one: (
            one.comparisons[0].first_value is None,
            sign * (one.comparisons[0].first_value or 0.0),
            one.system,
        )
    )
    return VersionTable(
        metric=table.metric,
        label=table.label,
        old_dataset=old.dataset,
        old_benchmark=old.benchmark,
        new_dataset=new.dataset,
        new_benchmark=new.benchmark,
        systems=tuple(systems),
        new_findings=len(gains.new),
        newly_measured=len(measured(new) - measured(old)),
        clustered_by=table.clustered_by,
        resamples=resamples,
        seed=seed,
        estimate_note=table.estimate_note,
        warnings=(*_left(old, new), *_bias(systems), *(one for one in table.warnings if BEFORE not in one)),
    )


def _left(old: ScoredRun, new: ScoredRun) -> Iterator[str]:
    left = {case.id for case in old.cases} - {case.id for case in new.cases}
    if left:
        yield f"{len(left)} of {len(old.cases)} changes are no longer in {new.dataset}: both columns are without them"


def _together(old: ScoredRun, new: ScoredRun) -> Sequence[Score]:
    def before(score: Score) -> Score:
        return score.model_copy(update={"system": score.system + BEFORE, "benchmark": new.benchmark})

    kept = {case.id for case in new.cases}
    places = [at for at, score in enumerate(old.scores) if score.case in kept]
    return chained([Lazy.of(places, lambda at: before(old.scores[at])), new.scores])


def _measures_of(run: ScoredRun) -> Sequence[str]:
    panel = table_of(run)
    return point_measures(run.metric, panel.names, np.zeros((1, 1, len(panel.names))), np.ones((1, 1))).names


Finding = tuple[str, str]  # case, id of a comment


@dataclass
class _Gains:
    """The findings that are new, and by system those that it found, and its own comments that were judged."""

    new: set[Finding] = field(default_factory=set)
    found: dict[str, set[Finding]] = field(default_factory=dict)
    own: dict[str, set[Finding]] = field(default_factory=dict)
    accepted: dict[str, int] = field(default_factory=dict)
    judged: dict[str, int] = field(default_factory=dict)

    def of(self, system: str) -> dict[str, int]:
        """The counts of one system; with several attempts a finding counts once."""
        found = self.found.get(system, set())
        return {
            "found": len(found),
            "own": len(found & self.own.get(system, set())),
            "judged": self.judged.get(system, 0),
            "accepted": self.accepted.get(system, 0),
        }


def _gains(old: ScoredRun, new: ScoredRun) -> _Gains:
    gains = _Gains()
    before = {case.id: {one.id for one in (*case.references, *case.rejected)} for case in old.cases}
    said_by: dict[tuple[str, object], tuple[Finding, bool]] = {}  # the words of what is new, and whether it is right
    for case in new.cases:
        known = before.get(case.id, set())
        for group in findings(case.references):
            name = (case.id, group[0].id)
            if not any(one.id in known for one in group):
                gains.new.add(name)
            said_by |= {_words(case.id, one): (name, True) for one in group if one.id not in known}
        wrong = (one for one in case.rejected if one.id not in known)
        said_by |= {_words(case.id, one): ((case.id, one.id), False) for one in wrong}
    for score in new.scores:
        groups = score.matching.groups if score.matching is not None else ()
        hit = {(score.case, group.group) for group in groups if group.hit} & gains.new
        gains.found.setdefault(score.system, set()).update(hit)
    for outcome in new.outcomes:
        for comment in outcome.review.comments if outcome.review is not None else ():
            if (found := said_by.get(_words(outcome.case, comment))) is not None:
                name, right = found
                gains.judged[outcome.system] = gains.judged.get(outcome.system, 0) + 1
                gains.accepted[outcome.system] = gains.accepted.get(outcome.system, 0) + right
                gains.own.setdefault(outcome.system, set()).add(name)
    return gains


def _words(case: str, comment: Comment) -> tuple[str, object]:
    return case, (comment.body, comment.span)


def _bias(systems: Sequence[SystemVersions]) -> Iterator[str]:
    """What the pool does to the comparison of systems, said once."""
    if not any(one.judged for one in systems):
        return
    counts = ", ".join(f"{one.system} {one.accepted} of {one.judged}" for one in systems)
    yield (
        "a system gains by its own comments that people judged and accepted, and others do not have that chance: "
        f"{counts} (accepted of judged)"
    )
    if left := [one.system for one in systems if not one.judged]:
        yield f"no comment of {', '.join(left)} was judged: pool {'its' if len(left) == 1 else 'their'} runs too"
