"""`reviewgauge build` as people use it: on a real history, killed, moved, grown, and told nonsense."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from copy import copy
from pathlib import Path

import pytest

from history_builder import Told
from reviewgauge.api.build import build
from reviewgauge.cli.main import main
from reviewgauge.core.errors import UserError
from reviewgauge.core.reports.build_card import BuildCard
from reviewgauge.core.specs import short_spec
from reviewgauge.engine.build.recipes import make_stages, read_recipe, set_parameters
from waiting import until

TOTAL = "def total(items):\n    amount = 0\n    for item in items{}:\n        amount += item.price\n    return amount\n"


def a_shop(folder: Path) -> Told:
    told = Told(folder)
    told.commit("begin", {"README.md": "shop\n", "LICENSE": "MIT License\n\nCopyright\n"})
    told.commit("Add total", {"shop/total.py": TOTAL.format("[1:]")})
    told.commit("Add greeting", {"shop/greet.py": "def greet(name):\n    return 'Hello ' + name\n"})
    told.commit("Fix total forgetting the first item", {"shop/total.py": TOTAL.format("")}, days=20)
    told.quiet(500)
    return told


@pytest.fixture(scope="module")
def first_shop(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return a_shop(tmp_path_factory.mktemp("shops") / "shop")


@pytest.fixture
def shop(first_shop: Told, tmp_path: Path) -> Told:
    """A copy that a test may change."""
    shutil.copytree(first_shop.folder, tmp_path / "shop")
    made = copy(first_shop)
    made.folder = tmp_path / "shop"
    return made


@pytest.mark.slow
def test_a_history_becomes_a_benchmark_that_can_be_moved_and_used(
    shop: Told, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = tmp_path / "bench"
    assert main(["build", str(shop.folder), "-o", str(bench)]) == 0
    said = capsys.readouterr().out
    assert "from_git" in said and "1 changed" in said
    said = " ".join(said.split())
    assert ": recall is known within 0.98" in said
    assert "next: " not in said, "doctor would refuse so few labels"
    card = BuildCard.model_validate_json((bench / "card.json").read_bytes())
    assert card.counts["changed"] == 1 and card.counts["clean"] >= 1 and card.cases == card.counts["changes"]
    assert list(card.licences.values()) == ["LICENSE: MIT License"]
    page = (bench / "card.md").read_text()
    assert "## Funnel" in page and card.benchmark in page
    drops = (bench / "drops.jsonl").read_text().splitlines()
    assert len(drops) == sum(row.dropped for row in card.funnel)
    moved = tmp_path / "elsewhere" / "b"
    moved.parent.mkdir()
    bench.rename(moved)
    shutil.rmtree(shop.folder)
    assert main(["doctor", str(moved)]) in (0, 1)
    run = str(tmp_path / "run")
    assert main(["review", str(moved), "analyser", "silent", "-o", run]) == 0  # the code came along
    assert main(["score", run]) == 0


@pytest.mark.slow
def test_the_same_command_again_changes_nothing_and_a_grown_history_extends_it(shop: Told, tmp_path: Path) -> None:
    first = build(shop.folder, out=tmp_path / "bench").card
    again = build(shop.folder, out=tmp_path / "bench").card
    shop.commit("Add tax", {"shop/tax.py": "def tax(amount):\n    return amount * 1.19\n"})
    shop.commit("Fix tax that adds the amount", {"shop/tax.py": "def tax(amount):\n    return amount * 0.19\n"}, days=9)
    shop.quiet(500)
    grown = build(shop.folder, out=tmp_path / "bench").card
    assert first is not None and again is not None and grown is not None
    assert again.benchmark == first.benchmark
    assert grown.counts["changed"] == 2 and grown.cases > first.cases


@pytest.mark.slow
def test_a_stage_from_the_command_line_and_a_parameter(
    shop: Told, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "b")
    words = [
        "build", str(shop.folder), "-o", out, "--set", "name=acme/shop", "--stage", "where(fact='year', values=(1,))",
    ]  # fmt: skip
    assert main([*words, "--json"]) == 1  # nothing is left, and it says so
    result = json.loads(capsys.readouterr().out)
    assert result["card"]["cases"] == 0 and result["card"]["parameters"]["name"] == "'acme/shop'"
    assert result["card"]["funnel"][-1]["stage"].startswith("where")
    assert main(words) == 1
    assert "no case is left" in capsys.readouterr().out


@pytest.mark.parametrize(("words", "problem"), [
    (["--recipe", "nothing"], "'nothing' is not a recipe (choose aacr_bench"),
    (["--recipe", "locl"], "'locl' is not a recipe (did you mean local?)"),
    (["--recipe", "no.toml"], "cannot read the recipe no.toml"),
    (["--set", "horizon"], "--set horizon has no value"),
    (["--set", "horizont=3"], "the recipe local has no parameter 'horizont'"),
    (["--recipe", "hosted_reviews"], "the recipe hosted_reviews needs reviews_by"),
    (["--reviews-by", "a"], "a git history holds no reviews that were posted"),
    (["--stage", "no_such"], "no_such"),
    (["--recipe", "hosted_reviews", "--model", "fake:rules"], "the recipe hosted_reviews has no parameter 'model'"),
])  # fmt: skip
def test_nonsense_is_one_line_and_exit_code_2(
    shop: Told, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], problem: str
) -> None:
    assert main(["build", str(shop.folder), "-o", str(tmp_path / "b"), *words]) == 2
    said = capsys.readouterr().err
    assert problem in said and len(said.splitlines()) == 1


@pytest.mark.drill
def test_killed_at_any_moment_the_same_command_goes_on(tmp_path: Path) -> None:
    told = a_shop(tmp_path / "shop")
    for number in range(8):
        told.commit(f"Add rule {number}", {f"shop/rule{number}.py": f"def rule(x):\n    return x + {number}\n"})
        fixed = f"def rule(x):\n    return x - {number}\n"
        told.commit(f"Fix rule {number} that adds", {f"shop/rule{number}.py": fixed}, days=3)
    told.quiet(500)
    whole = build(told.folder, out=tmp_path / "whole").card
    words = [sys.executable, "-m", "reviewgauge", "build", str(told.folder), "-o", str(tmp_path / "b")]
    for begun in ("memory.sqlite", ".scratch"):
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            until((tmp_path / "b" / begun).exists, process)
            process.kill()
    resumed = build(told.folder, out=tmp_path / "b").card
    assert whole is not None and resumed is not None and resumed.benchmark == whole.benchmark
    assert resumed.counts["changed"] == 9
    assert not (tmp_path / "b" / ".scratch").exists()


@pytest.mark.slow
def test_a_dry_run_writes_no_benchmark_and_leaves_nothing_to_a_real_one(
    shop: Told, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fake model stands in for a real one: its labels must be in no file that a later build reads."""
    for name in ("CACHE", "DATA"):
        monkeypatch.setenv(f"REVIEWGAUGE_{name}", str(tmp_path / name))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    bench = tmp_path / "bench"
    real = build(shop.folder, out=bench).card
    assert real is not None
    before = {name: (bench / name).read_bytes() for name in ("cases.jsonl", "drops.jsonl", "card.json", "card.md")}
    model = "openai:gpt-5@http://127.0.0.1:9/v1"
    words = ["build", str(shop.folder), "-o", str(bench), "--stage", f"classify(model='{model}', what='domain')"]
    for _ in range(2):
        assert main([*words, "--dry-run"]) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert f"{real.cases} calls to pay for" in said, "the second dry run found nothing that the first had kept"
        assert "a dry run; no benchmark was written" in said and "classify" in said
    assert {name: (bench / name).read_bytes() for name in before} == before
    assert not (bench / "audit").exists()
    assert main(words) == 2, "nobody listens at this address, and nothing was remembered that could answer for it"


@pytest.mark.slow
def test_cases_that_no_build_made_are_not_replaced(
    shop: Told, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "cases.jsonl").write_text('{"id":"a","change":{"repo":"x"}}\n')
    assert main(["build", str(shop.folder), "-o", str(mine)]) == 2
    assert "cases.jsonl was not made by a build, and would be replaced" in capsys.readouterr().err
    assert [file.name for file in mine.iterdir()] == ["cases.jsonl"]
    (mine / "cases.jsonl").unlink()
    assert build(shop.folder, out=mine).card is not None
    (mine / "memory.sqlite").unlink()  # to save room: the card says who made it
    assert main(["build", str(shop.folder), "-o", str(mine)]) == 0
    other = shutil.copytree(shop.folder, tmp_path / "other")
    assert main(["build", str(other), "-o", str(mine)]) == 2
    assert f"holds a benchmark of {shop.folder.name}, which would be replaced" in " ".join(
        capsys.readouterr().err.split()
    )
    assert main(["build", str(shop.folder), str(other), "-o", str(mine)]) == 0, "more of the same is no other"
    (mine / "cases.jsonl").write_bytes(b"")
    assert main(["build", str(shop.folder), "-o", str(mine)]) == 0, "a build that left nothing is no other, either"


def results_in(folder: Path) -> dict[str, bytes]:
    """What a benchmark consists of; not what the build keeps beside it."""
    ours = ("repos", "memory.sqlite", "build.lock", "calls.jsonl")
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("memory.sqlite"))
    named = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
    return {name: data for name, data in named.items() if not name.startswith(ours)}


@pytest.mark.drill
def test_another_recipe_is_asked_for_and_nothing_left_changes_nothing(
    shop: Told, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = tmp_path / "bench"
    words = ["build", str(shop.folder), "-o", str(bench)]
    assert main([*words, "--audit", "2"]) == 0
    before = results_in(bench)
    assert {"cases.jsonl", "card.json", "audit/labels.csv"} <= before.keys()
    none = [*words, "--set", "since=2030-01-01"]
    assert main(none) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "made with from_git" in said and "not from_git(since='2030-01-01'" in said
    assert f"--replace keeps it as {bench}.1" in said
    assert main([*none, "--replace", "--audit", "1"]) == 1
    assert f"no case is left; {bench} is as it was" in " ".join(capsys.readouterr().out.split())
    assert results_in(bench) == before and not Path(f"{bench}.1").exists()
    assert main([*words, "--stage", "where(fact='changed_lines', at_most=4000)", "--replace"]) == 0
    assert f"{bench}.1: the benchmark that was there before" in " ".join(capsys.readouterr().out.split())
    assert results_in(Path(f"{bench}.1")) == before
    assert main(["review", f"{bench}.1", "analyser", "-o", str(tmp_path / "run")]) == 0, "the code came along"
    assert main([*words, "--stage", "where(fact='changed_lines', at_most=4000)", "--replace"]) == 0
    assert main([*words, "--replace"]) == 0
    assert [path.name for path in sorted(tmp_path.glob("bench.*"))] == ["bench.1", "bench.2"], "a free name, if needed"


@pytest.mark.slow
def test_replacing_keeps_the_benchmark_of_another_source_over_the_same_settings(shop: Told, tmp_path: Path) -> None:
    shutil.copytree(shop.folder, second := tmp_path / "second")
    build(shop.folder, out=(bench := tmp_path / "bench"))
    first = results_in(bench)
    both = build([shop.folder, second], out=bench, replace=True)
    assert both.before == f"{bench}.1" and results_in(Path(f"{bench}.1")) == first
    assert build([shop.folder, second], out=bench, replace=True).before == str(bench), "the same again is no other one"


def test_a_benchmark_of_another_repository_of_a_forge_is_not_replaced_unasked(shop: Told, tmp_path: Path) -> None:
    build(shop.folder, out=(bench := tmp_path / "bench"))
    card = BuildCard.model_validate_json((bench / "card.json").read_bytes())
    recipe = read_recipe("pull_requests")
    funnel = [
        card.funnel[0].model_copy(update={"stage": short_spec(one)})
        for one, _ in make_stages(recipe, set_parameters(recipe, {}))
    ]
    made = {"funnel": tuple(funnel), "distributions": {"repository": {"Acme/Shop": 3}}, "source": "github:acme/shop"}
    (bench / "card.json").write_text(card.model_copy(update=made).model_dump_json())
    with pytest.raises(UserError, match="holds a benchmark of Acme/Shop, which would be replaced"):
        build("github:acme/other", out=bench)


DYING = """
import os, signal, sys
from pathlib import Path
from reviewgauge.cli.main import main
from reviewgauge.core.errors import UserError
left, replace, rename = int(sys.argv.pop(1)), Path.replace, Path.rename
def counted(move):
    def moved(self, target):
        global left
        left -= "/.scratch/" in str(self) and not str(self).endswith(".tmp")
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return move(self, target)
    return moved
Path.replace, Path.rename = counted(replace), counted(rename)
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.drill
def test_killed_while_it_replaces_a_benchmark_both_are_there(shop: Told, tmp_path: Path) -> None:
    for bench in (tmp_path / "bench", whole := tmp_path / "whole"):
        build(shop.folder, out=bench)
    first = results_in(tmp_path / "bench")
    other = ["--stage", "where(fact='changed_lines', at_most=4000)", "--replace"]
    build(shop.folder, out=whole, stages=[other[1]], replace=True)
    for moves in range(5):  # the copy of the earlier one, then the card, and the cases last
        shutil.copytree(tmp_path / "bench", bench := tmp_path / f"killed-{moves}")
        words = ["build", str(shop.folder), "-o", str(bench), *other]
        dying = [sys.executable, "-c", DYING, str(moves), *words]
        assert subprocess.run(dying, check=False, capture_output=True).returncode == -9
        kept = bench if moves == 0 else Path(f"{bench}.1")
        assert results_in(kept).items() >= first.items()
        assert (bench / "cases.jsonl").read_bytes() == first["cases.jsonl"], "moved last"
        assert main(words) == 0
        assert (bench / "cases.jsonl").read_bytes() == (whole / "cases.jsonl").read_bytes()
        assert results_in(Path(f"{bench}.1")) == first
        assert Path(f"{bench}.2").exists() == (moves == 1), "once the card is there, no second copy"


@pytest.mark.slow
def test_what_a_clone_lacks_is_said_at_once(shop: Told, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shop.git("clone", "-q", "--depth=2", f"file://{shop.folder}", str(tmp_path / "shallow"))
    assert main(["build", str(tmp_path / "shallow"), "-o", str(tmp_path / "b")]) == 1
    said = capsys.readouterr().err
    assert "note: " in said and "is a shallow clone" in said and "git fetch --unshallow" in said
    assert "**Warning.** " in (tmp_path / "b" / "card.md").read_text()


@pytest.mark.slow
def test_a_mark_that_cannot_be_read_is_told_before_anything_is_built(
    shop: Told, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "b"
    words = ["build", str(shop.folder), "-o", str(out), "--stage", "classify(model='fake:rules', what='domain')"]
    assert main([*words, "--audit", "2"]) == 0
    before = (out / "cases.jsonl").read_bytes()
    (table,) = (out / "audit").glob("classify*.csv")
    table.write_text(table.read_text("utf-8").replace(",,\n", ",maybe,\n", 1), "utf-8")
    shop.commit("Add tax", {"shop/tax.py": "def tax(amount):\n    return amount * 1.19\n"})
    shop.quiet(500)
    assert main(words) == 2
    assert "'maybe' is neither y nor n" in capsys.readouterr().err
    assert (out / "cases.jsonl").read_bytes() == before, "the benchmark and its card still belong together"
