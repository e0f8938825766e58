"""One self-contained HTML file: the ranking, its certainty, and the evidence behind every comment's result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from types import MappingProxyType
from typing import Literal, NamedTuple

from markupsafe import Markup

from reviewgauge.analysis.compare.slices import FEWEST
from reviewgauge.core.document import Plot, Table
from reviewgauge.core.records import Case
from reviewgauge.core.reports.leaderboard import ComparisonTable, Leaderboard, SliceSummary
from reviewgauge.core.results import Failure, FailureKind, Outcome, Score
from reviewgauge.core.stored import Lazy
from reviewgauge.views import figures
from reviewgauge.views.comparisons import comparison_table
from reviewgauge.views.html import Doors, table_html
from reviewgauge.views.leaderboard import (
    answer,
    coverage_table,
    leaderboard_table,
    measures_table,
    slice_table,
)
from reviewgauge.views.pages import page_pieces
from reviewgauge.views.report.change_views import anchors_of, view_changes
from reviewgauge.views.table_plots import drawing, highest
from reviewgauge.views.verdict import Verdict

WIDE, NARROW, SMALL = 520, 326, 326  # widths of figures in pixels
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
    """One slice with its drawing, if any."""

    piece: SliceSummary
    drawing: Markup


@dataclass(frozen=True)
class SliceGroup:
    """The slices of one fact."""

    fact: str
    measure: str
    pieces: list[SliceSummary]
    panels: list[ReportPanel]
    few: list[SliceSummary]  # left out
    table: Markup


@dataclass(frozen=True)
class BoardView:
    """One leaderboard with its drawings and comparisons."""

    board: Leaderboard
    name: str
    main: Markup
    on_common: Markup
    measures: Markup
    coverage: Markup
    table: ComparisonTable | None
    pairs: Markup
    drawings: dict[str, Markup]
    slices: list[SliceGroup]
    answer: str


def render(data: ReportData) -> Iterator[str]:
    """The report as one HTML document that needs no network and no other file, in pieces."""
    boards = [board_view(data, board, f"b{number}") for number, board in enumerate(data.leaderboards, 1)]
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
        "glyph": lambda state: figures.STATES[state][0],
        "scored_of": figures.scored_of,
        "spread_words": figures.spread_words,
        "fewest": FEWEST,
    }


# --- leaderboards --------------------------------------------------------------------------------------------------


def board_view(
    data: ReportData,
    board: Leaderboard,
    name: str,
    doors: Doors = MappingProxyType({}),
    prices: Mapping[str, float | None] = MappingProxyType({}),
) -> BoardView:
    """A leaderboard as pages show it; `name` makes its places on the page unique, `doors` are links of its cells.

    `prices`: dollars a review by system.
    """
    table = next((t for t in data.comparisons if (t.metric, t.benchmark) == (board.metric, board.benchmark)), None)
    sentence = answer(board, table).replace("p < ", "p\u00a0<\u00a0").replace("p = ", "p\u00a0=\u00a0")
    own, common = "All systems, each on all of its own scored changes", "All systems on their common changes"
    shared = NONE
    if board.on_common:
        shared = table_html(leaderboard_table(board, board.on_common, common), ranked=True)
    return BoardView(
        board,
        name,
        main=table_html(leaderboard_table(board, title=own, prices=prices), ranked=True, doors=doors),
        on_common=shared,
        measures=table_html(measures_table(board)),
        coverage=table_html(coverage_table(board), stack=True),
        table=table,
        pairs=table_html(comparison_table(table)) if table else NONE,
        drawings=_drawings(board, name),
        slices=_slices(board, name),
        answer=sentence,
    )


def _drawings(board: Leaderboard, name: str) -> dict[str, Markup]:
    table, drawn = leaderboard_table(board), {}
    for size, width in (("wide", WIDE), ("narrow", NARROW)):
        drawn[f"forest_{size}"] = drawing(table, f"{name}f{size[0]}", width)
        at = {column.key: place for place, column in enumerate(table.columns)}
        if {"precision", "recall"} <= set(at):
            plane = _drawn_as(table, "scatter", at["recall"], at["precision"])
            drawn[f"pr_{size}"] = drawing(plane, f"{name}p{size[0]}", width)
    return {key: Markup(svg) for key, svg in drawn.items() if svg}


def _drawn_as(table: Table, kind: Literal["forest", "scatter"], *columns: int) -> Table:
    return table.model_copy(update={"plot": Plot(kind=kind, columns=columns)})


def _slices(board: Leaderboard, name: str) -> list[SliceGroup]:
    shown = []
    for fact, every in groupby(board.slices, key=lambda s: s.fact):
        known = list(every)
        pieces, few = [s for s in known if s.n >= FEWEST], [s for s in known if s.n < FEWEST]
        shown += [(fact, pieces, few, r) for r in figures.slice_measures(board, known)]
    return [
        SliceGroup(
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
        ReportPanel(piece, Markup(drawing(panel, f"{name}p{at}", SMALL, top)))
        for at, (piece, panel) in enumerate(zip(pieces, panels, strict=True), 1)
        if piece in largest
    ]


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
