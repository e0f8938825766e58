"""The pages, each from what it shows: the runs, one answer, the changes, one change, and one system against another.

All links are relative, and a page has the same name when it is served and when it is exported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import Concatenate, ParamSpec, TypeVar
from urllib.parse import quote, urlencode

from reviewgauge.analysis.costs import dollars_of
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import ARM, PAIR, Case
from reviewgauge.core.reports.leaderboard import Leaderboard
from reviewgauge.viewer.differences import ALL, Narrowing, agreed, differences, found_alone
from reviewgauge.viewer.notes import ChangeNotes, notes_of
from reviewgauge.viewer.rows import ChangeRow
from reviewgauge.viewer.runs import RunCard
from reviewgauge.viewer.selection import Selection
from reviewgauge.viewer.templating import render
from reviewgauge.views.changes.code import texts_of
from reviewgauge.views.changes.rows import Shown, show_change
from reviewgauge.views.html import Doors
from reviewgauge.views.leaderboard import leaderboard_table
from reviewgauge.views.report.report import BoardView, ReportData

T = TypeVar("T")
P = ParamSpec("P")
PAGE = 20  # changes of one page of a list
MOST_PAGES = 100  # of one selection in memory
MOST_DIFFERENCES = 200  # in a file
MOST_UNSEARCHED = 10  # runs of a list without a search
DIFFERENT = "different"  # in place of a state: changes of which the systems did not hit the same findings
BEHIND = {  # what lies behind a measure: the state that speaks against it
    "recall": "missed",
    "precision": "false",
    "noise": "false",
    "sensitivity": "missed",
    "false_alarm": "rejected",
    "comments_per_change": "",
    "clean_left_alone": "false",
}
ALIKE = {"false": ("false", "rejected")}  # what is known to be wrong matches no finding either


@dataclass(frozen=True)
class Query:
    """What the list of changes is narrowed to."""

    system: str = ""
    state: str = ""
    fact: str = ""  # name=value
    text: str = ""
    order: str = ""  # findings, or a system: what it did worst first
    page: int = 1

    def link(self, **other: object) -> str:
        """The address of the list with some of it changed."""
        shown = {**vars(self), "page": 0, **other}
        wanted = urlencode({key: value for key, value in shown.items() if value})
        return f"changes.html{'?' * bool(wanted)}{wanted}"

    @property
    def fragment(self) -> str:
        """The part of a link by which a browser marks the words that were searched for, where they are whole words."""
        words = [f"text={quote(word, safe='').replace('-', '%2D')}" for word in self.text.split()]
        return f"#:~:{'&'.join(words)}" if words else ""


def _once(make: Callable[Concatenate[Pages, P], str]) -> Callable[Concatenate[Pages, P], str]:
    """Make a page once as long as its selection holds; only one that shows nothing from outside of it."""

    @wraps(make)
    def page(self: Pages, /, *args: P.args, **kwargs: P.kwargs) -> str:
        if not self.live:
            return make(self, *args, **kwargs)
        key, made = (make.__name__, args, *kwargs.items()), self.chosen.pages
        text = made.get(key) or make(self, *args, **kwargs)
        if len(made) < MOST_PAGES:
            made[key] = text
        return text

    return page


@dataclass(frozen=True)
class Pages:
    """The pages of one selection. `live`: served, so that more of the code and labels can be had; else a file."""

    chosen: Selection
    live: bool = True

    @_once
    def board(self, fact: str = "") -> str:
        """The answer in plain words, its picture, and the leaderboards; of a `fact` (name=value) the boards alone."""
        chosen = self.chosen
        name, _, value = fact.partition("=")
        if fact and value not in chosen.facts.get(name, ()):
            raise UserError(f"no change has {fact}")
        boards = chosen.part(fact) if fact else [one.board for one in chosen.boards]
        tables = [one.table for one in chosen.boards if one.table is not None and not fact]
        data = ReportData(chosen.name, "", boards, comparisons=tables, cases=chosen.cases)
        doors = [self._doors(board, fact) for board in boards]
        prices = dollars_of(chosen.boards[0].run) if boards and not fact else {}
        views = [BoardView(data, board, f"b{at}", doors[at - 1], prices) for at, board in enumerate(boards, 1)]
        answer = None if fact else chosen.verdict
        return self._render("board.html.j2", here="board", boards=views, data=data, verdict=answer, fact=fact)

    @_once
    def slices(self) -> str:
        """The boards on parts of the benchmark."""
        chosen = self.chosen
        data = ReportData(chosen.name, "", chosen.sliced, cases=chosen.cases)
        views = [BoardView(data, board, f"b{at}") for at, board in enumerate(chosen.sliced, 1)]
        return self._render("slices.html.j2", here="slices", boards=views, data=data)

    def _doors(self, board: Leaderboard, fact: str) -> Doors:
        """Each name leads to the system's changes, each figure to those that speak against it."""
        table = leaderboard_table(board)
        return {
            (at, place): Query(system=row[0].text, fact=fact).link(state=BEHIND.get(column.key, ""))
            for at, row in enumerate(table.rows)
            for place, column in enumerate(table.columns)
        }

    @_once
    def changes(self, query: Query) -> str:
        """The list of changes, with what every system's comments count as."""
        chosen = self.chosen
        rows = list(narrowed(chosen, query))
        if query.order in chosen.systems:
            at = chosen.systems.index(query.order)
            rows.sort(key=lambda row: -1 if (found := wrong(row, at)) is None else found, reverse=True)
        elif query.order:
            rows.sort(key=lambda row: row.findings, reverse=True)
        shown, paged = self._page(rows, query.page, len(rows) or 1)
        columns = [at for at, system in enumerate(chosen.systems) if query.system in ("", system)]
        more = {
            "wrong": wrong,
            "columns": columns,
            "differs": partial(differs, chosen),
            "words_on": partial(words_on, chosen),
        }
        return self._render("list.html.j2", here="changes", query=query, rows=shown, total=len(rows), **paged, **more)

    def _page(self, items: Sequence[T], page: int, most: int) -> tuple[Sequence[T], dict[str, int]]:
        """The items of one page, of which a file has one with `most` items, and the page's number of how many."""
        size = PAGE if self.live else most
        pages = max(1, -(-len(items) // size)) if self.live else 1
        page = min(max(page, 1), pages)
        return items[(page - 1) * size : page * size], {"page": page, "pages": pages}

    def change(self, number: int, *, split: bool = False, part: int = 1) -> str:
        """One change: its diff with findings and comments on their lines."""
        notes, shown = self._shown(number, split=split, part=part, more=self.live)
        case = notes.view.case
        return self._render(
            "change.html.j2",
            here="change",
            number=number,
            split=split,
            notes=notes,
            view=notes.view,
            case=case,
            shown=shown,
            siblings=list(self.siblings(case)),
        )

    def beside(self, number: int, other: int) -> str:
        """Two changes side by side: a defect and its twin."""
        both = [(at, *self._shown(at, more=False)) for at in (number, other)]
        return self._render("beside.html.j2", here="change", both=both)

    @_once
    def against(self, first: int, second: int, page: int = 1, narrowing: Narrowing = ALL) -> str:
        """What one system found that another did not, and the other way round; systems count from 1."""
        chosen, systems = self.chosen, self._two(first, second)
        found, alone = (look(chosen, *systems, narrowing) for look in (differences, found_alone))
        shown, paged = self._page(found, page, MOST_DIFFERENCES)
        both = {
            "first": first - 1,
            "second": second - 1,
            "narrowing": narrowing,
            "turned": urlencode({key: value for key, value in vars(narrowing).items() if value}),
            "agreed": [agreed(chosen, system) for system in systems],
            "any_hit": any(row.told[at].hit for row in chosen.rows for at in (first - 1, second - 1) if at in row.told),
        }
        return self._render("against.html.j2", here="against", found=found, shown=shown, alone=alone, **both, **paged)

    @_once
    def difference(self, first: int, second: int) -> str:
        """Whether one of two systems is ahead of the other, and whether that is sure; systems count from 1."""
        return self.chosen.between(*self._two(first, second))

    def _two(self, first: int, second: int) -> tuple[str, str]:
        systems = self.chosen.systems
        if not self.chosen.metric:
            raise UserError("no metric of this run matched comments with findings", remedy="reviewgauge score RUN hits")
        if not (1 <= first <= len(systems) >= second >= 1):
            raise UserError("there is no such system")
        return systems[first - 1], systems[second - 1]

    def _shown(self, number: int, *, more: bool, split: bool = False, part: int = 1) -> tuple[ChangeNotes, Shown]:
        case = self.chosen.case(number)
        notes = notes_of(self.chosen, case, number if self.live else 0)
        texts = texts_of({case.id: case.change}).get(case.id) if more else None
        return notes, show_change(case.change.files, notes.on_lines, split=split, texts=texts, part=part)

    def siblings(self, case: Case) -> Iterator[tuple[ChangeRow, str]]:
        """The other changes of its host, where defects were put in."""
        if PAIR not in case.facts:
            return
        for row in self.chosen.rows:
            if row.id != case.id and row.repo == case.change.repo and row.facts.get(PAIR) == case.facts[PAIR]:
                yield row, str(row.facts.get(ARM, ""))

    def _render(self, template: str, **data: object) -> str:
        return render(template, chosen=self.chosen, base="../../", live=self.live, **data)


def wrong(row: ChangeRow, system: int) -> int | None:
    """The findings that a system missed and its comments that match none; None where it failed or has no result."""
    found = None if system in row.failed else row.states.get(system)
    return None if found is None else found["missed"] + found["false"] + found["rejected"]


def narrowed(chosen: Selection, query: Query) -> Iterator[ChangeRow]:
    """The changes that a query leaves, in the order of the benchmark. Raises UserError for an unknown system."""
    if query.system and query.system not in chosen.systems:
        raise UserError(f"there is no system {query.system}")
    at = chosen.systems.index(query.system) if query.system else None
    fact, _, value = query.fact.partition("=")
    words = query.text.lower().split()
    for row in chosen.rows:
        own = list(row.states.values()) if at is None else [row.states[at]] if at in row.states else []
        if query.state == "failed":
            if not (row.failed if at is None else at in row.failed):
                continue
        elif query.state == DIFFERENT:
            if not differs(chosen, row):
                continue
        elif query.state and not any(states[one] for states in own for one in ALIKE.get(query.state, (query.state,))):
            continue
        if fact and str(row.facts.get(fact, "")) != value:
            continue
        if words:
            head = f"{row.title} {row.id} {row.repo}".lower()
            left = [word for word in words if word not in head]
            if left and not all(map(words_on(chosen, row, query.system).__contains__, left)):
                continue
        yield row


def differs(chosen: Selection, row: ChangeRow) -> bool:
    """Whether not all systems hit the same findings of a change; baselines are not asked."""
    baselines = {one.system for board in chosen.boards for one in board.board.systems if one.baseline}
    return len({told.hit for at, told in row.told.items() if chosen.systems[at] not in baselines}) > 1


def words_on(chosen: Selection, row: ChangeRow, system: str = "") -> str:
    """The findings of a change and what was said of it, by one system or by all, in small letters."""
    reviews = (outcome.review for outcome in chosen.outcomes_of(row.id, system))
    said = (one for review in reviews if review is not None for one in review.comments)
    return "\n".join(one.body for one in (*chosen.cases[row.number - 1].references, *said)).lower()


def runs_page(cards: Sequence[RunCard], text: str = "", *, live: bool = True) -> str:
    """The list of runs, newest first: those whose name, benchmark or systems have the words of a text."""
    words = text.lower().split()
    heads = ((card, " ".join((card.run.name, card.dataset, *card.systems)).lower()) for card in cards)
    fitting = [card for card, head in heads if all(word in head for word in words)]
    ordered = sorted(fitting, key=lambda card: card.changed, reverse=True)
    many = {"text": text, "search": live and len(cards) > MOST_UNSEARCHED}
    return render("runs.html.j2", here="runs", cards=ordered, base="", live=live, chosen=None, **many)
