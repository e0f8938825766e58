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
from typing import NamedTuple

import numpy as np

from reviewgauge.analysis.judge_check.agreement import (
    Resamples,
    is_grades,
    mean_figure,
    share_figure,
    undefined,
)
from reviewgauge.analysis.judge_check.edits import (
    ATTACKS,
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
from reviewgauge.core.records import Comment
from reviewgauge.core.reports.judge_check import Injection, InjectionRow, ProbeRow, Repeats
from reviewgauge.stages.sampling.shares import wilson

ASKED_PER_ATTACK = 6  # each attack gets a sixth of the questions, to bound the cost
FEWEST_PER_ATTACK = 2


Answers = Sequence[Decisions | None]


class _Probe(NamedTuple):
    name: str
    group: str
    what: str


@dataclass
class Probes:
    """The questions, their unedited answers, and the tolerance from which on two answers differ."""

    asker: Asker
    items: Sequence[Item]
    resamples: Resamples

    def __post_init__(self) -> None:
        """Ask the questions unedited."""
        self.clean = self.asker.ask([item.ask for item in self.items], what="as they are")
        values = np.array([_value(reply, 0) for reply in self.clean if usable(reply)])
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
        words = sum(len(line.split()) for line in PADDING)
        rows = [self.edited(Edit("padded comment", f"{words} neutral words around the comment", pad), "padding")]
        if self.is_pairs:
            asks = [
                _with(item.ask, item.ask.review.comments, _edited(item.ask.case.references, pad)) for item in self.items
            ]
            rows.append(
                self.compare("padded reference", "padding", f"{words} neutral words around the reference", asks)
            )
        return tuple(rows)

    def rewording(self) -> tuple[ProbeRow, ...]:
        """Edits that keep the meaning."""
        return tuple(self.edited(edit, "rewording") for edit in REWORDINGS)

    def irrelevant(self) -> tuple[ProbeRow, ...]:
        """Edits that add nothing."""
        return tuple(self.edited(edit, "irrelevant edit") for edit in IRRELEVANT)

    def edited(self, edit: Edit, group: str) -> ProbeRow:
        """One edit of every comment."""
        asks = [
            _with(item.ask, _edited(item.ask.review.comments, edit.apply), item.ask.case.references)
            for item in self.items
        ]
        return self.compare(edit.name, group, edit.what, asks)

    def order(self, whole: Sequence[Item]) -> tuple[ProbeRow, ...]:
        """Comment and reference swapped; and the comments and references of whole reviews reversed."""
        swapped = self.compare(
            "swapped", "order", "comment and reference change places", [_swapped(item.ask) for item in self.items]
        )
        return swapped, self._reversed(whole)

    def _reversed(self, whole: Sequence[Item]) -> ProbeRow:
        what = "the comments and references of a review in reverse order"
        many = [item for item in whole if len(item.ask.review.comments) + len(item.ask.case.references) > 2]
        if not many or (not self.is_pairs and not any(len(item.ask.review.comments) > 1 for item in many)):
            reason = "there is no review with several comments" + (" or references" if self.is_pairs else "")
            return ProbeRow(name="reversed", group="order", what=what, flips=undefined(reason), reason=reason)
        before = self.asker.ask([item.ask for item in many], what="whole reviews")
        after = self.asker.ask([reverse(item.ask) for item in many], what="reversed")
        turned = [reply if reply is None else _back(item.ask, reply) for item, reply in zip(many, after, strict=True)]
        return self.row(_Probe("reversed", "order", what), many, before, turned, 0)

    # --- comparing answers -----------------------------------------------------------------------------------------

    def compare(self, name: str, group: str, what: str, asks: Sequence[Ask]) -> ProbeRow:
        """Compare the answers to the edited questions with the unedited ones."""
        same = [ask.key == item.ask.key for ask, item in zip(asks, self.items, strict=True)]
        places = [at for at, alike in enumerate(same) if not alike]
        after = self.asker.ask([asks[at] for at in places], what=name)
        items, before = [self.items[at] for at in places], [self.clean[at] for at in places]
        return self.row(_Probe(name, group, what), items, before, after, len(asks) - len(places))

    def row(self, probe: _Probe, items: Sequence[Item], before: Answers, after: Answers, unchanged: int) -> ProbeRow:
        """Flips and shifts over the rows of all questions."""
        asked = [  # where the check was stopped there is no answer
            (item, one, other)
            for item, one, other in zip(items, before, after, strict=True)
            if one is not None and other is not None
        ]
        answered = [(item, one, other) for item, one, other in asked if usable(one) and usable(other)]
        failed = len(asked) - len(answered)
        row = ProbeRow(**probe._asdict(), flips=undefined(""), unchanged=unchanged, failed=failed)
        moved = [
            (self.turn(one, other, at), _value(other, at) - _value(one, at), item.cluster)
            for item, one, other in answered
            for at in range(len(one.decisions))
        ]
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
        return 0.0 if abs(difference) <= self.tolerance + 1e-12 else math.copysign(1.0, difference)

    # --- repeats ---------------------------------------------------------------------------------------------------

    def repeats(self, count: int) -> Repeats:
        """The same questions `count` times; twice where no model is asked, which must then change nothing."""
        models = bool(self.asker.instrument.models)
        count = count if models else 2
        rounds = [self.clean]
        if models:
            asks = [item.ask for item in self.items]
            rounds += [self.asker.ask(asks, attempt, f"again ({attempt})") for attempt in range(2, count + 1)]
        else:  # a second asker, since the first remembers its answers
            again = Asker(self.asker.instrument, self.asker.workers)
            rounds.append(again.ask([item.ask for item in self.items]))
        rows = [(item, own) for item, *own in zip(self.items, *rounds, strict=True) if all(usable(r) for r in own)]
        if not rows:
            none = undefined("no question was answered each time")
            return Repeats(repeats=count, flips=none, kappa=none, spread=none, models=models)
        answers = np.array(
            [[r.decisions[0] if self.is_pairs else r.values[0] for r in own if r is not None] for _, own in rows]
        )
        values = np.array([[_value(r, 0) for r in own] for _, own in rows])
        cluster, resampler = self.resamples.over([item.cluster for item, _ in rows])
        apart = (np.ptp(answers, axis=1) > self.tolerance + 1e-12).astype(np.float64)
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
        asks = []
        for attack, direction, at in jobs:
            ask = self.items[at].ask
            case, review = attacked(ask.case, ask.review, attack, direction)
            asks.append(Ask(case, review, ask.rows))
        after = self.asker.ask(asks, what="attacks")
        tally: defaultdict[tuple[str, Direction], Counter[str]] = defaultdict(Counter)
        names: defaultdict[tuple[str, Direction], set[str]] = defaultdict(set)
        for (attack, direction, at), ask, reply in zip(jobs, asks, after, strict=True):
            own = tally[attack.technique, direction]
            if ask.key == self.items[at].ask.key:
                continue  # the change has no diff to hide it in
            clean = self.clean[at]
            if reply is None or clean is None:
                continue  # the check was stopped
            names[attack.technique, direction].add(attack.name)
            if not usable(reply):
                own["failed"] += 1
                continue
            own["tried"] += 1
            own["flipped"] += self.turn(clean, reply, 0) * (1 if direction == "up" else -1) > 0
        rows = [_injected(key[0], key[1], len(names[key]), count) for key, count in tally.items() if count]
        total = []
        for direction in WANTED:
            own = sum((count for key, count in tally.items() if key[1] == direction), Counter[str]())
            here = sum(len(found) for key, found in names.items() if key[1] == direction)
            total.append(_injected("all", direction, here, own))
        comment = padding[0] if padding else None
        reason = "" if jobs else "no question had an answer that an attack could turn"
        return Injection(
            attacks=len(ATTACKS),
            rows=tuple(sorted(rows, key=lambda row: (row.technique, row.direction))),
            total=tuple(total),
            padding_up=self._padded(comment, "up"),
            padding_down=self._padded(comment, "down"),
            reason=reason,
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
        there = [at for at, reply in enumerate(self.clean) if usable(reply)]
        if self.is_pairs:
            return [at for at in there if self.clean[at].decisions[0] == (0.0 if direction == "up" else 1.0)]  # type: ignore[union-attr]
        sign = self.asker.instrument.sign
        values = np.array([sign * _value(self.clean[at], 0) for at in there])
        if not values.size:
            return []
        best, worst = values.max(), values.min()
        if best == worst:
            return there
        return [at for at, v in zip(there, values, strict=True) if v != (best if direction == "up" else worst)]

    def _jobs(self, direction: Direction) -> list[tuple[Attack, Direction, int]]:
        able = self._able(direction)
        each = min(len(able), max(FEWEST_PER_ATTACK, len(self.items) // ASKED_PER_ATTACK))
        repeated = [attack for attack in ATTACKS for _ in range(each)]
        return [(attack, direction, at) for attack, at in zip(repeated, cycle(able), strict=False)]


def usable(reply: Decisions | None) -> bool:
    """Whether every row has an answer."""
    if reply is None or reply.failure is not None or not reply.decisions:
        return False
    return all(map(math.isfinite, reply.decisions))


def _value(reply: Decisions | None, at: int) -> float:
    return math.nan if reply is None or at >= len(reply.values) else reply.values[at]


def _injected(technique: str, direction: str, attacks: int, count: Counter[str]) -> InjectionRow:
    tried, flipped = count["tried"], count["flipped"]
    low, high = wilson(flipped, tried) or (0.0, 1.0)
    return InjectionRow(
        technique=technique,
        direction=direction,
        attacks=attacks,
        tried=tried,
        flipped=flipped,
        share=flipped / tried if tried else None,
        low=low if tried else None,
        high=high if tried else None,
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
