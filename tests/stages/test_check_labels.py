"""Labels that people check: the sheet, and what marks do to the next build."""

from __future__ import annotations

import csv
import io
import shutil
from pathlib import Path

import pytest

from history_builder import Told
from reviewgauge.api.build import build
from reviewgauge.api.review import review
from reviewgauge.api.score import score
from reviewgauge.core.errors import BadInput
from reviewgauge.core.parsing import parse_record
from reviewgauge.core.records import Case, Tier
from reviewgauge.core.reports.build_card import BuildCard
from reviewgauge.core.shares import wilson

TOTAL = "def total(items):\n    amount = 0\n    for item in items{}:\n        amount += item\n    return amount\n"
RATE = "def tax(amount):\n    return amount * {}\n"
ROUND = "def cents(amount):\n    return int(amount * {})\n"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Three defects that were fixed, and three clean changes."""
    told = Told(tmp_path_factory.mktemp("shops") / "shop")
    told.commit("begin", {"README.md": "shop\n"})
    told.commit("Add total", {"shop/total.py": TOTAL.format("[1:]")})
    told.commit("Add tax", {"shop/tax.py": RATE.format("1.19")})
    told.commit("Add cents", {"shop/cents.py": ROUND.format("1000")})
    for name in ("names", "stock", "dates"):
        told.commit(f"Add {name}", {f"shop/{name}.py": f"def {name}(given):\n    return sorted(given)\n"})
    told.commit("Fix total forgetting the first item", {"shop/total.py": TOTAL.format("")}, days=20)
    told.commit("Fix tax that adds the amount", {"shop/tax.py": RATE.format("0.19")})
    told.commit("Fix wrong cents", {"shop/cents.py": ROUND.format("100")})
    told.quiet(500)
    return told


@pytest.fixture(scope="module")
def drawn(shop: Told, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A benchmark with a sheet that nobody has marked."""
    out = tmp_path_factory.mktemp("drawn") / "bench"
    built(shop, out, audit=4)
    return out


@pytest.fixture
def out(drawn: Path, tmp_path: Path) -> Path:
    """A copy of it to mark."""
    return shutil.copytree(drawn, tmp_path / "bench", symlinks=True)


def built(shop: Told, out: Path, audit: int = 0) -> tuple[BuildCard, dict[str, Case]]:
    card = build(shop.folder, out=out, audit=audit).card
    assert card is not None
    lines = (out / "cases.jsonl").read_bytes().splitlines()
    cases = [parse_record(Case, line, "cases.jsonl", number) for number, line in enumerate(lines, 1)]
    return card, {case.change.title: case for case in cases}


def marked(out: Path, marks: dict[str, str], name: str = "labels.csv") -> None:
    """Write marks into a sheet, by the titles of the changes."""
    with (out / "audit" / "labels.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["correct"] = marks.get(row["shown"].partition("\n")[0], "")
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    (out / "audit" / name).write_text(text.getvalue(), encoding="utf-8")


def figures(card: BuildCard) -> dict[str, object]:
    (section,) = [one for one in card.sections if one.by == "check_labels"]
    return dict(section.figures)


@pytest.mark.slow
def test_marks_confirm_refuse_and_are_counted_apart(shop: Told, tmp_path: Path) -> None:
    out = tmp_path / "bench"
    plain, cases = built(shop, out)
    assert not (out / "audit").exists() and len(cases) == 6
    drawn, _ = built(shop, out, audit=4)
    assert drawn.benchmark == plain.benchmark, "drawing changes nothing"
    assert figures(drawn) == {
        "labels": 3, "labels drawn": 3, "labels checked": 0, "clean changes": 3, "clean changes drawn": 2,
        "clean changes checked": 0,
    }  # fmt: skip
    clean = next(s for s, kind in zip(column(out, "shown"), column(out, "decided"), strict=True) if kind == "clean")
    marked(out, {"Add total": "y", "Add tax": "n", "Add cents": "yes", clean: "n"})
    card, cases = built(shop, out)  # without --audit: what was marked counts
    low, high = wilson(2, 3) or (0.0, 0.0)
    found = figures(card)
    assert found["labels checked"] == 3 and found["labels that hold"] == 2
    assert (found["share of labels that hold, low"], found["share of labels that hold, high"]) == (
        round(low, 6),
        round(high, 6),
    )
    assert found["clean changes checked"] == 1 and found["clean changes that hold"] == 0
    assert "Add tax" not in cases and clean not in cases and len(cases) == 4
    assert cases["Add total"].references[0].tier is Tier.CONFIRMED
    assert cases["Add total"].facts["labels_that_hold"] == "2 of 3"
    assert card.funnel[-1].reasons == {
        "people found that it is not right": 1,
        "people found none of its comments right": 1,
        "people found that it is not clean": 1,
    }
    assert "not right" in (out / "drops.jsonl").read_text()
    review(str(out), "analyser", run=tmp_path / "run")
    (board,) = score(tmp_path / "run").leaderboards
    assert "labels: 2 of 3 checked hold, 21-94%; clean changes: 0 of 1 checked hold, 0-79%" in board.warnings
    again, _ = built(shop, out, audit=4)
    assert again.benchmark == card.benchmark and column(out, "correct").count("y") == 1


def column(out: Path, name: str) -> list[str]:
    with (out / "audit" / "labels.csv").open(encoding="utf-8-sig", newline="") as file:
        return [row[name] for row in csv.DictReader(file)]


@pytest.mark.slow
def test_raters_agree_or_are_split(shop: Told, out: Path, tmp_path: Path) -> None:
    marked(out, {"Add total": "y", "Add tax": "n", "Add cents": "y"}, "labels-ann.csv")
    marked(out, {"Add total": "y", "Add tax": "n", "Add cents": "n"}, "labels-bob.csv")
    card, cases = built(shop, out)
    found = figures(card)
    assert found["raters"] == 2 and found["rows with two raters or more"] == 3
    assert found["agreement of the raters: percent agreement"] == round(2 / 3, 4)
    assert found["agreement of the raters: Cohen's kappa"] == 0.4  # (2/3 - 4/9) / (1 - 4/9)
    assert found["labels checked"] == 2 and found["labels on which raters are split"] == 1
    assert cases["Add cents"].references[0].tier is Tier.TRACED and "Add tax" not in cases
    review(str(out), "analyser", run=tmp_path / "run")
    (board,) = score(tmp_path / "run").leaderboards
    assert {piece.value: piece.n for piece in board.slices} == {"checked": 1, "traced": 1}


@pytest.mark.slow
@pytest.mark.parametrize("other", ["labels-Ann.csv", "labels-first.csv", "labels- .csv"])
def test_no_sheet_is_another_one_s(shop: Told, out: Path, other: str) -> None:
    for name in ("labels-ann.csv", other):
        marked(out, {"Add total": "y"}, name)
    with pytest.raises(BadInput, match="not the sheet of one rater"):
        built(shop, out)


@pytest.mark.slow
def test_a_mark_that_cannot_be_read_is_said_before_anything_is_done(shop: Told, out: Path) -> None:
    marked(out, {"Add total": "perhaps"}, "labels-ann.csv")
    with pytest.raises(BadInput, match="neither y nor n"):
        built(shop, out)
