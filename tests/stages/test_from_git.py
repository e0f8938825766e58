"""A benchmark out of a real history: known defects, known fixes, and what must not be seen by a reviewer."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from history_builder import Told
from reviewgauge.api.build import build as cli_build
from reviewgauge.core.building import Candidate, CardSection
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Progress
from reviewgauge.core.records import Case, Origin, Tier
from reviewgauge.core.results import Drop
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.repo.git.repository import Repository
from reviewgauge.stages.from_git import FromGit
from reviewgauge.stages.history.card import CURVE
from reviewgauge.stages.history.source import pooled_names

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


class Shop(NamedTuple):
    """A history that is told, its commits by name, and what a build made of it."""

    told: Told
    ids: dict[str, str]
    cases: dict[str, Case]
    drops: dict[str, str]
    sections: list[CardSection]

    def drop(self, name: str) -> str:
        """Why a change is no case."""
        assert self.ids[name] not in self.cases
        return self.drops[self.ids[name][:12]]


@pytest.fixture
def told(tmp_path: Path) -> Told:
    return Told(tmp_path / "shop")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """The shop of `fill`."""
    told = Told(tmp_path_factory.mktemp("filled") / "shop")
    ids = fill(told)
    return Shop(told, ids, *build(told.folder, tmp_path_factory.mktemp("bench")))


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
        for item in (stage or FromGit(certainty=0, horizon=180)).apply([], place):
            if isinstance(item, Candidate):
                cases[item.case.change.head or ""] = item.case
            elif isinstance(item, Drop):
                drops[item.item.rpartition("/")[2]] = item.reason
        return cases, drops, place.sections
    finally:
        place.close()


def test_defects_are_placed_where_they_stood_under_review(shop: Shop) -> None:
    ids, cases, drops = shop.ids, shop.cases, shop.drops
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


def test_the_card_tells_of_fixes_lines_and_what_cannot_be_seen(shop: Shop) -> None:
    by = {section.title: section for section in shop.sections}
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


def test_the_horizon_moves_what_counts(shop: Shop, tmp_path: Path) -> None:
    wide, _, _ = build(shop.told.folder, tmp_path / "wide", FromGit(certainty=0, horizon=600))
    assert wide[shop.ids["greet"]].references


@pytest.mark.slow
def test_since_until_limit_branch_and_name(shop: Shop, tmp_path: Path) -> None:
    folder, ids = shop.told.folder, shop.ids
    cases, drops, _ = build(folder, tmp_path / "a", FromGit(certainty=0, since="2020-01-04", name="acme/shop"))
    assert drops[ids["total"][:12]] == "older than since"
    assert all(case.id.startswith("acme/shop/") and case.change.repo == "acme/shop" for case in cases.values())
    cases, drops, _ = build(folder, tmp_path / "b", FromGit(certainty=0, until="2020-01-20", clean_days=10, limit=4))
    assert cases[ids["tax-head"]].clean, "what the future brought is not looked at"
    assert ids["total"] not in cases and ids["total"][:12] not in drops, "the newest four alone"
    with pytest.raises(UserError, match="no commit up to 1999-01-01"):
        build(folder, tmp_path / "f", FromGit(certainty=0, until="1999-01-01"))


# --- what is not a label ----------------------------------------------------------------------------------------------


PARSE = "def parse(text, sep, strict):\n    return {}.split(sep)[strict:{}]\n"
FEE = "def fee(a):\n    while {}:\n        a = a + {}\n    return a\n"
TAXES = "\n\ndef tax(b):\n    rate = {}\n    return b * rate\n"
SAYS_NOTHING = {
    "import": ("import os\nimport sys\n\n\nX = os.sep\n", "import os\n\n\nX = os.sep\n"),
    "comment": ("X = 1  # one\n# two\nY = 2\n", "X = 1  # one\n# three\nY = 2\n"),
    "version": ("__version__ = '1'\nX = 3\n", "__version__ = '2'\nX = 3\n"),
    "keyword": ("def f():\n    pass\n\n\nX = 1\n", "def f():\n    return\n\n\nX = 1\n"),
}
REASON = "It deadlocks under load."


@pytest.fixture(scope="module")
def stories(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """Many changes and what became of them, each in a file of its own."""
    told = Told(tmp_path_factory.mktemp("stories") / "shop")
    ids = {"begin": told.commit("begin", {"README.md": "shop\n"})}

    def say(name: str, message: str, path: str, text: str | None, days: float = 1) -> None:
        ids[name] = told.commit(message, {f"shop/{path}.py": text}, days)

    ids["late tax"] = told.commit("Add tax", {"shop/late.py": TAX.format("0.19")})
    say("silent", "Add shipping", "ship", SHIP)
    say("-", "Small change", "ship", SHIP.replace("> 10", ">= 10"), 9)
    refunds = "".join(f"rate_{n} = total * {n}\n" for n in range(40))
    say("soon", "Add refunds", "refunds", refunds)
    say("-", "Refunds by day", "refunds", refunds.replace("rate", "daily"), 5)
    say("-", "Add parse", "p", PARSE.format("text", "1"))
    say("edit", "Name it", "p", PARSE.format("words", "1"))
    ids["move"] = told.commit("Move parse", {"shop/p.py": None, "shop/q.py": PARSE.format("words", "1")})
    say("-", "Fix parse dropping words", "q", PARSE.format("words", ""))
    for name, (before, after) in SAYS_NOTHING.items():
        say(name, "Add it", name, before)
        say("-", "Fix crash at start", name, after)
    say("doubt", "Add one", "one", "def one(a):\n    return a + 2\n")
    say("guard", "Add two", "two", "def two(a):\n    return a\n")
    say("-", "Handle wrong sums", "one", "def one(a):\n    return a + 1\n")
    say("-", "Fix crash on nothing", "two", "def two(a):\n    if a is None:\n        return 0\n    return a\n")
    for name, body in {
        "taken back": REASON,
        "no reason": "",
        "a title": '[1] "Add a pool with two or more in it"',
        "no defect": "We want to bring it back in the next cycle.",
    }.items():
        say(name, f"Add {name}", name.replace(" ", "_"), "POOL = [1, 2]\n")
        revert = f'Revert "Add {name}"\n\nThis reverts commit {ids[name]}.\n\n{body}'
        say(f"revert {name}", revert, name.replace(" ", "_"), None)
    say("oldest", "Add many", "many", "POOL = [1, 2]\n")
    say("grown", "Grow the many", "many", "POOL = [1, 2, 3]\n")
    both = f"This reverts commit {ids['grown']}.\nThis reverts commit {ids['oldest']}."
    say("-", f"Revert the many\n\n{both}\n\n{REASON}", "many", None)
    say("pull 3", "Add a queue (#3)", "queue", "QUEUE = [1, 2]\nSIZE = 7 * 3\n")
    say("pull 4", "Grow the queue (#4)", "queue", "QUEUE = [1, 2, 3]\nSIZE = 7 * 3\n")
    say("-", "Fix queue that deadlocks\n\nRevert #3 and #4", "queue", "QUEUE = []\nSIZE = 0\n")
    say("wish", "Add total", "wish", TOTAL.format("[1:]"))
    wish = TOTAL.format("[first:]").replace("(items)", "(items, first=1)")
    say("-", "Totals do not take some\n\nFixes #12.", "wish", wish, 3)
    core = "def core(a, b):\n    x = {}\n    y = b * 2\n    z = y {} x\n    return z\n"
    say("-", "Add core", "core", core.format("a + b + 1", "-"))
    say("core", "Subtract less", "core", core.format("a + b + 1", "*"))
    say("-", "Fix core that counts twice", "core", core.format("max(0, min(9, c))", "+"), 3)
    before, after = FEE.format("a < 9 * low", "2"), FEE.format("a < 7 * high", "2")
    say("less", "Add fee", "fee", before)
    say("most", "Add fee's tax", "fee", before + TAXES.format("19 * low"))
    say("-", "Fix tax that grows", "fee", after + TAXES.format("21 * high * 3"), 3)
    say("hasty", "Add sum", "sum", TOTAL.format("[1:]").replace("total", "sums"))
    say("-", "Fix sum forgetting the first", "sum", TOTAL.format("").replace("total", "sums"), 0.4)
    body = "def {0}(a):\n    b = a * {1}\n    c = b - a\n    d = c + b\n    return d\n\n\n"
    say("places", "Add two sums", "s", body.format("one", 2) + body.format("two", 2))
    say("-", "Fix sums that double", "s", body.format("one", 3) + body.format("two", 3))
    say("-", "Small change", "late", TAX.format("0.20"), 200)
    told.quiet(400)
    return Shop(told, ids, *build(told.folder, tmp_path_factory.mktemp("bench")))


NO_LINE = "fixed later, but on no labelled line"


@pytest.mark.parametrize(("name", "reason"), [
    ("silent", "a later change rewrote its lines"),
    ("soon", "a later change rewrote its lines"),  # however large it was
    ("edit", NO_LINE),  # who edits a line beside the defect did not bring it
    ("move", "adds no line of the product's code"),
    ("doubt", "a later change may have fixed it"),
    ("guard", "a later change may have fixed it"),
    ("no reason", "reverted without a reason"),
    ("a title", "reverted without a reason"),
    ("no defect", "reverted without a reason"),
    ("grown", "reverted together with an older change"),
    ("wish", NO_LINE),  # an option behind a bare closing word
    ("core", NO_LINE),  # the fix is about another line, which others wrote
    ("hasty", "fixed sooner than min_days"),
])  # fmt: skip
def test_what_is_no_label_says_why(stories: Shop, name: str, reason: str) -> None:
    assert stories.drop(name) == reason


@pytest.mark.parametrize("name", SAYS_NOTHING)
def test_lines_that_say_nothing_make_no_label(stories: Shop, name: str) -> None:
    case = stories.cases.get(stories.ids[name])
    assert case.clean if case else stories.drop(name) in ("a later change may have fixed it", NO_LINE)


def test_fixes_that_only_add_lines_make_labels_of_a_tier_of_their_own_when_asked_for(
    stories: Shop, tmp_path: Path
) -> None:
    cases, _, _ = build(stories.told.folder, tmp_path / "b", FromGit(certainty=0, horizon=180, beside=True))
    (label,) = cases[stories.ids["guard"]].references
    assert label.tier is Tier.BESIDE and label.span is not None and "holds" not in label.extra
    assert {one.tier for one in cases[stories.ids["most"]].references} == {Tier.TRACED}


def test_what_is_a_label(stories: Shop) -> None:
    cases, ids = stories.cases, stories.ids
    assert cases[ids["late tax"]].clean, "after the horizon nobody looks"
    for name in ("taken back", "oldest"):
        (reference,) = cases[ids[name]].references
        assert reference.span is None and REASON in reference.body and ids[name][:7] not in reference.body
    assert cases[ids["pull 3"]].references and ids["pull 4"] not in cases
    assert cases[ids["most"]].references
    first, second = cases[ids["places"]].references
    assert second.same_as == first.id and first.same_as is None
    assert [r.span.start for r in (first, second) if r.span] == [2, 9]


@pytest.mark.slow
def test_the_card_says_how_many_labels_each_certainty_gives(stories: Shop, tmp_path: Path) -> None:
    folder = stories.told.folder
    loose, _, sections = build(folder, tmp_path / "loose", FromGit(certainty=0, min_days=0, horizon=180))
    assert all(loose[stories.ids[name]].references for name in ("less", "most", "hasty"))
    (curve,) = (one for one in sections if one.title == CURVE)
    assert len(curve.rows) > 2
    for least, changes, labels, *_ in curve.rows:
        stage = FromGit(certainty=float(str(least)), min_days=0, horizon=180)
        cases, _, _ = build(folder, tmp_path / str(least), stage)
        placed = [one for case in cases.values() for one in case.references if "holds" in one.extra]
        assert labels == sum(one.same_as is None for one in placed)
        assert changes == sum(any("holds" in one.extra for one in case.references) for case in cases.values())


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


# --- resuming and growing ------------------------------------------------------------------------------------------


class Killed(Exception):
    """The process ends here."""


@pytest.mark.slow
def test_a_killed_build_goes_on_and_says_the_same(shop: Shop, told: Told, tmp_path: Path) -> None:
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
    assert _without_git(again[0]) == _without_git(shop.cases)
    assert (again[1], again[2]) == (shop.drops, shop.sections)


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
def test_the_recipe_makes_a_benchmark_that_can_be_used_and_reads_nothing_again(
    told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = fill(told)
    first = cli_build(told.folder, out=tmp_path / "bench").card
    assert first is not None and first.recipe == "local"
    names = ["from_git", "confirm_defects", "drop_documentation", "drop_generated", "drop_trivial", "where"]
    names += ["drop_duplicates", "resample"]
    assert [row.stage.partition("(")[0] for row in first.funnel] == names
    assert [first.counts[name] for name in ("changed", "clean", "findings")] == [2, 2, 2]
    started: list[str] = []
    start = Repository.start

    def counting(self: Repository, *args: str, **options: Any) -> Any:
        started.append(args[0])
        return start(self, *args, **options)

    monkeypatch.setattr(Repository, "start", counting)
    again = cli_build(told.folder, out=tmp_path / "bench").card
    assert again is not None and again.benchmark == first.benchmark
    assert [row.kept for row in again.funnel] == [row.kept for row in first.funnel]
    assert "diff-tree" not in started and len(started) <= 30, started
    shutil.rmtree(told.folder)
    cases = [Case.model_validate_json(line) for line in (tmp_path / "bench" / "cases.jsonl").open("rb")]
    assert {case.change.head for case in cases if case.references} == {ids["total"], ids["tax-head"]}
    assert {case.change.git for case in cases} == {"repos/shop.git"}, "it stands without the repository"


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


@pytest.mark.slow
def test_a_shallow_clone_gives_less_and_says_so(shop: Shop, tmp_path: Path) -> None:
    clone = tmp_path / "shallow" / "shop"
    shop.told.git("clone", "-q", "--depth", "9", f"file://{shop.told.folder}", str(clone))
    cases, drops, sections = build(clone, tmp_path / "bench")
    assert shop.ids["total"] not in cases and "shallow" in str(sections[0].warnings)
    assert set(cases) <= set(shop.cases) and drops


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
    cases, drops, _ = build(told.folder, tmp_path / "bench")
    assert change not in cases
    assert drops[change[:12]] == "a fix is dated before it: a clock was wrong"


@pytest.mark.slow
def test_code_that_is_missing_drops_the_change(shop: Shop, tmp_path: Path) -> None:
    source, git = tmp_path / "partial", shop.told.git
    git("config", "uploadpack.allowFilter", "true")
    git("clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{shop.told.folder}", str(source))
    git("-C", str(source), "remote", "set-url", "origin", "file:///nowhere")
    cases, drops, sections = build(source, tmp_path / "bench")
    assert not cases and "partial" in str(sections[0].warnings)
    assert drops[shop.ids["total"][:12]] == "its diff cannot be read"


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


def test_repositories_are_called_by_their_folders(tmp_path: Path) -> None:
    (tmp_path / "acme+shop" / "repo").mkdir(parents=True)
    assert pooled_names([str(tmp_path / "acme+shop" / "repo")]) == ("repo",), "a checkout that is called so"
    (tmp_path / "acme+shop" / "repo" / "HEAD").write_text("ref: refs/heads/main\n")
    assert pooled_names([str(tmp_path / "acme+shop" / "repo")]) == ("acme-shop",)
    assert pooled_names([str(tmp_path / "a" / "shop"), str(tmp_path / "b" / "shop")]) == ("a-shop", "b-shop")
    with pytest.raises(UserError, match="same name"):
        pooled_names([str(tmp_path / "x" / "a" / "shop"), str(tmp_path / "y" / "a" / "shop")])
