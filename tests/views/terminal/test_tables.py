from collections.abc import Callable

import pytest
from rich.cells import cell_len
from rich.console import Console, RenderableType

from reviewgauge.core.data_card import Card
from reviewgauge.core.reports.doctor import DoctorReport, LintFinding, ProbeCheck
from reviewgauge.core.reports.leaderboard import ComparisonTable, Estimate, Leaderboard
from reviewgauge.core.specs import CatalogueEntry
from reviewgauge.views.comparisons import comparison_table
from reviewgauge.views.leaderboard import leaderboard_document
from reviewgauge.views.report.report import ReportData
from reviewgauge.views.terminal import tables
from reviewgauge.views.terminal.documents import document_view, table_view

NASTY = "[red]x[/red] \x1b[31mred\x1b]8;;http://evil\x07 \u202eabc\u0007"


def printed(renderable: RenderableType, width: int) -> list[str]:
    console = Console(width=width, force_terminal=False, color_system=None, legacy_windows=False)
    with console.capture() as capture:
        console.print(renderable)
    return capture.get().splitlines()


def shown(board: Leaderboard, comparisons: ComparisonTable | None = None, explain: bool = False) -> RenderableType:
    return document_view(leaderboard_document(board, comparisons, explain), explain=explain)


def duels(table: ComparisonTable) -> RenderableType:
    return table_view(comparison_table(table))


def flat(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())


@pytest.fixture(scope="module")
def doctor() -> DoctorReport:
    checks = (
        ProbeCheck(name="oracle recall", expected="1.00", found="1.00", ok=True),
        ProbeCheck(name="spam gains nothing", expected="F1 falls", found="F1 rises by .2", ok=False, case="k-12"),
        ProbeCheck(name="reworded", expected="recall above .8", found="no other phrasings in the data", ok=None),
    )
    lint = tuple(
        LintFinding(level="warning", rule="reversed range", case=f"case-{n}", message="from 12 to 9") for n in range(30)
    )
    return DoctorReport(
        dataset="sample",
        benchmark="ab" * 32,
        cases=24,
        metrics=("hits",),
        checks=checks,
        lint=lint,
        lint_counts={"reversed range": 30},
    )


@pytest.fixture(scope="module")
def card() -> Card:
    return Card(
        title="Sample",
        summary="A small believable repository. " * 8,
        origin="https://example.org/" + "x" * 120,
        version="1",
        licence="Apache-2.0",
        may="do anything",
        expected={"cases": 24, "references": 30},
        traps=("a " * 80,),
    )


@pytest.mark.parametrize("width", [100, 80])
def test_nothing_is_wider_than_the_terminal(
    big: ReportData,
    doctor: DoctorReport,
    card: Card,
    width: int,
    make_comparisons: Callable[[Leaderboard], ComparisonTable],
) -> None:
    board = big.leaderboards[0]
    renderables: list[RenderableType] = [
        shown(board, big.comparisons[0]), duels(make_comparisons(board)), tables.doctor(doctor),
        tables.catalogue([CatalogueEntry(kind="metrics", name="hits", summary="Which findings were hit? " * 9),
            CatalogueEntry(kind="judges", name="lexical", summary="Words")]),
        tables.card(card, {"cases": 23, "references": 30}, notes=["one range was reversed " * 9]),
    ]  # fmt: skip
    for renderable in renderables:
        lines = printed(renderable, width)
        assert lines
        assert max(cell_len(line) for line in lines) <= width
        assert "…" not in "\n".join(lines), "something was cut off"


def test_the_leaderboard_says_what_it_rests_on(big: ReportData) -> None:
    board = big.leaderboards[0]
    said = flat(printed(shown(board, big.comparisons[0], explain=True), 100))
    for word in (
        "offline estimate",
        "(fake)",
        "28/30",
        "timeout 1",
        "seed 0",
        board.benchmark[:12],
        "30 clusters",
        "95%",
    ):
        assert word in said
    for warning in board.warnings:
        assert warning in said
    short = flat(printed(shown(board, big.comparisons[0]), 100))
    assert short.count(" ! ") == 1 and "more: --explain)" in short, "one caveat"
    assert "seed 0" not in short and "share of the" not in short


def test_the_headline_comes_first_and_keeps_its_interval_on_80_columns(big: ReportData) -> None:
    lines = printed(shown(big.leaderboards[0]), 80)
    assert lines[0].split()[:2] == ["system", "F1"] and "[" in lines[1]


@pytest.mark.parametrize("width", [70, 50, 34])
def test_a_narrow_terminal_shows_fewer_columns_and_cuts_no_number(
    big: ReportData, width: int, make_comparisons: Callable[[Leaderboard], ComparisonTable]
) -> None:
    board = big.leaderboards[0]
    for renderable in (shown(board), duels(make_comparisons(board))):
        lines = printed(renderable, width)
        assert max(cell_len(line) for line in lines) <= width
        assert "…" not in "\n".join(lines), "something was cut off"
    assert any(line.startswith(board.systems[0].system[:8]) for line in printed(shown(board), width))


def test_what_holds_of_several_systems_alike_is_said_once(small: ReportData) -> None:
    board = small.leaderboards[0]
    rows = tuple(
        row.model_copy(
            update={"system": name, "scored": 7, "failed": 0, "not_applicable": 6, "missing": 0, "cases": 13}
        )
        for row in board.systems[:1]
        for name in ("a", "b")
    )
    said = flat(printed(shown(board.model_copy(update={"systems": rows}), explain=True), 100))
    assert "not scored (never counted as 0): a, b: 6 not applicable" in said
    assert "as worst and best" not in said
    assert "n = 7 of 13 changes" in said


def test_bounds_are_for_what_failed_and_not_for_what_is_missing(small: ReportData) -> None:
    board = small.leaderboards[0]
    row = next(row for row in board.systems if any(e.worst is not None for e in row.estimates))
    counts = {"cases": 13, "scored": 8, "not_applicable": 0}
    missing = row.model_copy(update={**counts, "failed": 0, "missing": 5, "failures": {}})
    failed = row.model_copy(update={**counts, "failed": 2, "missing": 3, "failures": {"timeout": 2}})
    said = [flat(printed(shown(board.model_copy(update={"systems": (one,)})), 100)) for one in (missing, failed)]
    assert "5 missing" in said[0]
    assert "worst and best" not in said[0]
    assert "2 failed (timeout 2), 3 missing" in said[1]
    assert "with the failed as worst and best" in said[1]


def test_undefined_is_a_dash(small: ReportData) -> None:
    row = next(line for line in printed(shown(small.leaderboards[0]), 100) if line.startswith("silent"))
    assert row.split()[3] == "–", "the precision of no comments"


def test_text_from_data_is_neither_markup_nor_escape(small: ReportData, doctor: DoctorReport, card: Card) -> None:
    board = small.leaderboards[0]
    row = board.systems[0].model_copy(update={"system": NASTY})
    nasty = board.model_copy(update={"systems": (row,), "warnings": (NASTY,), "dataset": NASTY, "metric": NASTY})
    finding = LintFinding(level="error", rule=NASTY, case=NASTY, item=NASTY, message=NASTY)
    check = ProbeCheck(name=NASTY, expected=NASTY, found=NASTY, ok=False, case=NASTY, detail=NASTY)
    comparison = small.comparisons[0].comparisons[0].model_copy(update={"first": NASTY, "second": NASTY, "test": NASTY})
    renderables: list[RenderableType] = [
        shown(nasty),
        duels(small.comparisons[0].model_copy(update={"comparisons": (comparison,), "warnings": (NASTY,)})),
        tables.doctor(doctor.model_copy(update={"checks": (check,), "lint": (finding,), "dataset": NASTY})),
        tables.catalogue([CatalogueEntry(kind=NASTY, name=NASTY, summary=NASTY)]),
        tables.card(card.model_copy(update={"title": NASTY, "traps": (NASTY,)}), {NASTY: 1}, [NASTY]),
    ]
    for renderable in renderables:
        console = Console(width=100, force_terminal=True, color_system="standard", legacy_windows=False)
        with console.capture() as capture:
            console.print(renderable)
        text = capture.get()
        assert "\x07" not in text
        assert "\u202e" not in text
        assert "\x1b]" not in text
        assert "\x1b[31mred" not in text
        assert "[red]" in text, "markup stays text"


def test_a_doctor_report_says_what_fails_and_where(doctor: DoctorReport) -> None:
    said = flat(printed(tables.doctor(doctor), 100))
    assert "FAILS" in said
    assert "case k-12" in said
    assert "1 fail, 1 untried: cannot be trusted as it is, by spam gains nothing" in said
    assert "10 more not shown" in said


def test_a_doctor_that_could_try_nothing_claims_nothing(doctor: DoctorReport) -> None:
    untried = tuple(check.model_copy(update={"ok": None}) for check in doctor.checks)
    said = flat(printed(tables.doctor(doctor.model_copy(update={"checks": untried, "lint": ()})), 100))
    assert "no check could be tried" in said
    assert "can be trusted" not in said


def test_counts_that_differ_are_marked(card: Card) -> None:
    lines = printed(tables.card(card, {"cases": 23, "references": 30}), 100)
    assert any(line.startswith("cases") and "differs" in line for line in lines)
    assert not any(line.startswith("references") and "differs" in line for line in lines)


def test_an_empty_board_is_no_error(small: ReportData) -> None:
    empty = small.leaderboards[0].model_copy(update={"systems": (), "slices": ()})
    assert "no system was scored" in flat(printed(shown(empty), 80))


def test_augmented_figures_stand_beside_the_score_with_what_they_cannot_say(
    make_board: Callable[..., Leaderboard],
) -> None:
    board = make_board(["ours"], 30)
    row = board.systems[0]
    more = tuple(
        Estimate(measure=name, value=value, n=30, clusters=30)
        for name, value in (("f1", 0.5), ("augmented_precision", 0.25), ("augmented_recall", 0.75))
    )
    row = row.model_copy(update={"estimates": more})
    lines = flat(printed(shown(board.model_copy(update={"systems": (row,)}), explain=True), 120))
    assert "aug. P aug. R" in lines and ".25 .75" in lines
    assert "each system has its own denominator, so it must not rank" in lines


def test_no_number_is_cut_where_the_terminal_is_narrow() -> None:
    table = tables.bare_table()
    table.add_column("system", overflow="fold", min_width=8)
    for name in ("precision", "recall", "F1", "scored"):
        tables.number_column(table, name)
    table.add_row("a long name of a system", *(["1.00 [1.00,1.00]"] * 3), "17/22")
    console = Console(width=40, force_terminal=False, color_system=None, legacy_windows=False)
    with console.capture() as capture:
        console.print(table, crop=False)
    text = capture.get()
    assert text.count("1.00 [1.00,1.00]") == 3 and "17/22" in text
