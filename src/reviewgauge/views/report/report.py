"""One self-contained HTML file: the ranking, its certainty, and the evidence behind every comment's result."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from typing import NamedTuple

import jinja2
from markupsafe import Markup

from reviewgauge.analysis.compare.slices import FEWEST
from reviewgauge.core.document import Document
from reviewgauge.core.records import Case
from reviewgauge.core.reports.leaderboard import ComparisonTable, Leaderboard, SliceSummary
from reviewgauge.core.results import Failure, FailureKind, Outcome, Score
from reviewgauge.core.stored import Lazy
from reviewgauge.views import figures
from reviewgauge.views.html import block_html, table_html
from reviewgauge.views.leaderboard import (
    answer,
    comparison_table,
    coverage_table,
    leaderboard_table,
    measures_table,
    slice_table,
)
from reviewgauge.views.report import plots
from reviewgauge.views.report.change_views import anchors_of, view_changes

SCRIPT = "report.js"


def render_page(template: str, styles: Sequence[str], words: Mapping[str, object], **data: object) -> str:
    """The page of `template` with `data`; its macros see `words` and the number formats.

    `styles` are joined into the page's style element.
    """
    return "".join(_pieces(template, styles, words, **data))


def _pieces(template: str, styles: Sequence[str], words: Mapping[str, object], **data: object) -> Iterator[str]:
    """The same page in pieces: what the template goes through one by one is not held in memory."""
    environment = _environment()
    style = "\n".join(_asset(environment, name) for name in styles)
    script = _asset(environment, SCRIPT)
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    page = environment.get_template(template, globals=dict(words))
    for piece in page.generate(style=Markup(style), script=Markup(script), policy=policy, **data):
        yield piece.encode("utf-8", "replace").decode("utf-8")


def document_page(document: Document) -> str:
    """A document as a page."""
    return render_page(
        "document.html.j2", ["report.css"], {}, title=document.headline, blocks=map(block_html, document.blocks)
    )


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("reviewgauge.views", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "number": figures.number,
        "signed": _signed,
        "interval": figures.interval,
        "p_value": figures.p_value,
        "percent": figures.percent,
        "label": figures.label,
        "short_hash": figures.short_hash,
        "defined": figures.defined,
    }
    return environment


def _finalize(value: object) -> object:
    """Make hidden characters of a printed text visible, before it is escaped."""
    return figures.visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _signed(value: float | None, unit: str = "share") -> str:
    return figures.signed(value, unit).replace("-", "−")


def _asset(environment: jinja2.Environment, name: str) -> str:
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0].strip()


def _digest(text: str) -> str:
    """The policy's source expression for exactly this inline element."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


WIDE, NARROW, SMALL = 520, 326, 326  # widths of figures in pixels
MOST_PANELS = 12  # slices of one fact drawn as panels; the table has all
NONE = Markup("")
MOST_TROUBLES = 1_000  # failures that are listed; the run has all


@dataclass(frozen=True)
class ReportData:
    """The contents of the report. `facts` of the manifest are shown unchanged and must not hold secrets.

    The first leaderboard is the main one; changes show the matchings of the first metric that has any. `shown` are the
    positions of the cases that are shown as changes, None for all.
    """

    title: str
    created: str
    leaderboards: Sequence[Leaderboard]
    comparisons: Sequence[ComparisonTable] = ()
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
    boards = [_board_view(data, board, f"b{number}") for number, board in enumerate(data.leaderboards, 1)]
    matched = list(dict.fromkeys(score.metric for score in data.scores if score.matching is not None))
    metric = _matched_metric(data, matched)
    systems = _systems(data)
    cases = data.cases if data.shown is None else Lazy.of(data.shown, data.cases.__getitem__)
    troubles = list(_troubles(data, anchors_of(cases)))
    return _pieces(
        "report.html.j2",
        styles=("report.css",),
        words=_words(),
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


def _words() -> dict[str, object]:
    return {
        "states": figures.STATES,
        "glyph": lambda state: figures.STATES[state][0],
        "scored_of": figures.scored_of,
        "spread_words": figures.spread_words,
        "fewest": FEWEST,
    }


# --- leaderboards --------------------------------------------------------------------------------------------------


def _board_view(data: ReportData, board: Leaderboard, name: str) -> BoardView:
    table = next((t for t in data.comparisons if (t.metric, t.benchmark) == (board.metric, board.benchmark)), None)
    sentence = answer(board, table).replace("p < ", "p\u00a0<\u00a0").replace("p = ", "p\u00a0=\u00a0")
    own, common = "All systems, each on all of its own scored changes", "All systems on their common changes"
    shared = NONE
    if board.on_common:
        shared = table_html(leaderboard_table(board, board.on_common, common), ranked=True)
    return BoardView(
        board,
        name,
        main=table_html(leaderboard_table(board, title=own), ranked=True),
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
    if not board.systems:
        return {}
    drawn = {
        "forest_wide": plots.forest(board, board.headline, f"{name}fw", WIDE),
        "forest_narrow": plots.forest(board, board.headline, f"{name}fn", NARROW),
    }
    known = figures.measures(board)
    if {"precision", "recall"} <= set(known):
        drawn["pr_wide"] = plots.precision_recall(board, f"{name}pw", WIDE, numbered=False)
        drawn["pr_narrow"] = plots.precision_recall(board, f"{name}pn", NARROW, numbered=True)
    return {key: Markup(drawing) for key, drawing in drawn.items()}


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
    top = max((plots.highest(piece.systems, measure) for piece in pieces), default=1.0)
    largest = sorted(pieces, key=lambda piece: -piece.n)[:MOST_PANELS]
    return [
        ReportPanel(piece, Markup(plots.small_multiple(board, piece, measure, f"{name}p{at}", top=top, width=SMALL)))
        for at, piece in enumerate((piece for piece in pieces if piece in largest), 1)
    ]


# --- changes -------------------------------------------------------------------------------------------------------


def _matched_metric(data: ReportData, having: Sequence[str]) -> str:
    """The metric whose matchings the changes show: the first leaderboard's that has any, else any."""
    for board in data.leaderboards:
        if board.metric in having:
            return board.metric
    return next(iter(having), data.leaderboards[0].metric if data.leaderboards else "")


def _systems(data: ReportData) -> list[str]:
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
