"""What the contexts of a reviewer say about a piece of a change, as one text within a budget.

What the budget leaves out is named in the remarks, which belong into the review's trace.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from reviewgauge.core.errors import NeedsCode, UserError, one_line
from reviewgauge.core.protocols import Context, Excerpt
from reviewgauge.core.records import Change
from reviewgauge.core.results import Drop
from reviewgauge.core.specs import load, short_spec

BUDGET = 8_000  # tokens
CHARACTERS = 4  # of a token: the estimate that tokens of models are counted with where an endpoint reports none
_MOST = 1_000  # excerpts of one context
_TICKS = "```"
_BEFORE, _AFTER = "function(which='before')", "function(which='after')"
COMBINATIONS: Mapping[str, tuple[str, ...]] = {  # names of the papers' rows: docs/reference/contexts.md
    "contextcrbench_base": ("none",),
    "contextcrbench_i": ("issue",),
    "contextcrbench_p": ("pr",),
    "contextcrbench_ip": ("issue", "pr"),
    "contextcrbench_b": (_BEFORE,),
    "contextcrbench_a": (_AFTER,),
    "contextcrbench_ba": (_BEFORE, _AFTER),
    "contextcrbench_ipba": ("issue", "pr", _BEFORE, _AFTER),
    "aacr_none": ("none",),
    "aacr_bm25": ("bm25(k=3)",),
    "aacr_embedding": ("embedding(k=3)",),
}


class ContextText(NamedTuple):
    """The text, empty where the contexts have nothing to say, and a line on each part that was left out."""

    text: str
    remarks: Sequence[str]


def load_contexts(specs: str | Sequence[str]) -> tuple[Context, ...]:
    """The contexts of one spec or combination, or of several whose excerpts are added. Raises UserError."""
    named = (specs,) if isinstance(specs, str) else specs
    return tuple(load(Context, spec) for name in named for spec in COMBINATIONS.get(name, (name,)))


def pin_contexts(contexts: Sequence[Context]) -> dict[str, str]:
    """What several contexts rest on, by their numbers."""
    return {f"context {n}, {name}": value for n, one in enumerate(contexts, 1) for name, value in one.pins().items()}


def prepare_contexts(contexts: Sequence[Context], budget: int, changes: Sequence[Change]) -> Iterator[Drop]:
    """What the contexts cannot use, and the changes that they have nothing for.

    Raises UserError, NeedsCode where one needs code and no change has it.
    """
    if budget < 1:
        raise UserError(f"budget must be positive, got {budget}", remedy="context=() gives no context")
    for context in contexts:
        if context.needs_code and changes and not any(change.git and change.head for change in changes):
            raise NeedsCode(f"the context {short_spec(context)}")
        yield from context.prepare(changes)
        for change in changes if context.in_change else ():
            if not any(True for _ in context.excerpts(change, change)):
                name = change.id or change.repo
                yield Drop(
                    item=name, by=short_spec(context), reason="nothing to add, so the change is shown without it"
                )


def context_text(contexts: Sequence[Context], change: Change, piece: Change, budget: int = BUDGET) -> ContextText:
    """The excerpts of all contexts for `piece`, each under its name, in at most `budget` tokens by estimate.

    Contexts come in their order, so the first ones take what they need. An excerpt that does not fit is cut to whole
    lines; one whose text is there already is left out. Raises NeedsCode, and what else the contexts raise.
    """
    left = budget * CHARACTERS
    parts: list[str] = []
    remarks: list[str] = []
    shown: set[str] = set()
    for context in contexts:
        dropped: list[str] = []
        for excerpt in islice(context.excerpts(change, piece), _MOST):
            if excerpt.text in shown:
                continue
            name = one_line(excerpt.name)
            block, kept, lines = _block(excerpt, name, left - 2)
            if not kept:
                dropped.append(name)
                continue
            if kept == lines:
                shown.add(excerpt.text)
            else:
                remarks.append(f"context {short_spec(context)}: {name}: cut to {kept:,} of {lines:,} lines")
            parts.append(block)
            left -= len(block) + 2  # the blank line between two
        if dropped:
            more = f" and {len(dropped) - 1} more" if len(dropped) > 1 else ""
            remarks.append(f"context {short_spec(context)}: {dropped[0]}{more} did not fit into the budget")
    return ContextText("\n\n".join(parts), remarks)


def _block(excerpt: Excerpt, name: str, room: int) -> tuple[str, int, int]:
    """(the excerpt under its name, how many of its lines are in it, how many it has)."""
    ticks = _TICKS
    while ticks in excerpt.text:
        ticks += "`"
    lines = excerpt.text.rstrip("\n").split("\n")
    head, foot = f"### {name}\n\n{ticks}\n", f"\n{ticks}"
    first, end = _fitting(lines, excerpt.around - 1, room - len(head) - len(foot))
    shown = [*_gap(first), *lines[first:end], *_gap(len(lines) - end)]
    return head + "\n".join(shown) + foot, end - first, len(lines)


def _gap(count: int) -> list[str]:
    return [f"[... {count:,} lines]"] if count else []


_LONGEST_GAP = len("[... 10,000,000 lines]\n")


def _fitting(lines: Sequence[str], at: int, room: int) -> tuple[int, int]:
    """The run of lines around the line `at` that fits into `room` characters: (first, one after the last)."""
    if sum(map(len, lines)) + len(lines) <= room:
        return 0, len(lines)
    at = min(max(at, 0), len(lines) - 1)
    left = room - 2 * _LONGEST_GAP
    first = end = at
    up = down = True
    while up or down:
        down = down and end < len(lines) and len(lines[end]) < left
        if down and (not up or end - at <= at - first):
            left -= len(lines[end]) + 1
            end += 1
            continue
        up = up and end > at and first > 0 and len(lines[first - 1]) < left
        if up:
            first -= 1
            left -= len(lines[first]) + 1
    return first, end
