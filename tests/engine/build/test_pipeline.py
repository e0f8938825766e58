from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import build_toys
from build_toys import Count, Crooked, Even, Given, Halves, Middle, Ponder
from reviewgauge.core.building import RESULTS, Candidate
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import Case, Change
from reviewgauge.engine.build.folder import BuildFolder, Stopped, publish, read_decisions, write_benchmark
from reviewgauge.engine.build.pipeline import Pipeline
from reviewgauge.engine.build.recipes import Step, make_stages, read_recipe, recipe_names, set_parameters
from reviewgauge.engine.run.executors import Interruption, Threads
from reviewgauge.stages.first import First


def line_of(context: BuildFolder, stages: Sequence[Stage], stop: Interruption | None = None) -> Pipeline:
    steps = [(stage, Step(use="x")) for stage in stages]
    return Pipeline(context, steps, lambda stage: Threads(2), stop or Interruption())


def run(folder: Path, *stages: Stage) -> tuple[list[Candidate], Pipeline]:
    context = BuildFolder(folder)
    try:
        line = line_of(context, stages)
        kept = list(line.run())
        publish(folder)
        return kept, line
    finally:
        context.close()


def test_the_funnel_adds_up_stage_by_stage(tmp_path: Path) -> None:
    kept, line = run(tmp_path, Count(9), Even(), Halves(), Middle(), Crooked(at=4))
    assert [item.id for item in kept] == ["case-2-a", "case-2-b", "case-6-a", "case-6-b"]
    rows = [tally.row() for tally in line.counts]
    assert [(r.entered, r.made, r.kept, r.dropped, r.failed) for r in rows] == [
        (0, 9, 9, 0, 0), (9, 0, 4, 5, 0), (4, 4, 8, 0, 0), (8, 0, 6, 2, 0), (6, 0, 4, 0, 2),
    ]  # fmt: skip
    assert rows[1].reasons == {"odd": 5}
    assert rows[4].failures == {"crash": 2}
    drops = [json.loads(text) for text in (tmp_path / "drops.jsonl").read_text().splitlines()]
    assert len(drops) == 7
    assert drops[-1] | {"item": ""} == {
        "item": "", "by": "build_toys.Middle", "reason": "the largest", "detail": drops[-1]["item"],
    }  # fmt: skip
    assert "ZeroDivisionError" in (tmp_path / "failures.jsonl").read_text()


def test_what_was_costly_is_done_once_and_what_broke_is_done_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    ponder = Ponder(log=str(log), breaks=(3,))
    kept, line = run(tmp_path / "b", Count(5), ponder)
    assert [item.id for item in kept] == ["case-1", "case-2", "case-4", "case-5"]  # in their order, threads or not
    assert line.counts[1].failed == 1
    assert len(list(read_decisions(tmp_path / "b"))) == 4
    (tmp_path / "log.mended").touch()
    kept, line = run(tmp_path / "b", Count(6), ponder)
    assert [item.id for item in kept] == [f"case-{n}" for n in range(1, 7)]
    assert all(item.case.facts["pondered"] for item in kept)
    assert line.counts[1].remembered == 4
    assert len(list(read_decisions(tmp_path / "b"))) == 6  # decisions of before are there too
    assert sorted(log.read_text().split()) == ["1", "2", "3", "4", "5", "6"]


def test_a_candidate_that_no_line_can_hold_costs_itself_and_never_the_build(tmp_path: Path) -> None:
    spoilt = [Candidate(case=Case(id=f"c{n}", change=Change(repo="x"), facts={"n": n})) for n in range(3)]
    spoilt[1] = spoilt[1].with_facts({"n": float("nan")})
    context = BuildFolder(tmp_path)
    line = line_of(context, [Given(tuple(spoilt)), First(2)])
    written = write_benchmark(tmp_path, line.run())
    row = line.counts[1].row()
    assert (row.entered, row.kept, row.failed, written.cases) == (3, 2, 1, 2)
    context.close()
    assert "the record cannot be stored" in (tmp_path / RESULTS / "failures.jsonl").read_text()
    last = write_benchmark(tmp_path, spoilt)
    assert (last.cases, last.unstorable) == (2, ["c1"])


def test_what_breaks_every_item_ends_the_build_and_loses_nothing(tmp_path: Path) -> None:
    log = tmp_path / "log"
    context, stop = BuildFolder(tmp_path / "b"), Interruption()
    line = line_of(context, [Count(400), Ponder(log=str(log), ends=(200,))], stop)
    with pytest.raises(Stopped):
        write_benchmark(context.folder, line.run())
    context.close()
    assert "the key is wrong" in str(stop.error)
    assert not (tmp_path / "b" / "cases.jsonl").exists()
    done = len(log.read_text().split())
    assert 100 < done < 400
    (tmp_path / "log.mended").touch()
    kept, line = run(tmp_path / "b", Count(400), Ponder(log=str(log), ends=(200,)))
    assert len(kept) == 400
    assert line.counts[1].remembered == done
    assert len(log.read_text().split()) == 400


def test_a_full_disk_ends_the_build_before_more_is_paid_for(tmp_path: Path) -> None:
    log = tmp_path / "log"
    context, stop = BuildFolder(tmp_path / "b"), Interruption()
    context._memory.execute("PRAGMA max_page_count = 8")  # what sqlite says then is what it says of a full disk
    line = line_of(context, [Count(400), Ponder(log=str(log))], stop)
    with pytest.raises(Stopped):
        list(line.run())
    context.close()
    assert "memory.sqlite: no room left to write" in str(stop.error) and "free some space" in str(stop.error)
    assert len(log.read_text().split()) < 300
    kept, _ = run(tmp_path / "b", Count(400), Ponder(log=str(log)))
    assert len(kept) == 400


def test_a_damaged_memory_is_said_in_one_line(tmp_path: Path) -> None:
    context = BuildFolder(tmp_path)
    for n in range(200):
        context.remember(("a", str(n)), b"x" * 500)
    context.close()
    file = tmp_path / "memory.sqlite"
    whole = file.read_bytes()
    file.write_bytes(whole[:8192] + b"\xff" * (len(whole) - 8192))
    context = BuildFolder(tmp_path)
    with pytest.raises(UserError, match=r"memory.sqlite is damaged: .*\(remove it"):
        for n in range(200):
            context.recall(("a", str(n)))
    context.close()
    file.write_bytes(b"no database" * 1000)
    with pytest.raises(UserError, match=r"cannot write .*memory.sqlite: file is not a database"):
        BuildFolder(tmp_path)


def test_ctrl_c_ends_a_source_too(tmp_path: Path) -> None:
    stop = Interruption()
    stop.ask()
    context = BuildFolder(tmp_path, stop=stop)
    with pytest.raises(Stopped):
        list(line_of(context, [Count(5)], stop).run())
    context.close()


def test_two_builds_of_one_folder_are_refused(tmp_path: Path) -> None:
    context = BuildFolder(tmp_path)
    with pytest.raises(UserError, match="is being written by this process"):
        BuildFolder(tmp_path)
    context.close()


def test_a_benchmark_can_be_moved_and_ids_are_unique(tmp_path: Path) -> None:
    inside = tmp_path / "repos" / "shop.git"
    items = [
        Candidate(case=Case(id="a", change=Change(repo="x", git=str(inside)))),
        Candidate(case=Case(id="b", change=Change(repo="x", git="/elsewhere/shop.git"))),
        Candidate(case=Case(id="a", change=Change(repo="y"))),
    ]
    written = write_benchmark(tmp_path, items)
    lines = [json.loads(line) for line in (tmp_path / "cases.jsonl").read_text().splitlines()]
    assert [line["change"]["git"] for line in lines] == ["repos/shop.git", "/elsewhere/shop.git"]
    assert written.twice == ["a"]
    assert written.mirrors == {"shop.git"}
    assert not (tmp_path / "reviews.jsonl").exists()
    again = write_benchmark(tmp_path / ".", [items[1], items[0]])
    assert again.benchmark == written.benchmark  # of the same cases, whatever their order and place


def test_a_recipe_reads_top_to_bottom(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'title = "Mine"\n[parameters]\nn = 3\nwords = ["a", "b"]\n'
        '[[stage]]\nuse = "build_toys.Count(n=$n)"\n[[stage]]\nuse = "where(fact=\'n\', values=(1, 2))"\nwhy = "few"\n'
    )
    recipe = read_recipe(str(file))
    stages = make_stages(recipe, set_parameters(recipe, {"n": "7"}))
    assert stages[0][0] == build_toys.Count(n=7)
    assert stages[1][1].why == "few"
    with pytest.raises(UserError, match=r"recipe mine has no parameter 'm'.*it has n, words"):
        set_parameters(recipe, {"m": "1"})


@pytest.mark.parametrize(("setting", "value"), [
    (("branch", "1.0"), "1.0"), (("branch", "2024"), "2024"), (("branch", "None"), "None"),
    (("branch", "'main'"), "main"), (("since", "20240101"), "20240101"), (("pairs", "false"), False),
    (("pairs", "False"), False),
    (("pairs", "maybe"), "maybe"),  # the stage says that this is not a bool
    (("horizon", "30"), 30), (("clean_per_changed", "2"), 2),
    (("repos", "acme/shop"), ["acme/shop"]),
    (("repos", "('a/b', 'c/d')"), ["a/b", "c/d"]),
])  # fmt: skip
def test_a_setting_is_read_as_what_its_default_is(setting: tuple[str, str], value: object) -> None:
    name, word = setting
    recipe = read_recipe("pull_requests" if name == "repos" else "local")
    assert set_parameters(recipe, {name: word})[name] == value


@pytest.mark.parametrize(("text", "problem"), [
    ("title = ", "mine.toml: is not valid TOML"),
    ('title = "x"', "mine.toml, field stage"),
    ('title = "x"\n[[stage]]\nuse = "nothing_such"', "recipe mine, stage 1: .*nothing_such"),
    ('title = "x"\n[[stage]]\nuse = "where(fact=$fact)"', "recipe mine uses \\$fact"),
    ('title = "x"\n[[stage]]\nuse = "os.path.Evil()"', "stage 1"),
    ('title = "x"\nextra = 1\n[[stage]]\nuse = "where"', "mine.toml, field extra"),
])  # fmt: skip
def test_a_bad_recipe_is_one_clear_line(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(UserError, match=problem):
        recipe = read_recipe(str(file))
        make_stages(recipe, recipe.parameters)


def test_every_recipe_that_ships_can_be_read() -> None:
    for name in recipe_names():
        recipe = read_recipe(name)
        assert recipe.title
        words = {"reviews_by": "('a-bot',)", "reviewers": "('silent',)", "model": "fake:rules"}
        settings = {word: words[word] for word in recipe.required}
        assert make_stages(recipe, set_parameters(recipe, settings)), name
        for word in recipe.required:
            with pytest.raises(UserError, match=f"the recipe {name} needs {word}"):
                set_parameters(recipe, {key: value for key, value in settings.items() if key != word})
