"""Labels that the tests of their fixes bear out: real histories, real runs of pytest."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from history_builder import Told
from reviewgauge.api.build import build
from reviewgauge.api.settings import SettingsFile
from reviewgauge.core.errors import UserError
from reviewgauge.core.parsing import parse_record
from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import FAILING, Case, Comment, Tier
from reviewgauge.core.reports.build_card import BuildCard
from reviewgauge.core.specs import load_from
from reviewgauge.core.trust import FromFile
from reviewgauge.engine.run.executors import Interruption
from reviewgauge.repo.guarded.sandbox import check_sandbox

pytestmark = pytest.mark.processes

# The plug-ins of this machine's pytest would take two thirds of the time.
PYTEST = f"env PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q"
COMMAND = f"{PYTEST} -p no:cacheprovider {{files}}"
TOTAL = "def total(items):\n    amount = 0\n    for item in items{}:\n        amount += item\n    return amount\n"
RATE = "RATE = {}\n\n\ndef tax(amount):\n    return amount * RATE\n"
ROUND = "def cents(amount):\n    return int(amount * {})\n"
SHIP = "def shipping(weight):\n    if weight {} 10:\n        return 5\n    return 2\n"
REST = "def rest(paid, price):\n    return {}\n"
POST = "from shop.rates import PER_KILO\n\n\ndef postage(kilos):\n    return {}\n"
STOCK = "def stock(shelves):\n    return {}(shelves)\n"


def asserting(module: str, words: str) -> str:
    return f"from shop import {module}\n\n\ndef test_it():\n    assert {module}.{words}\n"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Eight defects: with a test that shows it, without one, with tests that tell nothing, and of other changes."""
    told = Told(tmp_path_factory.mktemp("shops") / "shop")
    told.commit("begin", {"README.md": "shop\n", "shop/__init__.py": ""})
    told.commit("Add total", {"shop/total.py": TOTAL.format("[1:]")})
    told.commit("Add tax", {"shop/tax.py": RATE.format("1.19")})
    told.commit("Add cents", {"shop/cents.py": ROUND.format("1000")})
    told.commit("Add shipping", {"shop/shipping.py": SHIP.format(">")})
    told.commit("Add stock", {"shop/stock.py": STOCK.format("max")})
    told.commit("Add label", {"shop/label.py": "def label(name):\n    return name.lower()\n"})
    told.commit("Begin rest", {"shop/rest.py": REST.format("sum((paid, ~price))")})
    told.commit("No rest below zero", {"shop/rest.py": REST.format("max(0, paid - price - 1)")})
    told.commit("Begin rates", {"shop/rates.py": "PER_KILO = 2\n"})
    told.commit("Add postage", {"shop/postage.py": POST.format("PER_KILO * kilos")})
    told.commit("Raise rates", {"shop/rates.py": "PER_KILO = 3\n"})
    told.commit("Add helper", {"shop/helper.py": "def close(a, b):\n    return abs(a - b) < 1\n"})
    told.commit(
        "Fix total forgetting the first item",
        {
            "shop/total.py": TOTAL.format(""),
            "tests/test_total.py": asserting("total", "total([1, 2]) == 3")
            + "\n\ndef test_of_another_machine():\n    assert not total.total([1])\n",
        },
        days=20,
    )
    told.commit("Fix tax that adds the amount", {"shop/tax.py": RATE.format("0.19")})
    told.commit(
        "Fix wrong cents",
        {"shop/cents.py": ROUND.format("100"), "tests/test_cents.py": asserting("cents", "cents(0) == 0")},
    )
    told.commit(
        "Fix shipping of ten kilos, which was too cheap",
        {
            "shop/shipping.py": SHIP.format(">="),
            "tests/test_shipping.py": "from shop import helper, shipping\n\n\ndef test_it():\n"
            "    assert helper.close(shipping.shipping(10), 5)\n",
        },
    )
    told.commit(
        "Fix wrong number of items in stock",
        {"shop/stock.py": STOCK.format("sum"), "tests/test_stock.py": asserting("stock", "no_such_function() == 3")},
    )
    later = "def label(name):\n    return name.lower()\n\n\ndef of(name):\n    return label(name)\n"
    told.commit("Add of", {"shop/label.py": later})
    told.commit(
        "Fix wrong case of labels",
        {"shop/label.py": later.replace("lower", "upper"), "tests/test_label.py": asserting("label", "of('a') == 'A'")},
    )
    told.commit(
        "Fix rest that is one too small",
        {
            "shop/rest.py": REST.format("max(0, paid - price)"),
            "tests/test_rest.py": asserting("rest", "rest(5, 2) == 3"),
        },
    )
    told.commit(
        "Fix postage that is too high",
        {
            "shop/postage.py": POST.format("(PER_KILO - 1) * kilos"),
            "tests/test_postage.py": asserting("postage", "postage(1) == 2"),
        },
    )
    told.quiet(500)
    return told


def built(shop: Told, out: Path, **options: object) -> tuple[BuildCard, dict[str, Comment]]:
    """The card, and the labels by the titles of their changes."""
    card = build(shop.folder, out=out, **options).card  # type: ignore[arg-type]
    assert card is not None
    lines = (out / "cases.jsonl").read_bytes().splitlines()
    cases = [parse_record(Case, line, "cases.jsonl", number) for number, line in enumerate(lines, 1)]
    return card, {case.change.title: case.references[0] for case in cases if case.references}


@pytest.mark.drill
def test_tests_of_a_fix_verify_a_label_refute_it_or_tell_nothing(shop: Told, tmp_path: Path) -> None:
    _, untested = built(shop, tmp_path / "bench")
    assert {"No rest below zero", "Add postage"} <= set(untested)
    card, labels = built(shop, tmp_path / "bench", test=COMMAND)
    tiers = {title: label.tier for title, label in labels.items()}
    assert tiers == {
        "Add total": Tier.VERIFIED, "Add tax": Tier.TRACED, "Add cents": Tier.TRACED, "Add shipping": Tier.TRACED,
        "Add stock": Tier.TRACED, "Add label": Tier.TRACED, "No rest below zero": Tier.TRACED,
    }  # fmt: skip
    (section,) = [one for one in card.sections if one.by == "verify_fixes"]
    assert {str(row[0]): row[1] for row in section.rows} == {
        "verified": 1,
        "the fix changes no tests": 1,
        "the tests pass without the fix": 1,
        # the helper that the test imports came after the change: that is no failing test
        "could not be tested on the change: the command ended with exit code 2": 1,
        "the tests fail after the fix, too": 1,
        # they call what came after the change
        "the tests fail on the change in another way than before the fix": 1,
        "the tests fail before the change as they do on it": 1,
        "the tests pass on the change: the defect came later": 1,
    }
    assert labels["Add total"].extra["tests"] == (
        "fail on the change and before the fix, and no longer after it: tests/test_total.py::test_it - assert"
    )
    assert labels["Add total"].extra[FAILING] == ["tests/test_total.py::test_it"]
    assert FAILING not in labels["Add tax"].extra
    ledger = [json.loads(line) for line in (tmp_path / "bench" / "tests.jsonl").read_text().splitlines()]
    assert len(ledger) == 8
    (entry,) = [one for one in ledger if one["outcome"] == "verified"]
    assert [run["result"] for run in entry["runs"].values()] == [
        "fail",  # a test that only fails on this machine
        "fail",
        "fail",
        "the command ended with exit code 2",
    ]
    assert card.funnel[-1].dropped == 1


@pytest.mark.drill
def test_an_interrupted_build_goes_on_where_it_stopped(shop: Told, tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = tmp_path / "run.sh"
    script.write_text(f'#!/bin/sh\necho "$@" >> {log}\nexec {PYTEST} "$@"\n')
    script.chmod(0o755)
    stop = Interruption()
    shown: list[tuple[int, int]] = []

    def progress(done: int, total: int, label: str) -> None:
        if label.startswith("running the tests"):
            shown.append((done, total))
            if done == 4:
                stop.ask()

    stopped = build(shop.folder, out=tmp_path / "bench", test=f"{script} {{files}}", stop=stop, progress=progress)
    assert stopped.card is None and (4, 8) in shown and not (tmp_path / "bench" / "cases.jsonl").exists()
    before = len(log.read_text().splitlines())
    assert 0 < before < 21
    _, labels = built(shop, tmp_path / "bench", test=f"{script} {{files}}")
    assert len(log.read_text().splitlines()) == 21 and labels["Add total"].tier is Tier.VERIFIED


@pytest.mark.drill
def test_a_command_that_tells_nothing_verifies_nothing(shop: Told, tmp_path: Path) -> None:
    card, labels = built(shop, tmp_path / "a", test="false")
    assert {label.tier for label in labels.values()} == {Tier.TRACED}
    usual = SettingsFile(file="mine.toml", trusted=True, test="true")
    card, labels = built(shop, tmp_path / "b", defaults=usual)
    assert {label.tier for label in labels.values()} == {Tier.TRACED}
    (section,) = [one for one in card.sections if one.by == "verify_fixes"]
    assert ("the tests pass without the fix", 7) in section.rows
    card, labels = built(shop, tmp_path / "c", test=f"{sys.executable} -c 'raise SystemExit(9)'")
    (section,) = [one for one in card.sections if one.by == "verify_fixes"]
    assert ("could not be tested after the fix: the command ended with exit code 9", 7) in section.rows


@pytest.mark.drill
def test_a_failure_that_names_no_test_is_none(shop: Told, tmp_path: Path) -> None:
    """A configuration that the runner refuses ends with 1, too: old commits have such ones."""
    script = "import pathlib; raise SystemExit('item in items:' not in pathlib.Path('shop/total.py').read_text())"
    card, labels = built(shop, tmp_path / "a", test=f'{sys.executable} -c "{script}"')
    assert {label.tier for label in labels.values()} == {Tier.TRACED}
    (section,) = [one for one in card.sections if one.by == "verify_fixes"]
    assert ("the output names no failing test", 1) in section.rows


@pytest.mark.drill
def test_in_a_sandbox_the_tests_see_neither_your_files_nor_the_network(shop: Told, tmp_path: Path) -> None:
    try:
        check_sandbox()
    except UserError as error:
        pytest.skip(str(error))
    mine = tmp_path / "mine.txt"
    mine.write_text("secret")
    script = tmp_path / "run.sh"
    script.write_text(
        f"#!/bin/sh\ncat {mine} && exit 9\ntouch written && test -e shop/total.py || exit 8\n"
        "grep -q 'in items:' shop/total.py && exit 0\necho FAILED t.py::test_total - assert\nexit 1\n"
    )
    script.chmod(0o755)
    stage = f"verify_fixes(test='{script} {{files}}', sandbox='bwrap')"
    result = build(shop.folder, out=tmp_path / "bench", stages=[stage])
    assert result.card is not None
    (section,) = [one for one in result.card.sections if one.by == "verify_fixes"]
    assert dict(section.figures)["verified"] == 1


def test_what_cannot_work_is_said_before_the_build(shop: Told, tmp_path: Path) -> None:
    for test, problem in (("no-such-program {files}", "does not exist"), ("'", "cannot be read"), (" ", "must name")):
        with pytest.raises(UserError, match=problem):
            build(shop.folder, out=tmp_path / "bench", test=test)


def test_only_the_user_names_the_command() -> None:
    with pytest.raises(UserError, match="which a file may not decide"):
        load_from(Stage, "verify_fixes(test='make test')", FromFile("theirs.toml"))
    said = FromFile("theirs.toml", said=frozenset({"make test"}))
    assert load_from(Stage, "verify_fixes(test='make test')", said)


@pytest.mark.drill
def test_a_secret_or_a_terminal_escape_in_the_name_of_a_test_stays_out(
    shop: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-proj-Zq83jKd02mXnB7Vt5Ls9")
    script = tmp_path / "run.py"
    script.write_text(
        "import os, pathlib, sys\n"
        "if 'in items[1:]' in pathlib.Path('shop/total.py').read_text():\n"
        "    print('not ok 1 - ' + os.environ['OPENAI_API_KEY'] + ' \\x1b[2J\\u202e adds')\n"
        "    sys.exit(1)\n"
    )
    out = tmp_path / "bench"
    build(shop.folder, out=out, stages=(f"verify_fixes(test='{sys.executable} {script}', env=('OPENAI_API_KEY',))",))
    ledger = json.loads((out / "tests.jsonl").read_text().splitlines()[0])
    assert ledger["outcome"] == "verified" and "adds" in ledger["detail"]
    for file in ("cases.jsonl", "tests.jsonl"):
        assert "sk-proj-Zq83" not in (out / file).read_text()
        assert not any(mark in json.dumps(ledger["detail"], ensure_ascii=False) for mark in ("\x1b", "\u202e"))
