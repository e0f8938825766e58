"""Flaws and probes of a benchmark of injected defects: only who knows the defects may tell them from their twins."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from reviewgauge.analysis.doctor import probe_checks as checks
from reviewgauge.analysis.doctor.trials import Trial
from reviewgauge.analysis.stats.bootstrap import (
    Interval,
    Resampler,
    cluster_cases,
    percentile_interval,
    resampled_measures,
    sum_by_cluster,
)
from reviewgauge.core.protocols import Metric
from reviewgauge.core.records import ARM, PAIR, Arm, Case, Change, Comment, Review, Span
from reviewgauge.core.reports.doctor import ProbeCheck
from reviewgauge.engine import probes
from reviewgauge.metrics.twins import planted
from reviewgauge.repo.diff.diffs import DiffLine, parse_patch

_MANY = 8  # hosts; in fewer the twin may come first by chance


class TwinFlaw(NamedTuple):
    """An error of such a benchmark."""

    rule: str
    case: str
    message: str


def twin_flaws(cases: Sequence[Case]) -> Iterator[TwinFlaw]:
    """What gives the defects away, or leaves one without its twin; nothing for other benchmarks."""
    hosts: dict[tuple[str, object], list[Case]] = defaultdict(list)
    for case in cases:
        if ARM in case.facts:
            hosts[case.change.repo, case.facts.get(PAIR)].append(case)
    for own in hosts.values():
        yield from _incomplete(own)
        yield from _visible(own)
        yield from _named(own)
        for case in own:
            yield from _broken_hunks(case)
    yield from _in_order(list(hosts.values()))


def _incomplete(own: Sequence[Case]) -> Iterator[TwinFlaw]:
    arms = Counter(str(case.facts[ARM]) for case in own)
    if arms[Arm.TWIN] != 1 or not arms[Arm.DEFECT]:
        found = ", ".join(f"{count} {arm}" for arm, count in sorted(arms.items()))
        message = f"its host has {found}: a d′ needs one twin, and a defect or more"
        yield TwinFlaw("pair_incomplete", own[0].id, message)


def _named(own: Sequence[Case]) -> Iterator[TwinFlaw]:
    """An arm that its id or commit names; a word that those of all arms hold is the repository's."""
    names = [f"{case.id} {case.change.head or ''}".lower() for case in own]
    for case, name in zip(own, names, strict=True):
        arm = str(case.facts[ARM])
        if arm in name and not all(arm in other for other in names):
            yield TwinFlaw("arm_in_name", case.id, f"its id or commit says {arm!r}, which a reviewer may read")


def _visible(own: Sequence[Case]) -> Iterator[TwinFlaw]:
    """Any field of a change that differs on the arms of one host, beside its code."""
    first = own[0]
    for case in own[1:]:
        one, other = (_fields(each.change) for each in (first, case))
        if odd := [name for name in one if one[name] != other[name]]:
            message = f"{', '.join(odd)} differs from {first.id}: a reviewer could tell a defect from its twin by it"
            yield TwinFlaw("arm_shows", case.id, message)


def _fields(change: Change) -> dict[str, object]:
    fields = {name: getattr(change, name) for name in ("title", "description", "issues", "task", "url", "base")}
    files = [(file.path, file.old_path, file.status, file.binary, file.patch is None) for file in change.files]
    return fields | {"files": files, "head": change.head is None, "snippets": len(change.snippets)}


def _broken_hunks(case: Case) -> Iterator[TwinFlaw]:
    for file in case.change.files:
        if not file.patch:
            continue
        hunks = parse_patch(file.patch)
        short = [
            hunk
            for hunk in hunks
            if sum(line.kind != "-" for line in hunk.lines) != hunk.new_count
            or sum(line.kind != "+" for line in hunk.lines) != hunk.old_count
        ]
        if short or not hunks:
            where = f"{file.path}: {short[0].header}" if short else f"{file.path} has none"
            yield TwinFlaw("broken_hunk", case.id, f"a hunk does not hold the lines that it counts ({where})")


def _in_order(hosts: Sequence[Sequence[Case]]) -> Iterator[TwinFlaw]:
    """One arm that always comes first, or last, of its host."""
    if len(hosts) < _MANY:
        return
    for end, word in ((0, "first"), (-1, "last")):
        arms = {str(own[end].facts[ARM]) for own in hosts}
        if len(arms) == 1:
            yield TwinFlaw("arm_by_order", hosts[0][end].id, f"the {arms.pop()} always comes {word} of its host")


D_PRIME, BY_LINE = "d_prime", "line_d_prime"
FAR = 1.0  # the least d′ of who knows every defect
_NEAR = 0.1  # a d′ this small is none, however narrow its interval
_RESAMPLES = 1_000


def examine_twins(metric: Metric, cases: Sequence[Case]) -> list[ProbeCheck]:
    """The checks of `twins` on these cases."""
    known = [case for case in cases if case.facts.get(ARM) in list(Arm)]
    trials = {name: Trial(metric, [(case, probe(case)) for case in known]) for name, probe in _PROBES.items()}
    oracle = trials["oracle"]
    if not oracle.answers and not oracle.failures:
        return [checks.untried("the probes", "to run", "the metric applies to none of these cases")]
    found = [checks.no_failure(list(trials.values())), checks.in_range(list(trials.values()), metric), _far(oracle)]
    blind = [(name, trial) for name, trial in trials.items() if name != "oracle"]
    return [*found, *(_near(name, trial, measure) for name, trial in blind for measure in _measures(name))]


def _everywhere(case: Case) -> Review:
    """What is wrong with a defect, on the defect and on its twin alike."""
    return _review(case, [(one.body, one.span) for one in _first(case)])


def _wordless(case: Case) -> Review:
    """Empty words on the planted lines of either."""
    return _review(case, [(probes.PARROT, one.span) for one in _first(case)])


def _oracle(case: Case) -> Review:
    """What is wrong, on the defect alone."""
    return _everywhere(case) if case.facts[ARM] == Arm.DEFECT else _review(case, [])


def _surface(trait: Callable[[str], float]) -> probes.Probe:
    """The added line of a change that stands out the most by how it looks."""

    def probe(case: Case) -> Review:
        lines = [(path, line) for path, line in _added(case) if line.text.strip()]
        place = max(lines, key=lambda one: trait(one[1].text.strip()), default=None)
        where = [] if place is None else [Span(path=place[0], start=place[1].new)]
        return _review(case, [("This stands out: is it what was meant?", span) for span in where])

    return probe


def _signs(text: str) -> float:
    return sum(not (c.isalnum() or c.isspace()) for c in text) / len(text)


def _added(case: Case) -> Iterator[tuple[str, DiffLine]]:
    for file in case.change.files:
        for hunk in parse_patch(file.patch or ""):
            yield from ((file.path, line) for line in hunk.lines if line.kind == "+")


def _first(case: Case) -> list[Comment]:
    return [place[0] for place in planted(case)]


def _review(case: Case, told: Sequence[tuple[str, Span | None]]) -> Review:
    said = [Comment(id=f"c{n}", body=body, span=span) for n, (body, span) in enumerate(told)]
    return probes.review_of(case, "probe", said)


_PROBES: Mapping[str, probes.Probe] = {
    "oracle": _oracle,
    "silence": probes.silent,
    "parrot": probes.parrot,
    "the change, told back": probes.restating,
    "empty words on the planted lines": _wordless,
    "the finding on defect and twin": _everywhere,
    "the shortest added line": _surface(lambda text: -len(text)),
    "the longest added line": _surface(len),
    "the added line with most signs": _surface(_signs),
}


def _measures(name: str) -> tuple[str, ...]:
    return (BY_LINE,) if "added line" in name or "empty words" in name else (D_PRIME,)


def _far(oracle: Trial) -> ProbeCheck:
    value, interval = _interval(oracle, D_PRIME)
    if value is None:
        return checks.untried("oracle: d′", f"above {FAR:g}", "it needs defects and twins")
    holds = value > FAR and (interval.low is None or interval.low > 0)
    return ProbeCheck(name="oracle: d′", expected=f"above {FAR:g}", found=_shown(value, interval), ok=holds)


def _near(name: str, trial: Trial, measure: str) -> ProbeCheck:
    """Who does not look at the difference has a d′ of 0, within its interval."""
    value, interval = _interval(trial, measure)
    title = f"{name}: {'d′ by line' if measure == BY_LINE else 'd′'}"
    if value is None:
        return checks.untried(title, "0", "it needs defects and twins")
    holds = abs(value) <= _NEAR or (
        interval.low is not None and interval.high is not None and interval.low <= 0 <= interval.high
    )
    return ProbeCheck(name=title, expected="0, within its interval", found=_shown(value, interval), ok=holds)


def _shown(value: float, interval: Interval) -> str:
    ends = "" if interval.low is None or interval.high is None else f" [{interval.low:.2f}, {interval.high:.2f}]"
    return f"{value:.2f}{ends}"


def _interval(trial: Trial, measure: str) -> tuple[float | None, Interval]:
    """A measure and its interval, hosts resampled whole."""
    names = list(trial.parts)
    rows = np.array([[[one.measured.parts.get(name, 0.0) for name in names] for one in trial.answers]])
    clusters = cluster_cases([one.case for one in trial.answers], np.ones(len(trial.answers), dtype=np.bool_))
    sizes = sum_by_cluster(np.ones((1, len(trial.answers), 1)), clusters)[:, :, 0]
    resampler = Resampler(clusters.count, _RESAMPLES, 0)
    drawn = resampled_measures(trial.metric, names, sum_by_cluster(rows, clusters), sizes, resampler)
    return trial.value(measure), percentile_interval(drawn.of(measure, 0))
