"""One row of the speed table, how it is timed (each run in a process of its own), and the texts that are measured."""

from __future__ import annotations

import gc
import multiprocessing
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from reviewgauge.datasets.graded_reviews import GradedReviews
from reviewgauge.metrics.texts.text_metric import TextPair, text_pair

Values = Sequence[float]


def graded_pairs(folder: Path) -> list[TextPair]:
    """The texts of GradedReviews that have something to compare."""
    data = GradedReviews(path=str(folder))
    cases = {case.id: case for case in data.cases()}
    found = (text_pair(cases[review.case], review) for review in data.recorded()[0])
    return [pair for pair in found if isinstance(pair, TextPair)]


@dataclass(frozen=True)
class Row:
    """Best seconds of ours and of the peer on `n` pairs; `gap` is the largest difference of two values.

    `aim` is the ratio to reach (None: no aim), `allowed` the gap that still counts as equal.
    """

    name: str
    peer: str
    n: int
    ours: float
    theirs: float
    gap: float
    aim: float | None = None
    allowed: float = 1e-9
    note: str = ""

    @property
    def ratio(self) -> float:
        """How many times as fast ours is."""
        return self.theirs / self.ours

    @property
    def reached(self) -> bool:
        """Whether the ratio is what it should be."""
        return self.aim is None or self.ratio >= self.aim


def once(run: Callable[[], Values]) -> tuple[float, Values]:
    """(seconds, values) of one run in a forked process: imports are done, every cache is as it was before."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(run, theirs))
    process.start()
    theirs.close()
    try:
        found: tuple[float, Values] = ours.recv()
    except EOFError:
        raise RuntimeError("a timed run ended without an answer") from None
    finally:
        process.join()
    return found


def _child(run: Callable[[], Values], answer: Connection) -> None:
    gc.collect()
    start = time.perf_counter()
    values = run()
    answer.send((time.perf_counter() - start, list(values)))


def race(ours: Callable[[], Values], theirs: Callable[[], Values], repeats: int) -> tuple[float, float, Values, Values]:
    """Best seconds of both over `repeats` runs each, taken in turns, and what they said."""
    mine, peers = [], []
    values: tuple[Values, Values] = ((), ())
    for _ in range(repeats):
        first, second = once(ours), once(theirs)
        mine.append(first[0])
        peers.append(second[0])
        values = (first[1], second[1])
    return min(mine), min(peers), *values


def gap(ours: Values, theirs: Values) -> float:
    """The largest difference between two values of one pair."""
    return max((abs(a - b) for a, b in zip(ours, theirs, strict=True)), default=0.0)


def table(rows: Sequence[Row]) -> str:
    """The rows as text, ratios last."""
    lines = [f"{'metric':<34}{'peer':<30}{'pairs':>7}{'ours':>10}{'peer':>10}{'largest gap':>13}{'ratio':>9}{'aim':>8}"]
    for row in rows:
        aim = f"{row.aim:,.1f}x" if row.aim is not None else ""
        lines.append(
            f"{row.name:<34}{row.peer:<30}{row.n:>7,}{row.ours:>8.3f} s{row.theirs:>8.2f} s{row.gap:>13.1e}"
            f"{row.ratio:>8,.1f}x{aim:>8}{'' if row.reached else '   below the aim'}"
        )
        if row.note:
            lines.append(f"  {row.note}")
    return "\n".join(lines)
