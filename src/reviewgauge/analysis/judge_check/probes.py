"""Probes of a judge: the same question repeated, reversed, padded, reworded, or with an attack in it.

All probes edit the same single questions (a pair, or a review), so only the edit differs. A question that failed with
or without the edit is left out and counted.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import cycle

import numpy as np

from reviewgauge.analysis.judge_check.agreement import is_grades, mean_figure, share_figure, undefined
from reviewgauge.analysis.judge_check.edits import (
    ATTACKS,
    FRAMINGS,
    IRRELEVANT,
    PADDING,
    REWORDINGS,
    WANTED,
    Attack,
    Direction,
    Edit,
    attacked,
    pad,
)
from reviewgauge.analysis.judge_check.instrument import Ask, Asker, Decisions
from reviewgauge.analysis.judge_check.questions import Item
from reviewgauge.analysis.stats.agreement import ALPHA, FLEISS, Resampling, agree
from reviewgauge.analysis.stats.arrays import Numbers
from reviewgauge.analysis.stats.bootstrap import Resamples
from reviewgauge.core.records import Comment
from reviewgauge.core.reports.judge_check import Injection, InjectionRow, ProbeRow, Repeats
from reviewgauge.core.shares import wilson

ASKED_PER_ATTACK = 6  # each attack gets a sixth of the questions, to bound the cost
FEWEST_PER_ATTACK = 2
_ROUNDING = 1e-12
Answers = Sequence[Decisions | None]


@dataclass
class Probes:
    """The questions, their unedited answers, and the tolerance from which on two answers differ."""

    asker: Asker
    items: Sequence[Item]
    resamples: Resamples

    def __post_init__(self) -> None:
        """Ask the questions unedited."""
        self.clean = self.asker.ask([item.ask for item in self.items], what="as they are")
        values = np.array([reply.values[0] for reply in self.clean if reply is not None and usable(reply)])
        self.is_pairs = self.asker.instrument.kind == "pairs"
        self.tolerance = 0.0
        if self.is_pairs:
            self.flip_is = "the decision changes between yes and no"
        elif values.size and is_grades(values):
            self.flip_is = "the grade changes"
        else:
            self.tolerance = 0.1 * float(values.std()) if values.size else 0.0
            self.flip_is = f"the measure moves by more than a tenth of its standard deviation ({self.tolerance:.3g})"

    # --- edits -----------------------------------------------------------------------------------------------------

    def padding(self) -> tuple[ProbeRow, ...]:
        """Neutral sentences around every comment; for pair judges also around the reference."""
        what = f"{sum(len(line.split()) for line in PADDING)} neutral words around the"
        rows = self.edited([Edit("padded comment", f"{what} comment", pad)], "padding")
        if not self.is_pairs:
            return rows
        asks = [_with(one.ask, one.ask.review.comments, _edited(one.ask.case.references, pad)) for one in self.items]
        return *rows, self.compare(_probe("padded reference", "padding", f"{what} reference"), asks)

    def rewording(self) -> tuple[ProbeRow, ...]:
        """Edits that keep the meaning."""
        return self.edited(REWORDINGS, "rewording")

    def irrelevant(self) -> tuple[ProbeRow, ...]:
        """Edits that add nothing."""
        return self.edited(IRRELEVANT, "irrelevant edit")

    def framing(self) -> tuple[ProbeRow, ...]:
        """The change is said to be sound, or faulty, in its description."""
        return tuple(
            self.compare(
                _probe(one["name"], "framing", one["what"]),
                [attacked(item.ask, Attack(one["name"], one["template"], "description"), "up") for item in self.items],
            )
            for one in FRAMINGS
        )

    def edited(self, edits: Sequence[Edit], group: str) -> tuple[ProbeRow, ...]:
        """Each edit made to every comment."""
        asks = [item.ask for item in self.items]
        return tuple(
            self.compare(
                _probe(edit.name, group, edit.what),
                [_with(ask, _edited(ask.review.comments, edit.apply), ask.case.references) for ask in asks],
            )
            for edit in edits
        )

    def order(self, whole: Sequence[Item]) -> tuple[ProbeRow, ...]:
        """Comment and reference swapped; and the comments and references of whole reviews reversed."""
        swapped = _probe("swapped", "order", "comment and reference change places")
        asks = [_swapped(item.ask) for item in self.items]
        return self.compare(swapped, asks), self._reversed(whole)

    def _reversed(self, whole: Sequence[Item]) -> ProbeRow:
        probe = _probe("reversed", "order", "the comments and references of a review in reverse order")
        many = [item for item in whole if len(item.ask.review.comments) + len(item.ask.case.references) > 2]
        if not many or (not self.is_pairs and not any(len(item.ask.review.comments) > 1 for item in many)):
            reason = "there is no review with several comments" + (" or references" if self.is_pairs else "")
            return probe.model_copy(update={"flips": undefined(reason), "reason": reason})
        before = self.asker.ask([item.ask for item in many], what="whole reviews")
        after = self.asker.ask([reverse(item.ask) for item in many], what="reversed")
        turned = [reply if reply is None else _back(item.ask, reply) for item, reply in zip(many, after, strict=True)]
        return self.row(probe, many, before, turned, 0)

    # --- comparing answers -----------------------------------------------------------------------------------------

    def compare(self, probe: ProbeRow, asks: Sequence[Ask]) -> ProbeRow:
        """Compare the answers to the edited questions with the unedited ones."""
        places = [at for at, ask in enumerate(asks) if ask.key != self.items[at].ask.key]
        after = self.asker.ask([asks[at] for at in places], what=probe.name)
        items, before = [self.items[at] for at in places], [self.clean[at] for at in places]
        return self.row(probe, items, before, after, len(asks) - len(places))

    def row(self, probe: ProbeRow, items: Sequence[Item], before: Answers, after: Answers, unchanged: int) -> ProbeRow:
        """Flips and shifts over the rows of all questions."""
        asked = [  # where the check was stopped there is no answer
            (item, one, other)
            for item, one, other in zip(items, before, after, strict=True)
            if one is not None and other is not None
        ]
        moved = [
            (self.turn(one, other, at), other.values[at] - one.values[at], item.cluster)
            for item, one, other in asked
            if usable(one) and usable(other)
            for at in range(len(one.decisions))
        ]
        failed = sum(not (usable(one) and usable(other)) for _, one, other in asked)
        row = probe.model_copy(update={"unchanged": unchanged, "failed": failed})
        if not moved:
            reason = "no edit changed a question" if unchanged and not failed else "no question was answered both times"
            return row.model_copy(update={"flips": undefined(reason), "reason": reason})
        turns, shifts = (np.array([one[part] for one in moved], dtype=np.float64) for part in (0, 1))
        cluster, resampler = self.resamples.over([one[2] for one in moved])
        known = np.isfinite(shifts)
        return row.model_copy(
            update={
                "flips": share_figure((turns != 0).astype(np.float64), cluster, resampler),
                "up": float((turns > 0).mean()),
                "down": float((turns < 0).mean()),
                "shift": mean_figure(shifts[known], cluster[known], resampler),
            }
        )

    def turn(self, one: Decisions, other: Decisions, at: int) -> float:
        """1 where the second answer is better (yes, a higher grade), -1 where worse, 0 where the same."""
        if self.is_pairs:
            return other.decisions[at] - one.decisions[at]
        difference = self.asker.instrument.sign * (other.values[at] - one.values[at])
        return 0.0 if abs(difference) <= self.tolerance + _ROUNDING else math.copysign(1.0, difference)

    # --- repeats ---------------------------------------------------------------------------------------------------

    def repeats(self, count: int) -> Repeats:
        """The same questions `count` times; twice where no model is asked, which must then change nothing."""
        models = bool(self.asker.instrument.models)
        count = count if models else 2
        rounds, asks = [self.clean], [item.ask for item in self.items]
        if models:
            rounds += [self.asker.ask(asks, attempt, f"again ({attempt})") for attempt in range(2, count + 1)]
        else:  # a second asker, since the first remembers its answers
            rounds.append(Asker(self.asker.instrument, self.asker.workers).ask(asks))
        rows = [
            (item.cluster, found)
            for item, *own in zip(self.items, *rounds, strict=True)
            if len(found := [reply for reply in own if reply is not None and usable(reply)]) == count
        ]
        if not rows:
            none = undefined("no question was answered each time")
            return Repeats(repeats=count, flips=none, kappa=none, spread=none, models=models)
        values = np.array([[reply.values[0] for reply in own] for _, own in rows])
        answers = np.array([[reply.decisions[0] for reply in own] for _, own in rows]) if self.is_pairs else values
        cluster, resampler = self.resamples.over([name for name, _ in rows])
        apart = (np.ptp(answers, axis=1) > self.tolerance + _ROUNDING).astype(np.float64)
        measure, categories = (FLEISS, (0.0, 1.0)) if self.is_pairs else (ALPHA["interval"], None)
        spread: Numbers = values.std(axis=1, ddof=1)
        return Repeats(
            repeats=count,
            flips=share_figure(apart, cluster, resampler),
            kappa=agree(answers.T, measure, categories, Resampling(cluster, resampler)),
            spread=mean_figure(spread, cluster, resampler),
            models=models,
        )

    # --- attacks ---------------------------------------------------------------------------------------------------

    def injection(self, padding: Sequence[ProbeRow] = ()) -> Injection:
        """Every attack in both directions, each on some of the questions whose answer it could turn."""
        jobs = [job for direction in WANTED for job in self._jobs(direction)]
        asks = [attacked(self.items[at].ask, attack, direction) for attack, direction, at in jobs]
        after = self.asker.ask(asks, what="attacks")
        tally: defaultdict[tuple[str, Direction], Counter[str]] = defaultdict(Counter)
        for (attack, direction, at), ask, reply in zip(jobs, asks, after, strict=True):
            clean = self.clean[at]
            if ask.key == self.items[at].ask.key or reply is None or clean is None:
                continue  # the change has no diff to hide it in, or the check was stopped
            turned = usable(reply) and self.turn(clean, reply, 0) * (1 if direction == "up" else -1) > 0
            for technique in (attack.technique, "all"):
                own = tally[technique, direction]
                own[f"attack {attack.name}"] += 1
                own["tried" if usable(reply) else "failed"] += 1
                own["flipped"] += turned
        rows = [_injected(*key, tally[key]) for key in sorted(tally) if key[0] != "all"]
        comment = padding[0] if padding else None
        return Injection(
            attacks=len(ATTACKS),
            rows=tuple(rows),
            total=tuple(_injected("all", direction, tally["all", direction]) for direction in WANTED),
            padding_up=self._padded(comment, "up"),
            padding_down=self._padded(comment, "down"),
            reason="" if jobs else "no question had an answer that an attack could turn",
        )

    def _padded(self, padding: ProbeRow | None, direction: Direction) -> float | None:
        """The share of the questions that an attack could turn and padding turned."""
        able = len(self._able(direction))
        if padding is None or padding.flips.value is None or not able:
            return None
        share = padding.up if direction == "up" else padding.down
        return min(1.0, (share or 0.0) * (padding.flips.n or 0) / able)

    def _able(self, direction: Direction) -> list[int]:
        """The questions whose unedited answer could turn in this direction: a no towards yes, and so on."""
        sign = self.asker.instrument.sign
        values = {
            at: reply.decisions[0] if self.is_pairs else sign * reply.values[0]
            for at, reply in enumerate(self.clean)
            if reply is not None and usable(reply)
        }
        if self.is_pairs:
            return [at for at, value in values.items() if value == (0.0 if direction == "up" else 1.0)]
        best, worst = max(values.values(), default=0.0), min(values.values(), default=0.0)
        done = best if direction == "up" else worst
        return [at for at, value in values.items() if value != done or best == worst]

    def _jobs(self, direction: Direction) -> list[tuple[Attack, Direction, int]]:
        able = self._able(direction)
        each = min(len(able), max(FEWEST_PER_ATTACK, len(self.items) // ASKED_PER_ATTACK))
        repeated = [attack for attack in ATTACKS for _ in range(each)]
        return [(attack, direction, at) for attack, at in zip(repeated, cycle(able), strict=False)]


def _probe(name: str, group: str, what: str) -> ProbeRow:
    return ProbeRow(name=name, group=group, what=what, flips=undefined(""))


def usable(reply: Decisions) -> bool:
    """Whether every row has an answer."""
    return reply.failure is None and bool(reply.decisions) and all(map(math.isfinite, reply.decisions))


def _injected(technique: str, direction: Direction, count: Counter[str]) -> InjectionRow:
    tried, flipped = count["tried"], count["flipped"]
    low, high = wilson(flipped, tried) or (None, None)
    return InjectionRow(
        technique=technique,
        direction=direction,
        attacks=sum(name.startswith("attack ") for name in count),
        tried=tried,
        flipped=flipped,
        share=flipped / tried if tried else None,
        low=low,
        high=high,
        failed=count["failed"],
    )


def _with(ask: Ask, comments: Sequence[Comment], references: Sequence[Comment]) -> Ask:
    """The question with other comments and references."""
    case = ask.case.model_copy(update={"references": tuple(references)})
    return Ask(case, ask.review.model_copy(update={"comments": tuple(comments)}), ask.rows)


def _edited(comments: Sequence[Comment], edit: Callable[[str], str]) -> list[Comment]:
    return [c.model_copy(update={"body": edit(c.body)}) for c in comments]


def _swapped(ask: Ask) -> Ask:
    """Comment and reference with their texts exchanged; unchanged where there are not one of each."""
    comments, known = ask.review.comments, ask.case.references
    if len(comments) != 1 or len(known) != 1:
        return ask
    comment = comments[0].model_copy(update={"body": known[0].body})
    reference = known[0].model_copy(update={"body": comments[0].body})
    return _with(ask, [comment], [reference])


def reverse(ask: Ask) -> Ask:
    """The comments and references in reverse order."""
    comments, known = ask.review.comments[::-1], ask.case.references[::-1]
    rows = ask.rows and tuple((len(comments) - 1 - comment, len(known) - 1 - ref) for comment, ref in ask.rows)
    return replace(_with(ask, comments, known), rows=rows)


def _back(ask: Ask, reply: Decisions) -> Decisions:
    """The answers of a reversed question in the original order of its rows."""
    if ask.rows is not None or len(reply.decisions) < 2:
        return reply
    return reply._replace(decisions=reply.decisions[::-1], values=reply.values[::-1])
