"""The verdict: what a run says in a few plain sentences to somebody who must choose. Its words are in verdict.toml.

It asks the leaderboard and its comparisons, and counts nothing but what reviews cost, which they do not have.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from reviewgauge.analysis.compare.caveats import own_findings
from reviewgauge.analysis.stats.power import clusters_to_find
from reviewgauge.core.reports.leaderboard import Comparison, ComparisonTable, Estimate, Leaderboard, SystemSummary
from reviewgauge.engine.run.kept import kept
from reviewgauge.engine.run.scored_run import ScoredRun
from reviewgauge.views import figures
from reviewgauge.views.comparisons import found, p_of
from reviewgauge.views.leaderboard import caveats, contenders, joined, text_name
from reviewgauge.views.verdict_facts import cost_sentence, misses_sentence, noise_sentence, say

MOST_OWN = 0.1  # of the findings are comments of the systems, and who leads may still be taken
MOST_CHANGES = 100_000  # more than anybody reviews are no advice


@dataclass(frozen=True)
class Verdict:
    """Short texts, each empty where the run has nothing to say of it."""

    lead: str
    recommendation: str
    misses: str = ""
    noise: str = ""
    cost: str = ""
    caveat: str = ""
    short: str = ""  # whether the lead is sure

    @property
    def beside_answer(self) -> tuple[str, ...]:
        """What stands beside the answer and the warnings of a leaderboard without repeating them."""
        return tuple(filter(None, (self.recommendation, self.misses, self.noise, self.cost)))


def verdict(run: ScoredRun, board: Leaderboard, table: ComparisonTable | None = None) -> Verdict:
    """The verdict on a run. `board` and `table` are its leaderboard and the comparisons of its leader with the others.

    What is missed is told where the board has slices by category, type or severity.
    """
    measured = [s for s in board.systems if figures.defined(_headline(board, s).value)]
    ranked = contenders(measured)
    if ranked:
        low = [s for s in measured if s.baseline]
        best = [s for s in low if _headline(board, s).value == _headline(board, low[0]).value]
        sign = -1 if board.headline in run.metric.lower_is_better else 1
        wrote = kept(own_findings, run)
        own = wrote[""] < (1 - MOST_OWN) * sum(wrote.values())
        choice = _Choice(board, table, sign, ranked, best, own)
        short, lead, advice = choice.sentences()
        short += say("short", "own") if own else ""
        noise = noise_sentence(ranked, [gap.other.system for gap in choice.gaps if gap.tied])
    else:
        only = board.systems and all(s.baseline for s in board.systems)
        names = joined(board.systems, "and") if board.systems else ""
        key = "baselines" if only else "undefined" if board.systems else "nothing"
        lead = say("lead", key, systems=names, measure=figures.label(board.headline))
        short = advice = noise = ""
    return Verdict(
        lead,
        advice,
        misses=misses_sentence(board, ranked) if ranked else "",
        noise=noise,
        cost=cost_sentence(run, [s for s in board.systems if not s.baseline]),
        caveat=next((line.removeprefix("! ") for line in caveats(board)), ""),
        short=short,
    )


def _headline(board: Leaderboard, system: SystemSummary) -> Estimate:
    return figures.estimate(system, board.headline)


# --- who leads, and what to do -------------------------------------------------------------------------------------


class _Gap(NamedTuple):
    """The leader and another system: how they compare, without a test where none was made, and how far it is ahead."""

    other: SystemSummary
    c: Comparison
    ahead: float

    @property
    def sure(self) -> bool:
        return found(self.c) and self.ahead > 0

    @property
    def tied(self) -> bool:
        """Whether a test did not tell it from the leader."""
        return bool(self.c.test) and not self.sure


@dataclass(frozen=True)
class _Choice:
    """What the first two sentences are made from. `sign` is -1 where less is better; `bases` are the best baselines."""

    board: Leaderboard
    table: ComparisonTable | None
    sign: int
    ranked: Sequence[SystemSummary]
    bases: Sequence[SystemSummary]
    own: bool  # too many findings are comments of the systems

    @cached_property
    def gaps(self) -> Sequence[_Gap]:
        """The leader and each of the others."""
        return [self._gap(other) for other in self.ranked[1:]]

    def sentences(self) -> tuple[str, str, str]:
        """Whether the lead is sure in a word or two, the lead and the recommendation."""
        top, lows, gaps = self.ranked[0], [self._gap(base) for base in self.bases], self.gaps
        low = min(lows, key=lambda gap: gap.sure, default=None)  # of equal ones that which it is not surely ahead of
        if low is not None and not low.sure and (low.c.test or low.ahead <= 0):
            key, advice = ("not_surely", "more") if low.ahead > 0 else ("not_above", "reject")
            return say("short", key), self._told(key, low), self._advice(advice, low)
        if gaps:
            return self._among(gaps)
        if low is not None and low.sure:
            return say("short", "one"), self._told("one_above", low), self._advice("another", low)
        e = _headline(self.board, top)
        shown = f"{figures.label(self.board.headline)} {figures.number(e.value, e.unit)}"
        shown = f"{shown} {figures.interval(e.low, e.high, e.unit)}".rstrip()
        lead = say("lead", "one", top=text_name(top), figures=shown, changes=figures.counted(e.n, "change"))
        return say("short", "one"), lead, say("recommendation", "fake" if top.fake else "another")

    def _among(self, gaps: Sequence[_Gap]) -> tuple[str, str, str]:
        """The same where several systems are no baselines."""
        sure, tied = [gap for gap in gaps if gap.sure], [gap for gap in gaps if gap.tied]
        behind = next((gap for gap in tied if found(gap.c)), None)
        first = behind or [*tied, *sure, *gaps][0]
        others, systems = (joined([gap.other for gap in own], "and") if own else "" for own in (sure, tied))
        worst = [gap.c.worst for gap in sure if gap.c.worst is not None]
        if behind or not (sure or tied):
            key = advice = "behind" if behind else "untested"
        elif tied:
            key, advice = "apart" if len(tied) == 1 else "all_apart", "more"
        elif any(self.sign * value <= 0 for value in worst):
            key, advice = "unless_failed", "mend"
        else:
            key, advice = "sure_of_all" if len(sure) == len(gaps) > 1 else "sure", "take"
        beaten = say("lead", "beaten", top=text_name(self.ranked[0]), others=others) if others else ""
        told = self._told(key, first, others=others, tied=systems, beaten=beaten, count=len(sure))
        return say("short", key, count=len(tied)), told, self._advice(advice, first, len(tied) + 1)

    def _gap(self, other: SystemSummary) -> _Gap:
        top, measure = self.ranked[0], self.board.headline
        made = self.table.comparisons if self.table else ()
        pair = measure, top.system, other.system
        c = next((c for c in made if (c.measure, c.first, c.second) == pair), None)
        if c is None:
            one, two = (_headline(self.board, s) for s in (top, other))
            c = Comparison(
                measure=measure,
                first=top.system,
                second=other.system,
                first_value=one.value,
                second_value=two.value,
                difference=(one.value or 0.0) - (two.value or 0.0),
                **dict.fromkeys(("low", "high", "p", "p_holm", "detectable")),
                test="",
                n=one.n,
                clusters=one.clusters,
                unit=one.unit,
            )
        return _Gap(other, c, self.sign * (c.difference or 0.0))

    def _told(self, key: str, gap: _Gap, **more: object) -> str:
        c, p = gap.c, p_of(gap.c)
        first, second = (figures.number(value, c.unit) for value in (c.first_value, c.second_value))
        size = f"{figures.signed(c.difference, c.unit)} {figures.interval(c.low, c.high, c.unit)}".rstrip()
        shown = f"{figures.label(c.measure)} {first} against {second}, {size}"
        shown += f", {figures.p_clause(p)}" if p is not None else ""
        names = {"top": text_name(self.ranked[0]), "other": text_name(gap.other)}
        return say("lead", key, **names, **more, figures=shown, changes=figures.counted(c.n, "change"))

    def _advice(self, key: str, gap: _Gap, tied: int = 0) -> str:
        """For "more", how many changes would show a difference as large as the one seen, by the formula of `plan`."""
        c, more = gap.c, 0.0
        if key == "more":
            key = "none_of_all" if tied > 2 else "none"
            if c.difference and c.detectable:
                needed = clusters_to_find(c.difference, c.detectable, c.clusters)
                more = (needed - c.clusters) * c.n / c.clusters
                key = "edge" if more <= 0 else "more" if more < MOST_CHANGES else key
        key = "own" if key == "take" and self.own else key
        key = "fake" if self.ranked[0].fake or gap.other.fake else key
        about = f"{float(f'{math.ceil(more):.2g}'):,.0f}"  # two digits: it is an estimate
        size = figures.number(abs(c.difference or 0.0), c.unit)
        names = {"top": text_name(self.ranked[0]), "other": text_name(gap.other)}
        return say("recommendation", key, **names, more=about, difference=size, count=tied)
