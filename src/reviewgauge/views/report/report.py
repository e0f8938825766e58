"""One self-contained HTML file: the ranking, its certainty, and the evidence behind every comment's result."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Literal, NamedTuple

from markupsafe import Markup

from reviewgauge.analysis.compare.slices import FEWEST
from reviewgauge.core.document import Plot, Table
from reviewgauge.core.records import Case
from reviewgauge.core.reports.leaderboard import ComparisonTable, Leaderboard, SliceSummary
from reviewgauge.core.results import Failure, FailureKind, Outcome, Score
from reviewgauge.core.stored import Lazy
from reviewgauge.views import figures
from reviewgauge.views.comparisons import DETECTABLE, comparison_table
from reviewgauge.views.html import Doors, table_html
from reviewgauge.views.leaderboard import (
    answer,
    coverage_table,
    joined,
    leaderboard_table,
    measures_table,
    slice_table,
)
from reviewgauge.views.pages import page_pieces
from reviewgauge.views.report.change_views import anchors_of, view_changes
from reviewgauge.views.table_plots import drawing, highest
from reviewgauge.views.verdict import Verdict

WIDE, NARROW, SMALL = 520, 326, 326  # widths of figures in pixels
FOUND = ("recall", "sensitivity")  # measures of what was found
MOST_PANELS = 12  # slices of one fact drawn as panels; the table has all
NONE = Markup("")
MOST_TROUBLES = 1_000  # failures that are listed; the run has all


@dataclass(frozen=True)
class ReportData:
    """The contents of the report. `facts` of the manifest are shown unchanged and must not hold secrets.

    `verdicts` are those on the leaderboards. The first leaderboard is the main one; changes show the matchings of the
    first metric that has any. `shown` are the positions of the cases that are shown as changes, None for all.
    """

    title: str
    created: str
    leaderboards: Sequence[Leaderboard]
    comparisons: Sequence[ComparisonTable] = ()
    verdicts: Sequence[Verdict] = ()
    cases: Sequence[Case] = ()
    outcomes: Sequence[Outcome] = ()
    scores: Sequence[Score] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    shown: Sequence[int] | None = None


class Trouble(NamedTuple):
    """One failure and its location."""

    anchor: str | None
    case: str
    system: str
    at: str
    kind: FailureKind
    message: str


class ReportPanel(NamedTuple):
    """One slice with its drawing, if any, and who has the lowest figure, baselines aside."""

    piece: SliceSummary
    drawing: Markup
    lowest: str


@dataclass(frozen=True)
class SliceGroup:
    """The slices of one fact; `name` is its place on the page."""

    name: str
    fact: str
    measure: str
    pieces: list[SliceSummary]
    panels: list[ReportPanel]
    few: list[SliceSummary]  # left out
    table: Markup


@dataclass(frozen=True)
class BoardView:
    """One leaderboard as pages show it, each part made when it is shown; `name` makes its places on the page unique.

    `doors` are links of its cells, `prices` dollars a review by system.
    """

    data: ReportData
    board: Leaderboard
    name: str
    doors: Doors = field(default_factory=dict)
    prices: Mapping[str, float | None] = field(default_factory=dict)

    @cached_property
    def main(self) -> Markup:
        """All systems, ranked."""
        title = "All systems, each on all of its own scored changes"
        table = leaderboard_table(self.board, title=title, prices=self.prices)
        return table_html(table, ranked=True, doors=self.doors)

    @property
    def on_common(self) -> Markup:
        """The same on the changes that all have a score for."""
        title = "All systems on their common changes"
        return table_html(leaderboard_table(self.board, self.board.on_common, title), ranked=True)

    @property
    def measures(self) -> Markup:
        """Every measure."""
        return table_html(measures_table(self.board))

    @property
    def coverage(self) -> Markup:
        """What was scored, and what failed."""
        return table_html(coverage_table(self.board), stack=True)

    @cached_property
    def table(self) -> ComparisonTable | None:
        """The comparisons of this metric."""
        own = self.board.metric, self.board.benchmark
        return next((t for t in self.data.comparisons if (t.metric, t.benchmark) == own), None)

    @property
    def pairs(self) -> Markup:
        """The comparisons as a table; what a terminal marks with * and ! stands framed, and below, here."""
        if self.table is None:
            return NONE
        table = comparison_table(self.table)
        notes = (one.replace("* found:", "framed:").removeprefix("! ") for one in table.notes)
        return table_html(table.model_copy(update={"notes": tuple(one for one in notes if DETECTABLE not in one)}))

    @cached_property
    def forest(self) -> Mapping[str, Markup]:
        """The intervals, wide and narrow; empty where there are none."""
        return self._drawn("f", leaderboard_table(self.board))

    @cached_property
    def plane(self) -> Mapping[str, Markup]:
        """Precision against recall."""
        table = leaderboard_table(self.board)
        at = {column.key: place for place, column in enumerate(table.columns)}
        if not {"precision", "recall"} <= set(at):
            return {}
        return self._drawn("p", _drawn_as(table, "scatter", at["recall"], at["precision"]))

    def _drawn(self, kind: str, table: Table) -> Mapping[str, Markup]:
        sizes = {"wide": WIDE, "narrow": NARROW}
        made = {size: drawing(table, f"{self.name}{kind}{size[0]}", width) for size, width in sizes.items()}
        return {size: Markup(svg) for size, svg in made.items() if svg}

    @cached_property
    def slices(self) -> list[SliceGroup]:
        """The board by facts."""
        return _slices(self.board, self.name)

    @property
    def answer(self) -> str:
        """What the board says, in a sentence or two."""
        return answer(self.board, self.table).replace("p < ", "p\u00a0<\u00a0").replace("p = ", "p\u00a0=\u00a0")


def render(data: ReportData) -> Iterator[str]:
    """The report as one HTML document that needs no network and no other file, in pieces."""
    boards = [BoardView(data, board, f"b{number}") for number, board in enumerate(data.leaderboards, 1)]
    matched = list(dict.fromkeys(score.metric for score in data.scores if score.matching is not None))
    metric = matched_metric(data, matched)
    systems = systems_of(data)
    cases = data.cases if data.shown is None else Lazy.of(data.shown, data.cases.__getitem__)
    troubles = list(_troubles(data, anchors_of(cases)))
    return page_pieces(
        "report.html.j2",
        styles=("report.css",),
        words=report_words(),
        data=data,
        boards=boards,
        metric=metric,
        systems=systems,
        changes=view_changes(cases, data.outcomes, data.scores, systems, metric),
        shown=len(cases),
        changes_title="Every change" if len(cases) == len(data.cases) else "The costliest changes",
        repos=sorted({case.change.repo for case in cases}),
        troubles=troubles[:MOST_TROUBLES],
        more_troubles=len(troubles[MOST_TROUBLES:]),
        matched=bool(matched),
    )


def report_words() -> dict[str, object]:
    """What the macros of the templates see."""
    return {
        "states": figures.STATES,
        "arms": {"defect": "with a defect", "twin": "twin without it", "safe": "harmless edit"},
        "state_name": figures.state_name,
        "glyph": lambda state: figures.STATES[state][0],
        "scored_of": figures.scored_of,
        "spread_words": figures.spread_words,
        "fewest": FEWEST,
    }


# --- leaderboards --------------------------------------------------------------------------------------------------


def _drawn_as(table: Table, kind: Literal["forest", "scatter"], *columns: int) -> Table:
    return table.model_copy(update={"plot": Plot(kind=kind, columns=columns)})


def _slices(board: Leaderboard, name: str) -> list[SliceGroup]:
    """What was found of each kind of findings first, which is asked most."""
    shown = []
    for fact, every in groupby(board.slices, key=lambda s: s.fact):
        known = list(every)
        pieces, few = [s for s in known if s.n >= FEWEST], [s for s in known if s.n < FEWEST]
        shown += [(fact, pieces, few, r) for r in figures.slice_measures(board, known)]
    shown.sort(key=lambda one: not (one[3] in FOUND and any(s.facet for s in (*one[1], *one[2]))))
    return [
        SliceGroup(
            f"{name}s{number}",
            fact,
            measure,
            pieces,
            _panels(board, measure, pieces, f"{name}s{number}"),
            few,
            table_html(slice_table(board, fact, measure, pieces)) if pieces else NONE,
        )
        for number, (fact, pieces, few, measure) in enumerate(shown, 1)
    ]


def _panels(board: Leaderboard, measure: str, pieces: Sequence[SliceSummary], name: str) -> list[ReportPanel]:
    table = slice_table(board, "", measure, pieces)
    panels = [_drawn_as(table, "forest", at) for at in range(1, len(pieces) + 1)]
    largest = sorted(pieces, key=lambda piece: -piece.n)[:MOST_PANELS]
    top = highest(panels)
    return [
        ReportPanel(piece, Markup(drawing(panel, f"{name}p{at}", SMALL, top)), _lowest(piece, measure))
        for at, (piece, panel) in enumerate(zip(pieces, panels, strict=True), 1)
        if piece in largest
    ]


def _lowest(piece: SliceSummary, measure: str) -> str:
    """Who has the lowest figure, baselines aside; not surely, unless all other intervals lie above theirs."""
    own = [(figures.estimate(system, measure), system) for system in piece.systems if not system.baseline]
    known = [(e.value, e, system) for e, system in own if e.value is not None]
    least = min((value for value, *_ in known), default=0.0)
    others = [e.low for value, e, _ in known if value > least]
    if not others:
        return ""
    lowest = [(e, system) for value, e, system in known if value == least]
    # An interval without width says less than its figure.
    top = max(math.inf if e.high is None or e.high == e.low else e.high for e, _ in lowest)
    sure = all(low is not None and low > top for low in others)
    return joined([system for _, system in lowest], "and") + ("" if sure else ", not surely")


# --- changes -------------------------------------------------------------------------------------------------------


def matched_metric(data: ReportData, having: Sequence[str]) -> str:
    """The metric whose matchings the changes show: the first leaderboard's that has any, else any."""
    for board in data.leaderboards:
        if board.metric in having:
            return board.metric
    return next(iter(having), data.leaderboards[0].metric if data.leaderboards else "")


def systems_of(data: ReportData) -> list[str]:
    """The systems as the first leaderboard ranks them, then those that were not scored."""
    ranked = [s.system for board in data.leaderboards[:1] for s in board.systems]
    return list(dict.fromkeys([*ranked, *(o.system for o in data.outcomes)]))


def _troubles(data: ReportData, anchors: Mapping[str, str]) -> Iterator[Trouble]:
    reviews: dict[tuple[str, str, int], Failure] = {}
    for outcome in data.outcomes:
        if f := outcome.failure:
            reviews[outcome.case, outcome.system, outcome.attempt] = f
            yield Trouble(anchors.get(outcome.case), outcome.case, outcome.system, "review", f.kind, f.message)
    for score in data.scores:
        if (f := score.failure) and f != reviews.get(score.key):
            yield Trouble(anchors.get(score.case), score.case, score.system, score.metric, f.kind, f.message)
