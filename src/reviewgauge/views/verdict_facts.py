"""What the sentences of a verdict say of the leader: what it misses, what it says in vain, and what reviews cost."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import NamedTuple

from reviewgauge.analysis.compare.slices import FEWEST
from reviewgauge.analysis.costs import ReviewCost, costs_of
from reviewgauge.core.reports.leaderboard import Estimate, Leaderboard, SystemSummary
from reviewgauge.core.results import NOT_STATED
from reviewgauge.engine.run.kept import kept
from reviewgauge.engine.run.scored_run import ScoredRun
from reviewgauge.models.request.budget import money
from reviewgauge.views import figures
from reviewgauge.views.leaderboard import joined, text_name

_WORDS = tomllib.loads(files(__package__).joinpath("verdict.toml").read_text("utf-8"))
MOST_COSTS = 6  # systems whose cost is told
_FOUND = {"recall": ("references", "hit"), "sensitivity": ("defects", "found")}  # parts: of how many, how many
_VAIN = {  # by the part that tells the metrics apart; parts: said in vain, of how many, hits; the measure of the share
    "comments": ("false", "changes", "hit", "noise"),
    "predicted": ("false", "changes", "hit", "precision"),
    "twins": ("alarms", "twins", "found", "false_alarm"),
}


def say(group: str, key: str, **values: object) -> str:
    """One of the sentences of verdict.toml, or a part of one."""
    return str(_WORDS[group][key].format(**values))


def _share(e: Estimate, *, of_rest: bool = False) -> str:
    """`60% [39, 78]`; `of_rest` for what the estimate does not count."""
    low, value, high = (
        None if end is None or not figures.defined(end) else 100 * (1 - end if of_rest else end)
        for end in (e.low, e.value, e.high)
    )
    if value is None:
        return figures.UNDEFINED
    return f"{value:.0f}%" + ("" if low is None or high is None else f" [{min(low, high):.0f}, {max(low, high):.0f}]")


class _Told(NamedTuple):
    """Of `n` findings of one kind, how many a system found."""

    system: SystemSummary
    n: float
    found: float
    e: Estimate

    @property
    def rate(self) -> float:
        return self.e.value or 0.0


MISSED_BY = tuple(_WORDS["misses"]["kinds"])  # the slices that it speaks of


def misses_sentence(board: Leaderboard, ranked: Sequence[SystemSummary]) -> str:
    """Of each fact of the findings, the kind of which the leader finds the smallest share, and who finds most."""
    parts, rare, order, counted = [], 0, [s.system for s in ranked], ""
    for fact, words in _WORDS["misses"]["kinds"].items():
        kinds = []
        for piece in board.slices:
            rows = sorted((s for s in piece.systems if s.system in order), key=lambda s: order.index(s.system))
            told = [one for one in map(_told, rows) if one is not None]
            if piece.fact != fact or not piece.facet or piece.value == NOT_STATED:
                continue
            if piece.n >= FEWEST and told and told[0].system.system == order[0]:
                kinds.append((piece.value, told))
            else:
                rare += 1
        if not kinds:
            continue
        value, (top, *others) = min(kinds, key=lambda kind: (kind[1][0].rate, -kind[1][0].n))
        if top.n - top.found >= 1:
            missed, n = figures.count(top.n - top.found), figures.count(top.n)
            shares = {"share": _share(top.e, of_rest=True), "who": _who(top, others)}
            if board.estimate_note and any(one.found % 1 for one in (top, *others)):
                counted = say("misses", "by_probability")
            parts.append(say("misses", "part", kind=words.format(value=value), missed=missed, n=n, **shares))
    said = say("misses", "sentence", top=text_name(ranked[0]), counted=counted, parts="; ".join(parts)) if parts else ""
    left = say("misses", "rare", kinds=figures.counted(rare, "kind"), fewest=FEWEST) if said and rare else ""
    return f"{said}{left}"


def _told(system: SystemSummary) -> _Told | None:
    for measure, (of, told) in _FOUND.items():
        e, n = system.estimate(measure), system.parts.get(of, 0.0)
        if e is not None and figures.defined(e.value) and n >= FEWEST:
            return _Told(system, n, system.parts.get(told, 0.0), e)
    return None


def _who(top: _Told, others: Sequence[_Told]) -> str:
    """Who finds most of these."""
    best = max(others, key=lambda one: one.rate, default=top)
    if best.rate <= top.rate:
        return say("misses", "nobody") if others else ""
    numbers = {"found": figures.count(best.found), "n": figures.count(best.n), "share": _share(best.e)}
    return say("misses", "other", other=text_name(best.system), **numbers)


def noise_sentence(ranked: Sequence[SystemSummary], tied: Sequence[str] = ()) -> str:
    """What the leader says in vain, and the quietest of those tied with it, or of the others where it is sure."""
    for kind, (wrong, per, hits, measure) in _VAIN.items():
        fitting = [s for s in ranked if {kind, wrong, hits} <= s.parts.keys() and s.parts.get(per)]
        if ranked[0] in fitting and ranked[0].estimate(measure) is not None:
            others = [s for s in fitting[1:] if not tied or s.system in tied]
            told = [_vain(kind, ranked[0], kind)]
            if others:
                quiet = min(others if not tied else (ranked[0], *others), key=lambda s: s.parts[wrong] / s.parts[per])
                told.append(
                    _vain("tied" if tied else "next", quiet, kind) if quiet is not ranked[0] else say("noise", "least")
                )
            return f"{'; '.join(told)}."
    return ""


def _vain(words: str, system: SystemSummary, kind: str) -> str:
    parts, (wrong, per, hits, measure) = system.parts, _VAIN[kind]
    n, hit, clean = figures.count(parts[per]), parts[hits], parts.get("clean")
    left = per_hit = ""
    if hit >= 0.5:
        per_hit = say("noise", "per_hit", each=figures.number(parts[wrong] / hit, ""))
    if clean:
        share = _share(figures.estimate(system, "clean_left_alone"))
        left = say("noise", "clean", quiet=figures.count(parts["clean_quiet"]), n=figures.count(clean), share=share)
    return say(
        "noise",
        words,
        system=text_name(system),
        often=f"{figures.count(parts[wrong])} of {n}"
        if kind == "twins"
        else figures.number(parts[wrong] / parts[per], ""),
        share=_share(figures.estimate(system, measure), of_rest=measure == "precision"),
        n=n,
        hits=per_hit or say("noise", "no_hit"),
        clean=left,
    )


def cost_sentence(run: ScoredRun, systems: Sequence[SystemSummary]) -> str:
    """Dollars and seconds of a review by each system, and of whom nothing was recorded."""
    costs = kept(costs_of, run)
    priced = [(s, list(_priced(run, s.system, costs.get(s.system, ReviewCost())))) for s in systems]
    known, unknown = [(s, told) for s, told in priced if told], [s for s, told in priced if not told]
    parts = [
        say("cost", "known", system=text_name(s), parts=" and ".join(told), n=f"{costs[s.system].reviews:,}")
        for s, told in known[:MOST_COSTS]
    ]
    if len(known) > MOST_COSTS:
        parts.append(say("cost", "more", count=len(known) - MOST_COSTS))
    if unknown:
        parts.append(say("cost", "unknown" if known else "nobody", systems=joined(unknown, "and")))
    return f"{'; '.join(parts)}." if parts else ""


def _priced(run: ScoredRun, system: str, cost: ReviewCost) -> Iterator[str]:
    by = run.reviewers.get(system)
    if cost.dollars is not None:
        yield say("cost", "fake" if cost.fake else "dollars", dollars=money(cost.dollars))
    elif cost.asks:
        yield say("cost", "unpriced")
    elif cost.reviews and by is not None and by.reviewer is not None and not by.reviewer.models:
        yield say("cost", "free")
    if cost.seconds > 0:
        yield say("cost", "seconds", seconds=f"{cost.seconds:,.0f}" if cost.seconds >= 10 else f"{cost.seconds:.2g}")
