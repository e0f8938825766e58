"""A benchmark out of a real history: known defects, known fixes, and what must not be seen by a reviewer."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from history_builder import Told
from malicious_repos import NAMES, armed
from reviewgauge.api.build import build as cli_build
from reviewgauge.core.building import Candidate, CardSection
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Progress
from reviewgauge.core.records import Case, Origin, Side, Tier
from reviewgauge.core.results import Drop
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.repo.diff.diffs import changed_lines
from reviewgauge.repo.git.repository import Repository
from reviewgauge.stages.from_git import FromGit, pooled_names

TOTAL = "def total(items):\n    amount = 0\n    for item in items{}:\n        amount += item.price\n    return amount\n"
TAX = "RATE = {}\n\n\ndef tax(amount):\n    return amount * RATE\n"
SHIP = "def shipping(weight):\n    if weight > 10:\n        return 5\n    return 2\n"
LATE = "def greet(name):\n    return 'Hello ' + nmae\n"


def fill(told: Told) -> dict[str, str]:
    """A shop with three defects: in a commit, in a branch, and one found late; the commits by name."""
    ids = {"root": told.commit("begin", {"README.md": "shop\n"})}
    ids["total"] = told.commit("Add total (#3)\n\nSums up.", {"shop/total.py": TOTAL.format("[1:]")})
    ids["shipping"] = told.commit("Add shipping", {"shop/shipping.py": SHIP})
    ids["greet"] = told.commit("Add greeting", {"shop/greet.py": LATE})
    told.branch("tax")
    ids["tax"] = told.commit("Add tax", {"shop/tax.py": TAX.format("1.19")})
    ids["tax-head"] = told.commit("Say what it is", {"shop/tax.py": '"""Taxes."""\n\n' + TAX.format("1.19")})
    ids["tax-merge"] = told.merge("tax", message="Merge pull request #5 from ada/tax\n\nTaxes that are wrong")
    ids["docs"] = told.commit("Fix typo in README", {"README.md": "Shop\n"})
    ids["total-fix"] = told.commit(
        "Fix total forgetting the first item (#9)\n\nIt began to count at one.\n\nSigned-off-by: B <b@example.invalid>",
        {"shop/total.py": TOTAL.format(""), "tests/test_total.py": "def test_total():\n    assert True\n"},
        days=20,
    )
    told.branch("mend")
    ids["tax-fix-head"] = told.commit("Rate", {"shop/tax.py": '"""Taxes."""\n\n' + TAX.format("0.19")}, days=5)
    ids["tax-fix"] = told.merge("mend", message="Merge pull request #10 from bob/mend\n\nFix tax that adds the amount")
    ids["watched"] = told.quiet(500)
    ids["greet-fix"] = told.commit("Fix crash of the greeting", {"shop/greet.py": LATE.replace("nmae", "name")})
    ids["young"] = told.commit("Add stock", {"shop/stock.py": "def stock():\n    return 3\n"})
    return ids


@pytest.fixture
def told(tmp_path: Path) -> Told:
    return Told(tmp_path / "shop")


def build(
    folder: Path, out: Path, stage: FromGit | None = None, told: Progress | None = None
) -> tuple[dict[str, Case], dict[str, str], list[CardSection]]:
    """(cases by head, reasons of drops by the beginning of their commit, sections of the card).

    Labels are kept whatever speaks against them: these histories are of a few lines.
    """
    place = BuildFolder(out, str(folder), listener=told)
    try:
        cases: dict[str, Case] = {}
        drops: dict[str, str] = {}
        for item in (stage or FromGit(certainty=0)).apply([], place):
            if isinstance(item, Candidate):
                cases[item.case.change.head or ""] = item.case
            elif isinstance(item, Drop):
                drops[item.item.rpartition("/")[2]] = item.reason
        return cases, drops, place.sections
    finally:
        place.close()


@pytest.mark.slow
def test_defects_are_placed_where_they_stood_under_review(told: Told, tmp_path: Path) -> None:
    ids = fill(told)
    cases, drops, _ = build(told.folder, tmp_path / "bench")
    total = cases[ids["total"]]
    assert total.id == f"shop/{ids['total'][:12]}" and total.verdict is False
    assert (total.change.title, total.change.description) == ("Add total", "Sums up.")
    (reference,) = total.references
    assert reference.span is not None
    assert (reference.span.path, reference.span.start, reference.span.end) == ("shop/total.py", 3, 3)
    assert reference.body == "Fix total forgetting the first item\n\nIt began to count at one."
    assert (reference.category, reference.author) == ("defect", None)
    assert reference.resolution is not None and reference.resolution.commit == ids["total-fix"]
    assert "for item in items:" in (reference.resolution.snippet or "")
    assert reference.extra["fix"] == ids["total-fix"] and reference.extra["days"] == 26.0
    assert reference.resolution is not None and reference.resolution.diff is not None
    assert "-    for item in items[1:]:" in reference.resolution.diff
    assert "test_total" not in reference.resolution.diff
    assert (reference.origin, reference.tier) == (Origin.FIX, Tier.TRACED)

    tax = cases[ids["tax-head"]]
    (reference,) = tax.references
    assert reference.span is not None and (reference.span.path, reference.span.start) == ("shop/tax.py", 3)
    assert reference.body.startswith("Fix tax that adds the amount"), "a fix may speak with its merge's words"
    assert tax.change.title == "Add tax", "a change may not"
    assert tax.facts["commits"] == 2 and tax.facts["language"] == "Python" and tax.facts["landing"] == "merge"

    assert cases[ids["shipping"]].clean
    assert drops[ids["greet"][:12]] == "first fixed after the horizon"
    assert drops[ids["young"][:12]] == "not observed for 180 days yet, and no fix so far"
    assert drops[ids["docs"][:12]] == "adds no line of the product's code"
    assert set(cases) == {ids["total"], ids["tax-head"], ids["shipping"], ids["total-fix"], ids["tax-fix-head"]}


@pytest.mark.slow
def test_every_reference_lies_on_added_lines_of_its_change(told: Told, tmp_path: Path) -> None:
    fill(told)
    cases, _, _ = build(told.folder, tmp_path / "bench")
    assert sum(len(case.references) for case in cases.values()) == 2
    for case in cases.values():
        added = {file.path: changed_lines(file, Side.NEW) for file in case.change.files}
        for reference in case.references:
            span = reference.span
            assert span is not None and span.start is not None and span.end is not None
            assert set(range(span.start, span.end + 1)) <= added[span.path]


@pytest.mark.slow
def test_nothing_later_than_its_head_can_be_reached_from_a_change(told: Told, tmp_path: Path) -> None:
    ids = fill(told)
    told.commit(f"Fix rounding, see {ids['total-fix'][:10]}", {"shop/total.py": TOTAL.format("") + "\n\nDIGITS = 2\n"})
    told.quiet(400)
    cases, _, _ = build(told.folder, tmp_path / "bench")
    everything = told.git("rev-list", "--all").split()
    subjects = {c: told.git("log", "-1", "--format=%s", c) for c in everything}
    for case in cases.values():
        change = case.change
        before = set(told.git("rev-list", change.head or "").split())
        shown = json.dumps({**change.model_dump(mode="json", exclude={"git"}), "case": case.id})
        for commit in set(everything) - before:
            assert commit[:7] not in shown
            if len(subjects[commit]) > 12:
                assert subjects[commit] not in shown
        assert "example.invalid" not in case.model_dump_json(), "no address of anybody"
        for word in re.findall(r"\b[0-9a-f]{40}\b", shown):
            assert word in before or word in shown.partition('"files"')[2], word
    changed, clean = cases[ids["total"]], cases[ids["shipping"]]
    assert re.sub("[0-9a-f]{12}", "", changed.id) == re.sub("[0-9a-f]{12}", "", clean.id), "an id tells nothing"


def test_what_was_rewritten_in_silence_is_not_clean(told: Told, tmp_path: Path) -> None:
    told.commit("begin", {"README.md": "shop\n"})
    ship = told.commit("Add shipping", {"shop/shipping.py": SHIP})
    late = told.commit("Add tax", {"shop/tax.py": TAX.format("0.19")})
    told.commit("Small change", {"shop/shipping.py": SHIP.replace("> 10", ">= 10")}, days=9)
    told.commit("Small change", {"shop/tax.py": TAX.format("0.20")}, days=200)
    refunds = "".join(f"rate_{n} = total * {n}\n" for n in range(40))
    soon = told.commit("Add refunds", {"shop/refunds.py": refunds})
    told.commit("Refunds by day", {"shop/refunds.py": refunds.replace("rate", "daily")}, days=5)
    told.quiet(500)
    cases, drops, _ = build(told.folder, tmp_path / "bench")
    assert drops[ship[:12]] == "a small later change rewrote its lines"
    assert drops[soon[:12]] == "a change within a week rewrote its lines", "however large it was"
    assert cases[late].clean, "after the horizon nobody looks"


@pytest.mark.slow
def test_the_horizon_moves_what_counts(told: Told, tmp_path: Path) -> None:
    ids = fill(told)
    cases, drops, _ = build(told.folder, tmp_path / "bench", FromGit(certainty=0, horizon=10))
    assert ids["total"] not in cases and drops[ids["total"][:12]] == "first fixed after the horizon"
    wide, _, _ = build(told.folder, tmp_path / "wide", FromGit(certainty=0, horizon=600))
    assert ids["greet"] in wide and wide[ids["greet"]].references


@pytest.mark.slow
def test_since_until_limit_branch_and_name(told: Told, tmp_path: Path) -> None:
    ids = fill(told)
    cases, drops, _ = build(told.folder, tmp_path / "a", FromGit(certainty=0, since="2020-01-04", name="acme/shop"))
    assert drops[ids["total"][:12]] == "older than since"
    assert all(case.id.startswith("acme/shop/") and case.change.repo == "acme/shop" for case in cases.values())
    cases, _, _ = build(told.folder, tmp_path / "b", FromGit(certainty=0, until="2020-01-20", horizon=10))
    assert cases[ids["total"]].clean, "what the future brought is not looked at"
    cases, _, _ = build(told.folder, tmp_path / "c", FromGit(certainty=0, limit=4))
    assert ids["total"] not in cases
    told.git("branch", "old", ids["shipping"])
    cases, drops, _ = build(told.folder, tmp_path / "d", FromGit(certainty=0, branch="old"))
    assert not cases and len(drops) == 3
    with pytest.raises(UserError, match="nowhere"):
        build(told.folder, tmp_path / "e", FromGit(certainty=0, branch="nowhere"))
    with pytest.raises(UserError, match="no commit up to 1999-01-01"):
        build(told.folder, tmp_path / "f", FromGit(certainty=0, until="1999-01-01"))
    for wrong in ({"horizon": 0}, {"since": "yesterday"}):
        with pytest.raises((ValueError, UserError)):
            FromGit(**wrong)


@pytest.mark.slow
def test_the_card_tells_of_fixes_lines_and_what_cannot_be_seen(told: Told, tmp_path: Path) -> None:
    fill(told)
    _, _, sections = build(told.folder, tmp_path / "bench")
    by = {section.title: section for section in sections}
    assert by["History"].figures["commits"] == 14
    assert by["Fixes"].figures == {"fixes": 4, "fixes traced to lines that count": 3}
    assert ("message", "no: no bug fix: spelling", 1) in by["Fixes"].rows
    noise = by["What a history can show"].figures
    assert noise["share labelled among labelled and clean"] == 0.4
    assert noise["half-life of a defect in days (median from change to fix)"] == 26.5
    lines = by["Blamed lines"]
    blamed, placed = (lines.figures[name] for name in ("lines blamed", "lines in labels, before the next stages"))
    assert (blamed, placed) == (3, 2)  # the greeting was mended too late
    assert (
        isinstance(blamed, int)
        and isinstance(placed, int)
        and blamed == placed + sum(int(row[1] or 0) for row in lines.rows)
    )


# --- what is not a label ----------------------------------------------------------------------------------------------


PARSE = "def parse(text, sep, strict):\n    return {}.split(sep)[strict:{}]\n"


def test_a_fix_labels_only_who_wrote_what_it_changes(told: Told, tmp_path: Path) -> None:
    told.commit("begin", {"README.md": "shop\n"})
    told.commit("Add parse", {"shop/p.py": PARSE.format("text", "1")})
    edit = told.commit("Name it", {"shop/p.py": PARSE.format("words", "1")})
    move = told.commit("Move parse", {"shop/p.py": None, "shop/q.py": PARSE.format("words", "1")})
    told.commit("Fix parse dropping words", {"shop/q.py": PARSE.format("words", "")})
    told.quiet(400)
    cases, drops, _ = build(told.folder, tmp_path / "bench")
    assert edit not in cases, "who edits a line beside the defect did not bring it"
    assert drops[edit[:12]] == "fixed later, but on no labelled line"
    assert move not in cases and drops[move[:12]] == "adds no line of the product's code"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import os\nimport sys\n\n\nX = os.sep\n", "import os\n\n\nX = os.sep\n"),
        ("X = 1  # one\n# two\nY = 2\n", "X = 1  # one\n# three\nY = 2\n"),
        ("__version__ = '1'\nX = 3\n", "__version__ = '2'\nX = 3\n"),
        ("def f():\n    pass\n\n\nX = 1\n", "def f():\n    return\n\n\nX = 1\n"),
    ],
    ids=["import", "comment", "version", "bare keyword"],
)
def test_lines_that_say_nothing_make_no_label_and_no_clean_change(
    told: Told, tmp_path: Path, before: str, after: str
) -> None:
    told.commit("begin", {"README.md": "shop\n"})
    change = told.commit("Add it", {"shop/x.py": before})
    told.commit("Fix crash at start", {"shop/x.py": after})
    told.quiet(400)
    cases, drops, _ = build(told.folder, tmp_path / "bench")
    assert change not in cases or cases[change].clean
    if change[:12] in drops:
        assert drops[change[:12]] in (
            "a later change may have fixed it",
            "fixed later, but on no labelled line",
        )


def test_doubt_is_neither_label_nor_clean(told: Told, tmp_path: Path) -> None:
    told.commit("begin", {"README.md": "shop\n"})
    one = told.commit("Add one", {"shop/one.py": "def one(a):\n    return a + 2\n"})
    two = told.commit("Add two", {"shop/two.py": "def two(a):\n    return a\n"})
    told.commit("Handle wrong sums", {"shop/one.py": "def one(a):\n    return a + 1\n"})
    guarded = "def two(a):\n    if a is None:\n        return 0\n    return a\n"
    told.commit("Fix crash on nothing", {"shop/two.py": guarded})
    told.quiet(400)
    cases, drops, _ = build(told.folder, tmp_path / "bench")
    assert one not in cases and two not in cases
    assert {drops[one[:12]], drops[two[:12]]} == {"a later change may have fixed it"}


def test_a_change_that_was_taken_back(told: Told, tmp_path: Path) -> None:
    told.commit("begin", {"README.md": "shop\n"})
    one = told.commit("Add a pool", {"shop/pool.py": "POOL = [1, 2]\n"})
    reason = "It deadlocks under load."
    told.commit(f'Revert "Add a pool"\n\nThis reverts commit {one}.\n\n{reason}', {"shop/pool.py": None})
    two = told.commit("Add a queue", {"shop/queue.py": "QUEUE = [1, 2]\n"})
    told.commit(f'Revert "Add a queue"\n\nThis reverts commit {two}.', {"shop/queue.py": None})
    told.quiet(400)
    cases, drops, _ = build(told.folder, tmp_path / "bench")
    (reference,) = cases[one].references
    assert reference.span is None and reason in reference.body
    assert one[:7] not in reference.body
    assert drops[two[:12]] == "reverted without a reason"
    assert sum(reason.startswith("reverts") for reason in drops.values()) == 2


def test_a_revert_of_several_changes_blames_the_oldest(told: Told, tmp_path: Path) -> None:
    told.commit("begin", {"README.md": "shop\n"})
    one = told.commit("Add a pool", {"shop/pool.py": "POOL = [1, 2]\n"})
    two = told.commit("Grow the pool", {"shop/pool.py": "POOL = [1, 2, 3]\n"})
    reason = "It deadlocks under load."
    message = f"Revert the pool\n\nThis reverts commit {two}.\nThis reverts commit {one}.\n\n{reason}"
    told.commit(message, {"shop/pool.py": None})
    told.quiet(400)
    cases, drops, _ = build(told.folder, tmp_path / "bench")
    assert cases[one].references and two not in cases
    assert drops[two[:12]] == "reverted together with an older change"


def test_a_fix_that_takes_back_several_pull_requests_does_not_blame_the_later_ones(told: Told, tmp_path: Path) -> None:
    told.commit("begin", {"README.md": "shop\n"})
    one = told.commit("Add a pool (#3)", {"shop/pool.py": "POOL = [1, 2]\nSIZE = 7 * 3\n"})
    two = told.commit("Grow the pool (#4)", {"shop/pool.py": "POOL = [1, 2, 3]\nSIZE = 7 * 3\n"})
    told.commit("Fix pool that deadlocks under load\n\nRevert #3 and #4", {"shop/pool.py": "POOL = []\nSIZE = 0\n"})
    told.quiet(400)
    cases, _, _ = build(told.folder, tmp_path / "bench")
    assert two not in cases and cases[one].references


def test_a_revert_that_only_repeats_a_title_says_no_reason(told: Told, tmp_path: Path) -> None:
    told.commit("begin", {"README.md": "shop\n"})
    one = told.commit("Add a pool", {"shop/pool.py": "POOL = [1, 2]\n"})
    told.commit(
        f'Revert "Add a.."[1]\n\nThis reverts commit {one}.\n\n[1] "Add a pool with two or more in it"',
        {"shop/pool.py": None},
    )
    told.quiet(400)
    _, drops, _ = build(told.folder, tmp_path / "bench")
    assert drops[one[:12]] == "reverted without a reason"


def test_a_revert_that_names_no_defect_is_none(told: Told, tmp_path: Path) -> None:
    told.commit("begin", {"README.md": "shop\n"})
    one = told.commit("Add a pool", {"shop/pool.py": "POOL = [1, 2]\n"})
    told.commit(
        f'Revert "Add a pool"\n\nThis reverts commit {one}.\n\nWe want to bring it back in the next cycle.',
        {"shop/pool.py": None},
    )
    told.quiet(400)
    _, drops, _ = build(told.folder, tmp_path / "bench")
    assert drops[one[:12]] == "reverted without a reason"


def test_what_a_later_change_broke_is_no_defect_of_the_line(told: Told, tmp_path: Path) -> None:
    age = "def age(box):\n    {}\n    return 100 - {}\n"
    fields = "then = int(box.then)\n    late = box.late\n    left = box.left\n    days = box.days"
    texts = "then, late = box.text.split()\n    left = box.rest()\n    days = 3 * late\n    show(left, days)"
    told.commit("begin", {"README.md": "shop\n"})
    right = told.commit("Add age", {"shop/age.py": age.format(fields, "then")})
    told.commit("Read two fields", {"shop/age.py": age.format(texts, "then")}, days=9)
    told.commit("Fix crash of age", {"shop/age.py": age.format(texts, "int(then)")}, days=9)
    told.quiet(400)
    cases, drops, _ = build(told.folder, tmp_path / "bench", FromGit())
    assert right not in cases and drops[right[:12]] == "fixed later, but on no labelled line"


def test_a_fix_that_landed_twice_is_one_finding(told: Told, tmp_path: Path) -> None:
    told.commit("begin", {"README.md": "shop\n"})
    change = told.commit("Add total", {"shop/total.py": TOTAL.format("[1:]")})
    told.branch("stable")
    told.commit("[PR #7 backport] Fix total forgetting the first", {"shop/total.py": TOTAL.format("")}, days=3)
    told.git("checkout", "-q", "main")
    told.commit("Fix total forgetting the first", {"shop/total.py": TOTAL.format("")})
    told.merge("stable", message="Merge branch 'stable'")
    told.quiet(400)
    cases, _, _ = build(told.folder, tmp_path / "bench")
    assert len(cases[change].references) == 1


@pytest.mark.parametrize(
    ("title", "message", "test", "labelled"),
    [
        ("Add total (#30)", "Fix total forgetting one (#41)\n\nFixes #12.", "", False),
        ("Add total (#30)", "Fix total forgetting one (#41)\n\nFixes #31.", "", True),
        ("Add total (#30)", "Fix total forgetting one (#41)\n\nFixes acme/other#12.", "", True),
        ("Add total", "Fix total forgetting one (#41)\n\nFixes #12.", "", True),
        ("Add total\n\nCloses #30", "Fix total forgetting one\n\nFixes #12.", "", False),
        ("Add total (#30)", "Fix total forgetting one (#41)", "def test_issue_12():\n    assert True\n", False),
        ("Add total (#30)", "Fix total forgetting one\n\nFixes #12.", "# also #38\n", True),
    ],
    ids=["older", "newer", "foreign", "no number", "than what it closed", "older, in a test", "newer, in a test"],
)
def test_an_issue_older_than_the_pull_request_is_not_its_defect(
    told: Told, tmp_path: Path, title: str, message: str, test: str, labelled: bool
) -> None:
    told.commit("begin", {"README.md": "shop\n"})
    change = told.commit(title, {"shop/total.py": TOTAL.format("[1:]")})
    told.commit(message, {"shop/total.py": TOTAL.format(""), "tests/test_total.py": test or "pass\n"}, days=3)
    told.quiet(400)
    cases, drops, _ = build(told.folder, tmp_path / "bench")
    assert (change in cases) is labelled
    assert labelled or drops[change[:12]] == "a later change may have fixed it"


def test_pull_requests_that_landed_before_tell_how_old_an_issue_is(told: Told, tmp_path: Path) -> None:
    told.commit("begin", {"README.md": "shop\n"})
    told.commit("Quote (#9000)", {"shop/a.py": "A = 1\n"})
    told.commit("Say more (#20)", {"shop/a.py": "A = 2\n"})
    change = told.commit("Add total", {"shop/total.py": TOTAL.format("[1:]")})
    other = told.commit("Add tax", {"shop/tax.py": TAX.format("1.19")})
    told.commit("Fix total forgetting one\n\nFixes #12.", {"shop/total.py": TOTAL.format("")}, days=3)
    told.commit("Fix tax that adds the amount\n\nFixes #21.", {"shop/tax.py": TAX.format("0.19")}, days=3)
    told.quiet(400)
    cases, _, _ = build(told.folder, tmp_path / "bench")
    assert change not in cases and cases[other].references


def test_an_option_behind_a_bare_closing_word_is_a_wish(told: Told, tmp_path: Path) -> None:
    told.commit("begin", {"README.md": "shop\n"})
    change = told.commit("Add total", {"shop/total.py": TOTAL.format("[1:]")})
    wish = TOTAL.format("[first:]").replace("(items)", "(items, first=1)")
    told.commit("Totals do not take some\n\nFixes #12.", {"shop/total.py": wish}, days=3)
    told.quiet(400)
    cases, drops, _ = build(told.folder, tmp_path / "bench")
    assert change not in cases and drops[change[:12]] == "fixed later, but on no labelled line"


def test_a_label_that_lost_its_core_line_is_dropped(told: Told, tmp_path: Path) -> None:
    told.commit("begin", {"README.md": "shop\n"})
    code = "def fee(a, b):\n    x = {}\n    y = b * 2\n    z = y {} x\n    return z\n"
    told.commit("Add fee", {"shop/fee.py": code.format("a + b + 1", "-")})
    change = told.commit("Subtract less", {"shop/fee.py": code.format("a + b + 1", "*")})
    told.commit("Fix fee that counts twice", {"shop/fee.py": code.format("max(0, min(9, c))", "+")}, days=3)
    told.quiet(400)
    cases, _, _ = build(told.folder, tmp_path / "bench")
    assert change not in cases, "the fix is about another line, which others wrote"


FEE = "def fee(a):\n    while {}:\n        a = a + {}\n    return a\n"
TAXES = "\n\ndef tax(b):\n    rate = {}\n    return b * rate\n"


def test_of_several_changes_a_fix_is_about_those_where_most_of_its_work_is(told: Told, tmp_path: Path) -> None:
    told.commit("begin", {"README.md": "shop\n"})
    before, after = FEE.format("a < 9 * low", "2"), FEE.format("a < 7 * high", "2")
    less = told.commit("Add fee", {"shop/fee.py": before})
    most = told.commit("Add tax", {"shop/fee.py": before + TAXES.format("19 * low")})
    told.commit("Fix tax that grows", {"shop/fee.py": after + TAXES.format("21 * high * 3")}, days=3)
    told.quiet(400)
    cases, _, _ = build(told.folder, tmp_path / "bench")
    assert less not in cases and cases[most].references
    loose, _, _ = build(told.folder, tmp_path / "loose", FromGit(certainty=0, strict=False))
    assert loose[less].references and loose[most].references


def test_what_is_mended_within_a_day_was_unfinished(told: Told, tmp_path: Path) -> None:
    told.commit("begin", {"README.md": "shop\n"})
    change = told.commit("Add total", {"shop/total.py": TOTAL.format("[1:]")})
    told.commit("Fix total forgetting the first", {"shop/total.py": TOTAL.format("")}, days=0.4)
    told.quiet(400)
    _, drops, _ = build(told.folder, tmp_path / "bench")
    assert drops[change[:12]] == "fixed sooner than min_days"
    cases, _, _ = build(told.folder, tmp_path / "any", FromGit(certainty=0, min_days=0))
    assert cases[change].references


def test_several_places_of_one_fix_are_one_finding(told: Told, tmp_path: Path) -> None:
    told.commit("begin", {"README.md": "shop\n"})
    body = "def {0}(a):\n    b = a * {1}\n    c = b - a\n    d = c + b\n    return d\n\n\n"
    change = told.commit("Add two sums", {"shop/s.py": body.format("one", 2) + body.format("two", 2)})
    told.commit("Fix sums that double", {"shop/s.py": body.format("one", 3) + body.format("two", 3)})
    told.quiet(400)
    cases, _, _ = build(told.folder, tmp_path / "bench")
    first, second = cases[change].references
    assert second.same_as == first.id and first.same_as is None
    assert [r.span.start for r in (first, second) if r.span] == [2, 9]


# --- resuming and growing ------------------------------------------------------------------------------------------


class Killed(Exception):
    """The process ends here."""


@pytest.mark.slow
def test_a_killed_build_goes_on_and_says_the_same(told: Told, tmp_path: Path) -> None:
    fill(told)
    seen: list[tuple[int, int, str]] = []

    def kill(done: int, total: int, label: str) -> None:
        if label == "tracing fixes" and done == 2:
            raise Killed

    with pytest.raises(Killed):
        build(told.folder, tmp_path / "bench", told=kill)
    again = build(told.folder, tmp_path / "bench", told=lambda *step: seen.append(step))
    assert [step for step in seen if step[2] == "tracing fixes"] == [(n, 4, "tracing fixes") for n in (3, 4)], (
        "two are remembered"
    )
    fresh = build(told.folder, tmp_path / "fresh")
    assert _without_git(again[0]) == _without_git(fresh[0]) and again[1:] == fresh[1:]


def _without_git(cases: dict[str, Case]) -> list[Case]:
    return [case.model_copy(update={"change": case.change.model_copy(update={"git": None})}) for case in cases.values()]


@pytest.mark.slow
def test_new_commits_extend_a_benchmark(told: Told, tmp_path: Path) -> None:
    ids = fill(told)
    before, _, _ = build(told.folder, tmp_path / "bench")
    assert before[ids["shipping"]].clean and ids["young"] not in before
    told.quiet(400)
    seen: list[tuple[int, int, str]] = []
    after, _, _ = build(told.folder, tmp_path / "bench", told=lambda *step: seen.append(step))
    assert after[ids["young"]].clean
    assert not [step for step in seen if step[2] == "tracing fixes"], "no fix is traced twice"


@pytest.mark.slow
def test_a_build_again_without_news_reads_nothing_again(
    told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(told)
    told.branch("more")
    told.commit("Add more", {"shop/more.py": "MORE = 1\n"})
    told.merge("more", message="Merge pull request #11 from ada/more\n\nMore")
    first = cli_build(told.folder, out=tmp_path / "bench")
    started: list[str] = []
    start = Repository.start

    def counting(self: Repository, *args: str, **options: Any) -> Any:
        started.append(args[0])
        return start(self, *args, **options)

    monkeypatch.setattr(Repository, "start", counting)
    again = cli_build(told.folder, out=tmp_path / "bench")
    assert first.card is not None and again.card is not None and again.card.benchmark == first.card.benchmark
    assert [row.kept for row in again.card.funnel] == [row.kept for row in first.card.funnel]
    assert "diff-tree" not in started and started.count("cat-file") <= 2 and len(started) <= 15, started


# --- odd and broken repositories -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_cannot_be_read_is_one_clear_line(told: Told, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no commits"):
        build(told.folder, tmp_path / "empty")
    with pytest.raises(UserError, match="does not exist"):
        build(tmp_path / "nowhere", tmp_path / "none")
    (tmp_path / "plain").mkdir()
    with pytest.raises(UserError, match="is not a git repository"):
        build(tmp_path / "plain", tmp_path / "no-repository")
    fill(told)
    blobs = sorted((told.folder / ".git" / "objects").glob("??/*"), key=lambda path: path.stat().st_size)
    blobs[0].chmod(0o644)
    blobs[0].write_bytes(b"rubbish")
    with pytest.raises(UserError, match="is damaged"):
        build(told.folder, tmp_path / "corrupt")


def odd(told: Told, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The same history in other shapes."""
    for name, options in {
        "bare": ["--bare"],
        "shallow": ["--depth", "9"],
        "partial": ["--filter=blob:limit=5"],
        "detached": ["-n"],
    }.items():
        target = tmp_path / name / "shop"
        told.git("config", "uploadpack.allowFilter", "true")
        told.git("clone", "-q", *options, f"file://{told.folder}", str(target))
        if name == "detached":
            told.git("-C", str(target), "checkout", "-q", "--detach", "HEAD")
        if name == "partial":
            told.git("-C", str(target), "remote", "set-url", "origin", "file:///nowhere")
        yield name, target


@pytest.mark.slow
def test_other_shapes_of_a_repository_give_the_same_or_less(told: Told, tmp_path: Path) -> None:
    ids = fill(told)
    whole, _, _ = build(told.folder, tmp_path / "whole")
    for name, folder in odd(told, tmp_path):
        cases, drops, sections = build(folder, tmp_path / f"bench-{name}")
        if name in ("bare", "detached"):
            assert _without_git(cases) == _without_git(whole), name
        elif name == "shallow":
            assert ids["total"] not in cases and "shallow" in str(sections[0].warnings)
            assert set(cases) <= set(whole) and drops
        else:
            assert set(cases) <= set(whole) and "partial" in str(sections[0].warnings)


@pytest.mark.slow
def test_files_that_go_round_in_circles_and_huge_ones(told: Told, tmp_path: Path) -> None:
    told.commit("begin", {"README.md": "shop\n"})
    told.commit("Add sum", {"shop/a.py": TOTAL.format("[1:]")})
    for here, there in (("a", "b"), ("b", "c"), ("c", "a"), ("a", "b"), ("b", "a")):
        told.commit(f"Move to {there}", {f"shop/{here}.py": None, f"shop/{there}.py": TOTAL.format("[1:]")})
    huge = told.commit("Add data", {"shop/data.py": b"ROW = 1\n" * 6_500_000})
    told.commit("Fix sum forgetting the first", {"shop/a.py": TOTAL.format("")})
    told.quiet(400)
    cases, drops, _ = build(told.folder, tmp_path / "bench")
    labelled = [case for case in cases.values() if case.references]
    assert [case.change.title for case in labelled] == ["Add sum"]
    assert drops[huge[:12]] == "adds no line of the product's code", "its diff is not read"


def test_clocks_that_are_wrong(told: Told, tmp_path: Path) -> None:
    told.commit("begin", {"README.md": "shop\n"})
    change = told.commit("Add sum", {"shop/a.py": TOTAL.format("[1:]")}, days=1500)
    told.commit("Fix sum forgetting the first", {"shop/a.py": TOTAL.format("")}, days=-1000)
    told.quiet(1000)
    cases, drops, sections = build(told.folder, tmp_path / "bench")
    assert change not in cases
    assert drops[change[:12]] == "a fix is dated before it: a clock was wrong"
    assert "dated over a day before" in str(sections[0].warnings)


def test_odd_paths_are_read(told: Told, tmp_path: Path) -> None:
    told.commit("begin", {"README.md": "shop\n"})
    files = {"shop/back\\slash.py": "X = 1\n", "shop/ein\u00e4.py": "Y = 1\n", "a b/c.py": "Z = 2\n"}
    change = told.commit("Add odd names", files)
    told.quiet(400)
    cases, _, _ = build(told.folder, tmp_path / "bench")
    assert len(cases[change].change.files) == 3
    assert "shop/ein\u00e4.py" in [file.path for file in cases[change].change.files]


@pytest.mark.parametrize("name", NAMES)
def test_no_trap_of_a_repository_springs(name: str, tmp_path: Path) -> None:
    trap = armed(tmp_path, name)
    try:
        cases, drops, _ = build(trap.folder, tmp_path / "bench")
    except UserError as error:
        assert "\n" not in str(error)
    else:
        assert drops or cases
    assert not trap.sprung


@pytest.mark.slow
def test_code_that_is_missing_drops_the_change(told: Told, tmp_path: Path) -> None:
    ids = fill(told)
    whole, _, _ = build(told.folder, tmp_path / "bench")
    assert whole[ids["total"]].references
    source = tmp_path / "partial"
    told.git("config", "uploadpack.allowFilter", "true")
    told.git("clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{told.folder}", str(source))
    told.git("-C", str(source), "remote", "set-url", "origin", "file:///nowhere")
    cases, drops, _ = build(source, tmp_path / "bench", FromGit(certainty=0, name="other"))
    assert not cases
    assert drops[ids["total"][:12]] == "its diff cannot be read"


@pytest.mark.slow
def test_the_benchmark_stands_without_the_repository(told: Told, tmp_path: Path) -> None:
    ids = fill(told)
    cases, _, _ = build(told.folder, tmp_path / "bench")
    shutil.rmtree(told.folder)
    git = cases[ids["total"]].change.git
    assert git is not None and Path(git) == tmp_path / "bench" / "repos" / "shop.git"


@pytest.mark.slow
def test_the_recipe_makes_a_benchmark_that_can_be_used(told: Told, tmp_path: Path) -> None:
    ids = fill(told)
    result = cli_build(told.folder, out=tmp_path / "bench")
    assert result.card is not None and result.card.recipe == "local"
    assert [row.stage.partition("(")[0] for row in result.card.funnel] == [
        "from_git",
        "drop_documentation",
        "drop_generated",
        "drop_trivial",
        "where",
        "drop_duplicates",
        "resample",
    ]
    assert (result.card.counts["changed"], result.card.counts["clean"]) == (2, 2)
    assert result.card.counts["findings"] == 2
    again = cli_build(told.folder, out=tmp_path / "again", settings={"clean_per_changed": "0.5", "horizon": "180"})
    assert again.card is not None and again.card.counts["clean"] == 1
    shutil.rmtree(told.folder)
    cases = [Case.model_validate_json(line) for line in (tmp_path / "bench" / "cases.jsonl").open("rb")]
    assert {case.change.head for case in cases if case.references} == {ids["total"], ids["tax-head"]}


@pytest.mark.slow
def test_several_repositories_make_one_benchmark(tmp_path: Path) -> None:
    for name, word in (("one", "item"), ("two", "thing")):
        told = Told(tmp_path / name)
        told.commit("begin", {"README.md": "shop\n"})
        told.commit("Add total", {"shop/total.py": TOTAL.format("[1:]").replace("item", word)})
        told.commit("Add shipping", {"shop/shipping.py": SHIP.replace("weight", word)})
        told.commit("Fix total forgetting one", {"shop/total.py": TOTAL.format("").replace("item", word)}, days=3)
        told.quiet(400)
    result = cli_build([tmp_path / "one", tmp_path / "two"], out=tmp_path / "bench")
    assert result.card is not None and result.card.source == f"{tmp_path / 'one'}, {tmp_path / 'two'}"
    assert (result.card.counts["changed"], result.card.counts["clean"]) == (2, 2)
    cases = [Case.model_validate_json(line) for line in (tmp_path / "bench" / "cases.jsonl").open("rb")]
    for kind in (True, False):
        assert [case.change.repo for case in cases if case.clean is kind] == ["one", "two"]
    titles = [section.title for section in result.card.sections]
    assert {"Fixes: one", "Fixes: two", "Balance"} <= set(titles)
    with pytest.raises(UserError, match="cannot be built together"):
        cli_build([tmp_path / "one", "github:acme/shop"], out=tmp_path / "both")
    with pytest.raises(UserError, match="name is for one repository"):
        cli_build([tmp_path / "one", tmp_path / "two"], out=tmp_path / "named", settings={"name": "shop"})


def test_a_bare_repo_is_called_by_the_folder_around_it(tmp_path: Path) -> None:
    (tmp_path / "acme+shop" / "repo").mkdir(parents=True)
    assert pooled_names([str(tmp_path / "acme+shop" / "repo")]) == ("repo",), "a checkout that is called so"
    (tmp_path / "acme+shop" / "repo" / "HEAD").write_text("ref: refs/heads/main\n")
    assert pooled_names([str(tmp_path / "acme+shop" / "repo")]) == ("acme-shop",)


def test_repositories_of_one_name_are_told_apart_by_the_folder_around_them(tmp_path: Path) -> None:
    assert pooled_names([str(tmp_path / "a" / "shop"), str(tmp_path / "b" / "shop")]) == ("a-shop", "b-shop")
    with pytest.raises(UserError, match="same name"):
        pooled_names([str(tmp_path / "x" / "a" / "shop"), str(tmp_path / "y" / "a" / "shop")])
