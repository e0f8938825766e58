"""Warnings for the figures of a run: systems not measured, a judge of a system's own family, a cascade.

What a cascade of judges costs and loses against asking its second judge about every pair is read from one run, scored
twice: `hits(judge="cascade(then='openai:gpt-5')")` and `hits(judge="openai:gpt-5")`. The answers that both need are
cached, so the second scoring pays for the rest only.

Why the family matters: Panickssery et al. 2024, LLM Evaluators Recognize and Favor Their Own Generations,
arXiv:2404.13076.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from reviewgauge.analysis.stats.agreement import COHEN, Resampling, agree
from reviewgauge.analysis.stats.bootstrap import Resampler
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.records import Case, Origin
from reviewgauge.core.reports.validity import Figure
from reviewgauge.core.results import Score
from reviewgauge.core.specs import load_recorded, short_spec, signature
from reviewgauge.engine.run.scored_run import ScoredRun
from reviewgauge.judges.cascade import Cascade
from reviewgauge.judges.pairs.asking import judge_of
from reviewgauge.metrics.hits import Hits
from reviewgauge.models.request.model_spec import PROVIDERS, family
from reviewgauge.stages.sampling.label_checks import CLEAN_FACT, LABELS_FACT, people_found

Key = tuple[str, str, int]
RESAMPLES = 1_000


class CascadeLoss(NamedTuple):
    """A cascade beside its second judge alone, over the decisions "this review hits this finding".

    `kappa` has an interval by change. `differs` counts the decisions that differ.
    """

    decisions: int
    kappa: Figure
    differs: int


def cascade_loss(cascade: Sequence[Score], everything: Sequence[Score]) -> CascadeLoss:
    """Compare the scores of a cascade with those of its second judge. Raises UserError where none are in common."""
    one, other = _by_key(cascade), _by_key(everything)
    common = sorted(one.keys() & other.keys())
    if not common:
        raise UserError(
            "the two metrics measured no review in common", remedy="score one run with hits under both judges"
        )
    rows = [
        (key[0], hit, other[key][group])
        for key in common
        for group, hit in sorted(one[key].items())
        if group in other[key]
    ]
    differs = sum(a != b for _, a, b in rows)
    if not rows:
        return CascadeLoss(0, Figure(value=None, n=0, reason="no finding was decided on by both"), 0)
    names, cluster = np.unique([case for case, _, _ in rows], return_inverse=True)
    values = np.array([[a, b] for _, a, b in rows], dtype=np.float64).T
    resampling = Resampling(cluster.reshape(-1), Resampler(names.size, RESAMPLES, 0))
    return CascadeLoss(len(rows), agree(values, COHEN, resampling=resampling), differs)


def _by_key(scores: Sequence[Score]) -> dict[Key, dict[str, bool]]:
    """Measured review -> whether it hits each finding."""
    return {
        (s.case, s.system, s.attempt): {group.group: group.hit for group in s.matching.groups}
        for s in scores
        if s.matching is not None and s.parts is not None
    }


def share_asked(scores: Sequence[Score]) -> str:
    """One line on what a cascade asked and saved, from its own scores; empty where it asked about every pair.

    What the other pairs would have cost is an estimate: as many calls and dollars a pair as those that were asked.
    """
    asked = pairs = 0.0
    for score in scores:
        asked += (score.parts or {}).get("asked", 0.0)
        pairs += (score.parts or {}).get("pairs", 0.0)
    if asked >= pairs:
        return ""
    line = f"asked about {asked:,.0f} of {pairs:,.0f} pairs ({asked / pairs:.1%})"
    calls, dollars = sum(score.usage.calls for score in scores), _dollars(scores)
    if not asked or not calls:
        return line
    more = (pairs - asked) / asked
    money = f" and ${dollars * more:,.2f}" if dollars else ""
    return f"{line}; the others would have taken about {calls * more:,.0f} calls{money} more"


def cascade_notes(metric: Metric, scores: Sequence[Score], others: Mapping[str, Sequence[Score]]) -> list[str]:
    """What must be lines beside the figures of a metric whose judge asks about some pairs only.

    `others`: the scores of the same reviews by each metric's signature. Where one of them asked the same judge about
    everything, what the cascade lost against it is lines too.
    """
    lines = [share_asked(scores)]
    if isinstance(metric, Hits) and isinstance(cascade := judge_of(metric.judge), Cascade):
        for name, theirs in others.items():
            if name.startswith("hits(") and name != signature(metric) and _asks_about_everything(name, metric, cascade):
                lines.append(_lost(cascade_loss(scores, theirs), short_spec(load_recorded(Metric, name))))
    return [line for line in lines if line]


def _asks_about_everything(name: str, metric: Hits, cascade: Cascade) -> bool:
    """Whether a metric is the same but for its judge, which is the cascade's second one."""
    try:
        other = load_recorded(Metric, name)
    except UserError:  # code outside the package that the user did not name
        return False
    if not isinstance(other, Hits) or replace(other, judge=metric.judge) != metric:
        return False
    return judge_of(other.judge) == cascade.judges[1]


def _lost(loss: CascadeLoss, name: str) -> str:
    differs = f"{loss.differs} of {loss.decisions:,} findings are decided otherwise"
    kappa = loss.kappa
    if kappa.value is None:
        return f"against {name}, {differs}"
    interval = f" [{kappa.low:.3f}, {kappa.high:.3f}]" if kappa.low is not None and kappa.high is not None else ""
    return f"kappa {kappa.value:.3f}{interval} with {name}: {differs}"


def _dollars(scores: Sequence[Score]) -> float | None:
    """What the calls cost; None as soon as the price of one is not known. Without calls, nothing."""
    costs = [score.usage.dollars for score in scores if score.usage.calls]
    known = [cost for cost in costs if cost is not None]
    return round(math.fsum(known), 10) if len(known) == len(costs) else None


_SPEC = re.compile(rf"\b(?:{'|'.join(PROVIDERS)}):[^\s'\"`,;()\\]+")
_NAMED = re.compile(
    r"(?:chatgpt|gpt|codex|claude|gemini|qwen|deepseek|llama|mistral|grok|kimi)(?![a-z])", re.IGNORECASE
)


def caveats(run: ScoredRun) -> list[str]:
    """The warnings to show wherever the scores of `run` are shown."""
    found = []
    if run.unscored:
        more = f" and {len(run.unscored) - 8} more" if len(run.unscored) > 8 else ""
        shown = ", ".join(run.unscored[:8]) + more
        found = [f"reviewed but not measured with {short_spec(run.metric)}, so not shown: {shown} (reviewgauge score)"]
    by_fix = False
    checked: dict[str, Case] = {}
    for case in run.cases:
        by_fix = by_fix or any(one.origin is Origin.FIX for one in case.references)
        for fact in _CHECKED:
            if fact in case.facts:
                checked.setdefault(fact, case)
    if by_fix:
        found.append("the references are messages of later fixes, which seldom say what was wrong: much stays unsure")
    found += judged_by_own_family(run.metric.models, {name: run.reviewers.get(name, ()) for name in run.systems})
    return found + cascade_notes(run.metric, run.scores, run.by_metric) + checked_by_people(list(checked.values()))


_CHECKED = {LABELS_FACT: "labels", CLEAN_FACT: "clean changes"}


def checked_by_people(cases: Sequence[Case]) -> list[str]:
    """One line on how many of the drawn labels and clean changes hold, where people checked them in the build."""
    parts = []
    for fact, name in _CHECKED.items():
        if found := people_found(cases, fact):
            low, high = (round(100 * end) for end in found.ends[1:])
            parts.append(f"{name}: {found.words} checked hold, {low}-{high}%")
    return ["; ".join(parts)] if parts else []


def judged_by_own_family(judges: Sequence[str], systems: Mapping[str, Sequence[str]]) -> list[str]:
    """One line for each model family that both judged and was judged.

    `judges`: the specs of the models that a metric asks. `systems`: what is known of what made each system's reviews,
    by its name: the reviewer's signature, its pins. A system whose name begins with that of a model counts too.
    """
    judging = {family(judge): judge for judge in reversed(judges)}
    judged: dict[str, list[str]] = {}
    for system, texts in systems.items():
        for one in dict.fromkeys(families_in(system, texts)):
            if one in judging:
                judged.setdefault(one, []).append(system)
    return [
        f"judged by a model of its own family ({one}: {judging[one]}), which may prefer it: {', '.join(names)}"
        for one, names in judged.items()
    ]


def families_in(system: str, texts: Sequence[str]) -> list[str]:
    """The families of the models that a system's name and what is known of it name."""
    named = _NAMED.match(system)
    found = [family(named[0].lower())] if named else []
    for spec in (spec for text in (system, *texts) for spec in _SPEC.findall(text)):
        try:
            found.append(family(spec))
        except UserError:  # only looks like a model
            continue
    return found
