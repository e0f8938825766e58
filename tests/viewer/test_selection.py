"""What is shown of runs: systems, states of each change, the answer, and where a review is kept."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.metrics.exact_match import ExactMatch
from reviewgauge.metrics.hits import Hits
from reviewgauge.viewer.pages import Pages
from reviewgauge.viewer.runs import find_runs
from reviewgauge.viewer.selection import KEPT, Shelf
from viewed_runs import finds, misses, nothing, selected, twin_run, write_run


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("selection")
    systems = {"finder": finds, "half": misses, "silent": nothing}
    return write_run(folder / "one", systems, broken=[("shop-2", "half")])


def test_the_answer_is_said_and_what_is_missed(one: Path) -> None:
    chosen = selected(one)
    assert chosen.verdict is not None and "finder" in chosen.verdict.lead
    assert isinstance(chosen.misses, str)
    assert [board.metric for board in chosen.sliced] == [chosen.metric]


def test_reviews_without_scores_are_there(tmp_path: Path) -> None:
    chosen = selected(write_run(tmp_path / "fresh", {"finder": finds}, metrics=()))
    assert "was not scored yet" in chosen.problem and "reviewgauge score" in chosen.problem
    assert (chosen.systems, len(chosen.outcomes), chosen.boards, chosen.verdict) == (["finder"], 4, (), None)
    assert (chosen.misses, chosen.sliced, chosen.people) == ("", [], {})
    assert chosen.home_of("finder")[1] == "finder"
    with pytest.raises(UserError, match="no metric of this run matched comments with findings"):
        Pages(chosen).against(1, 1)


def test_a_metric_that_cannot_be_read_is_named_and_the_others_are_shown(tmp_path: Path) -> None:
    folder, other = (write_run(tmp_path / name, {name: finds}, metrics=(Hits(judge="exact"),)) for name in "ab")
    scores = (folder / "scores.jsonl").read_text()
    own = scores.replace("hits(", "nowhere.Mine(")
    (folder / "scores.jsonl").write_text(scores + own)
    for chosen in (selected(folder), selected(folder, other)):
        assert chosen.metric.startswith("hits(") and not chosen.problem
        assert "Not shown: nowhere.Mine is code outside" in Pages(chosen).board()
    (folder / "scores.jsonl").write_text(own)
    alone = selected(folder)
    assert alone.problem.startswith("nowhere.Mine is code outside") and "--metric" not in alone.problem
    assert not alone.boards


def test_a_run_without_reviews(tmp_path: Path) -> None:
    with RunFolder.create(
        tmp_path / "empty",
        dataset="toy",
        dataset_path="",
        cases=RunFolder.open(write_run(tmp_path / "other", {"finder": finds}, metrics=())).cases(),
    ) as run:
        chosen = selected(run.path)
        assert chosen.problem and not chosen.systems and len(chosen.rows) == 4


@pytest.mark.parametrize("number", [0, -1, 5, 999_999_999])
def test_no_other_numbers_name_a_change(one: Path, number: int) -> None:
    with pytest.raises(UserError, match="there is no such change"):
        selected(one).case(number)
    assert selected(one).case(4).id == "bare"


def test_where_a_systems_reviews_are_kept(one: Path, tmp_path: Path) -> None:
    two = write_run(tmp_path / "two", {"half": finds, "x:y+z": nothing})
    chosen = selected(one, two)
    assert chosen.name == "one and two"
    homes = {name: chosen.home_of(name) for name in chosen.systems}
    assert {name: (run.path.name, own) for name, (run, own) in homes.items()} == {
        "finder": ("one", "finder"), "one:half": ("one", "half"), "silent": ("one", "silent"),
        "two:half": ("two", "half"), "x:y+z": ("two", "x:y+z"),
    }  # fmt: skip
    for name in ("half", "nobody", ""):
        with pytest.raises(UserError, match="there is no system"):
            chosen.home_of(name)


def test_a_system_that_another_metric_measured_has_a_home(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", {"finder": finds}, metrics=(ExactMatch(), Hits()))
    write_run(folder, {"late": misses})
    assert selected(folder).home_of("late")[1] == "late"


def test_runs_of_different_benchmarks_are_not_joined(one: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="different benchmarks"):
        selected(one, twin_run(tmp_path / "twins"))


def test_a_selection_is_kept_until_a_file_changes(tmp_path: Path) -> None:
    for name in "abcdef":
        write_run(tmp_path / name, {"finder": finds}, metrics=())
    runs, shelf = list(find_runs([tmp_path]).values()), Shelf(10, 0)
    first = shelf.get(runs[:1])
    assert shelf.get(runs[:1]) is first and shelf.fresh(runs[:1]) is first
    os.utime(runs[0].path / "reviews.jsonl", ns=(0, 0))
    assert shelf.fresh(runs[:1]) is None
    again = shelf.get(runs[:1])
    assert again is not first
    for run in runs[1 : KEPT + 1]:
        shelf.get([run])
    assert shelf.fresh(runs[:1]) is None and shelf.fresh(runs[1:2]) is not None
