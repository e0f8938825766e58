"""`reviewgauge gate`: may this candidate replace the baseline?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from reviewgauge.analysis.compare.gate import gate as compare_with_baseline
from reviewgauge.analysis.compare.gate import overall
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.reports.gate import Gate
from reviewgauge.core.specs import names, names_class, short_spec
from reviewgauge.engine.run.scored_run import ScoredRun, read_scored_runs
from reviewgauge.repo.forge.commenting import post_comment


def gate(
    run: str | Path,
    *,
    baseline: str | Path | None = None,
    metric: str | Sequence[str] = "",
    margin: float | Sequence[float],
    system: str = "",
    against: str = "",
    resamples: int = 10_000,
    seed: int = 0,
) -> Gate:
    """Whether the system of `run` is at most `margin` worse than that of `baseline`.

    `metric` is a metric spec with the measure after a dot (`hits.f1`, `hits(policy="any").recall`); the measure may
    be left out, and the metric where the runs were scored with one alone. Several have a margin each. `system` and
    `against` name the two where a run holds several; without `baseline` both are systems of `run`.
    """
    words = [metric] if isinstance(metric, str) else list(metric) or [""]
    margins = list(margin) if isinstance(margin, Sequence) else [margin]
    if len(words) != len(margins):
        raise UserError(
            f"{len(words)} --metric and {len(margins)} --margin given", remedy="give each --metric its --margin"
        )
    if baseline is None and not against:
        raise UserError(
            "no baseline given", remedy="name a run with --baseline, or a system of this run with --against"
        )
    wanted: dict[str, dict[str, float]] = {}
    for word, size in zip(words, margins, strict=True):
        spec, measure = split_measure(word)
        wanted.setdefault(spec, {})[measure] = size
    found = []
    for spec, own in wanted.items():
        scored = _read_one([run] if baseline is None else [run, baseline], spec)
        new = _choose(scored.systems_in[0], system, "--system", run)
        old = _choose(scored.systems_in[-1], against, "--against", baseline or run)
        made = compare_with_baseline(scored, candidate=new, baseline=old, margins=own, resamples=resamples, seed=seed)
        found.append(made)
    checks = tuple(check for one in found for check in one.checks)
    verdict, reason = overall(checks)
    notes = tuple(dict.fromkeys(warning for one in found for warning in one.warnings))
    return found[0].model_copy(update={"checks": checks, "verdict": verdict, "reason": reason, "warnings": notes})


def comment(text: str, name: str) -> str:
    """Post `text` as the comment `name` of this CI job's pull request; returns what was done, or why it was not."""
    try:
        return post_comment(text, name)
    except UserError as error:  # the verdict stands without it
        return f"not commented: {error}"


def split_measure(word: str) -> tuple[str, str]:
    """`hits.f1`, `mine.Brevity.words` as metric and measure; the dotted path of a class or module stays whole."""
    ends = re.fullmatch(r"(.+\))\.([A-Za-z0-9_.]+)", word, re.DOTALL)
    if ends:
        return ends[1], ends[2]
    name, dot, measure = word.partition(".")
    if dot and name in names("metrics"):
        return name, measure
    path, _, last = word.rpartition(".")
    return (path, last) if "." in path and names_class(Metric, path) and not names_class(Metric, word) else (word, "")


def _read_one(paths: Sequence[str | Path], spec: str) -> ScoredRun:
    entries = read_scored_runs(paths, spec or None)
    if len(entries) > 1:
        specs = ", ".join(short_spec(entry.metric) for entry in entries)
        raise UserError("the runs were scored with several metrics", remedy=f"name one with --metric: {specs}")
    return entries[0]


def _choose(systems: Mapping[str, str], wanted: str, option: str, run: str | Path) -> str:
    if wanted:
        if wanted not in systems:
            raise UserError(f"{run} holds no scored system {wanted!r}", remedy=f"there are: {', '.join(systems)}")
        return systems[wanted]
    if not systems:
        raise UserError(f"{run} was not scored with this metric", remedy=f"reviewgauge score {run}")
    if len(systems) > 1:
        raise UserError(f"{run} holds {len(systems)} systems", remedy=f"name one with {option}: {', '.join(systems)}")
    return next(iter(systems.values()))
