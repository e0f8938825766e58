"""The verbs, as a user types them: what they print, what --json holds, and what they say to bad input."""

from __future__ import annotations

import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import reviewgauge
from git_project import run_git
from reviewgauge.cli.main import VERBS, main
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Review, Span
from reviewgauge.engine.run.folder import RunFolder


def words(body: str) -> Comment:
    return Comment(id=body.replace(" ", "-"), body=body, span=Span(path="a.py", start=3))


CASES = [
    Case(id="one", change=Change(repo="shop"), references=(words("total is computed before the discount is applied"),)),
    Case(id="two", change=Change(repo="shop"), references=(words("the file handle is never closed on error"),)),
    Case(id="calm", change=Change(repo="shop"), verdict=True),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a benchmark, its recorded reviews, and a run of them that is scored."""
    folder = tmp_path_factory.mktemp("made")
    bench = folder / "cases.jsonl"
    bench.write_bytes(b"".join(case.to_line() for case in CASES))
    reviews = [
        Review(case="one", system="good", comments=CASES[0].references),
        Review(case="two", system="good", comments=CASES[1].references),
        Review(case="calm", system="good"),
        Review(case="one", system="noisy", comments=(words("consider adding a docstring here"),)),
        Review(case="two", system="noisy", comments=(words("the file handle is never closed on error"), words("nit"))),
        Review(case="calm", system="noisy", comments=(words("looks odd"),)),
    ]
    (folder / "reviews.jsonl").write_bytes(b"".join(review.to_line() for review in reviews))
    assert main(["review", str(bench), "recorded", "-o", str(folder / "run")]) == 0
    assert main(["score", str(folder / "run"), "hits"]) == 0
    return folder


@pytest.fixture
def bench(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A copy of it all that a test may change."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    capsys.readouterr()
    return tmp_path / "cases.jsonl"


@pytest.fixture
def run(bench: Path) -> Path:
    return bench.with_name("run")


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> object:
    code = main([str(a) for a in arguments] + ["--json"])
    out = capsys.readouterr().out
    assert code in (0, 1), out
    value: object = json.loads(out)
    return value


def test_help_names_every_verb_and_is_quick_to_import() -> None:
    program = (
        "import sys; from reviewgauge.cli.main import main; code = main(['--help'])\n"
        "heavy = {'numpy', 'scipy', 'pydantic', 'rich', 'jinja2', 'yaml'} & set(sys.modules)\n"
        "assert code == 0 and not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert all(verb in done.stdout for verb in VERBS)


def test_every_verb_is_a_function_of_the_package() -> None:
    for verb in VERBS:
        assert callable(getattr(reviewgauge, verb.replace("-", "_"))), verb
    assert {verb.replace("-", "_") for verb in VERBS} <= set(dir(reviewgauge))


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_and_json(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb, "--help"]) == 0
    assert "--json" in capsys.readouterr().out


def test_recorded_reviews_become_a_leaderboard(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = as_json(capsys, "score", run, "hits")
    assert isinstance(result, dict)
    board = result["leaderboards"][0]
    assert [row["system"] for row in board["systems"]] == ["good", "noisy"]
    good = {e["measure"]: e["value"] for e in board["systems"][0]["estimates"]}
    noisy = {e["measure"]: e["value"] for e in board["systems"][1]["estimates"]}
    assert (good["precision"], good["recall"], good["clean_left_alone"]) == (1, 1, 1)
    assert (noisy["precision_least"], noisy["recall_least"], noisy["clean_left_alone"]) == (0.25, 0.5, 0)
    assert noisy["precision_least"] < noisy["precision"] < noisy["precision_most"]
    assert board["estimate_note"]
    assert result["totals"][0]["skipped"] == 6, "what was measured before is not measured again"


@pytest.mark.slow
@pytest.mark.parametrize("columns", ["", "140"])
def test_what_is_printed_is_as_wide_as_columns_says_else_100(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.chdir(run.parent)  # commands to copy stay in one piece, and some name the run
    widths = []
    for arguments in (["score", run.name], ["compare", run.name], ["list"], ["info", "martian"]):
        assert main(arguments) == 0
        out = capsys.readouterr().out
        assert out.strip()
        widths.append(max(len(line) for line in out.splitlines()))
    assert max(widths) <= int(columns or 100) < max(widths) + 30


@pytest.mark.slow
def test_compare_pairs_systems_of_one_run_and_of_two(
    run: Path, bench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = as_json(capsys, "compare", run, "--measure", "recall_least")
    assert isinstance(one, list)
    assert [(c["first"], c["second"], c["difference"]) for c in one[0]["comparisons"]] == [("good", "noisy", 0.5)]
    other = tmp_path / "other"
    assert main(["review", str(bench), "recorded", "silent", "-o", str(other)]) == 0
    assert main(["score", str(other), "hits"]) == 0
    capsys.readouterr()
    two = as_json(capsys, "compare", run, other, "--all-pairs", "--measure", "recall")
    assert isinstance(two, list)
    names = {c["first"] for c in two[0]["comparisons"]} | {c["second"] for c in two[0]["comparisons"]}
    assert names == {"run:good", "other:good", "run:noisy", "other:noisy", "silent"}


@pytest.mark.parametrize(("arguments", "remedy"), [
    (["review", "aacr", "silent", "-o", "x"], "aacr_bench"),
    (["review", "martian", "silent", "-o", "x", "--from", "/nowhere/at/all"], "does not exist"),
    (["review", "sample", "replay(path='missing.sarif')", "-o", "x"], "missing.sarif"),
    (["review", "sample", "silents", "-o", "x"], "did you mean silent?"),
    (["score", "."], "manifest"), (["compare", "nowhere"], "nowhere"),
    (["check", "nowhere.jsonl"], "nowhere.jsonl"),
    (["lisst"], "lisst"), (["list", "colours"], "colours"),
    (["doctor", "sample", "hits(judge='nobody')"], "nobody"),
])  # fmt: skip
def test_what_a_user_gets_wrong_is_one_line_and_code_2(
    arguments: list[str],
    remedy: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REVIEWGAUGE_DATA", str(tmp_path / "data"))
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1, captured.err
    assert captured.err.startswith("error: ")
    assert remedy in captured.err


@pytest.mark.parametrize(
    "reviewer", ["replay(path='missing.sarif')", "command(run='nonesuch')", "prompt(model='openai:m')"]
)
def test_a_review_that_failed_leaves_no_folder_in_the_way(
    bench: Path, tmp_path: Path, reviewer: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does one that was killed before it had recorded anything."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    folder = tmp_path / "next"
    assert main(["review", "sample", reviewer, "-o", str(folder)]) == 2
    assert not folder.exists()
    with RunFolder.create(tmp_path / "killed", dataset="sample", dataset_path="", cases=CASES[:1], seed=3) as run:
        run.add_systems({"silent": {}}, "command(run='other')")
        shutil.copytree(run.path, folder)
    (folder / "lock").unlink()
    assert main(["review", str(bench), "silent", "-o", str(folder)]) == 0
    assert main(["score", str(folder)]) == 0


def test_check_names_every_bad_record(bench: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench.write_bytes(bench.read_bytes() + b'{"id": "../x", "change": {"repo": "r"}}\n{"id": "y", "chan\n')
    assert main(["check", str(bench)]) == 2
    out = capsys.readouterr().out
    assert "line 4, field id" in out
    assert "line 5" in out
    assert "3 good" in out


def test_the_verdicts_of_reviews_that_were_refused_are_not_left_in_the_run(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, folder = ["--from", str(shared_data / "martian")], tmp_path / "run"
    assert main(["review", "martian", "recorded", *data, "-o", str(folder)]) == 0
    before = (folder / "labels.jsonl").read_bytes()
    assert main(["review", "martian", 'recorded(extractor="openai_gpt-5.2")', *data, "-o", str(folder)]) == 2
    assert "use another folder" in capsys.readouterr().err
    assert (folder / "labels.jsonl").read_bytes() == before


def test_what_is_no_label_is_named_when_recorded_reviews_are_taken_in(
    bench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = "id,system,rater,dimension,value\none,good,Ann,useful,\ntwo,good,Ann,useful,4\n"
    (tmp_path / "labels.csv").write_text(table, encoding="utf-8")
    assert main(["review", str(bench), "recorded", "-o", str(tmp_path / "judged")]) == 0
    assert capsys.readouterr().err == "note: labels: the value is empty: missing (1 row of Ann in useful)\n"


@pytest.mark.slow
def test_scores_that_depend_on_the_other_systems_of_a_run_are_not_held_against_another_run(
    run: Path, tmp_path: Path, bench: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    assert main(["review", str(bench), "silent", "-o", str(other)]) == 0
    for folder in (run, other):
        assert main(["score", str(folder), "hits", "hits(second_stage=True)"]) == 0
    assert main(["compare", str(run), str(other), "--metric", "hits(second_stage=True)"]) == 2
    assert "hits(second_stage=True) looks at all systems of a run together" in capsys.readouterr().err
    assert main(["compare", str(run), str(other), "--metric", "hits"]) == 0
    assert main(["compare", str(run), "--metric", "hits(second_stage=True)"]) == 0


def test_the_manifest_keeps_the_path_as_it_was_given(bench: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(bench.parent)
    assert main(["review", "cases.jsonl", "silent", "-o", "one"]) == 0
    assert main(["review", "jsonl", "silent", "--from", "cases.jsonl", "-o", "two"]) == 0
    for folder in ("one", "two"):
        assert json.loads(Path(folder, "manifest.json").read_bytes())["dataset_path"] == "cases.jsonl"


@pytest.mark.slow
def test_the_demo_builds_its_benchmark_from_a_history_and_tells_a_strong_reviewer_from_noise(
    demo: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REVIEWGAUGE_DATA", str(tmp_path / "data"))
    made, said = demo
    shutil.copytree(made / "runs" / "demo", tmp_path / "demo", symlinks=True)
    kept = (tmp_path / "demo" / "run" / "reviews.jsonl").read_bytes()
    result = as_json(capsys, "demo", "-o", tmp_path / "demo")
    assert isinstance(result, dict)
    assert (tmp_path / "demo" / "run" / "reviews.jsonl").read_bytes() == kept, "a second run finds all there"
    card = result["build"]["card"]
    assert card["cases"] == card["funnel"][-1]["kept"] == card["counts"]["changed"] + card["counts"]["clean"]
    assert min(card["counts"]["changed"], card["counts"]["clean"]) >= 5
    assert (tmp_path / "demo" / "bench" / "card.md").is_file()
    board = result["score"]["leaderboards"][0]
    assert board["benchmark"] == card["benchmark"]
    assert [row["system"] for row in board["systems"]] == ["blind-reader", "analyser", "parrot", "silent"]
    assert {(row["scored"], row["missing"]) for row in board["systems"]} == {(card["cases"], 0)}
    duels = {c["second"]: c for c in result["score"]["comparisons"][0]["comparisons"]}
    assert duels["parrot"]["p_holm"] is None  # a baseline
    assert duels["parrot"]["p"] < 0.05 < duels["parrot"]["low"]
    assert Path(result["report"]["path"]).stat().st_size == result["report"]["bytes"]
    table, answered, twins, end = said.split("\n\n")
    assert len(table.splitlines()) == 6
    answer, warning = answered.splitlines()
    assert answer.startswith("blind-reader leads analyser by ") and answer.endswith(".")
    assert warning.startswith("! a label is a later fix")
    heading, columns, *_ = twins.splitlines()
    assert "--recipe injected" in heading and columns.split()[1] == "d′"
    assert {row["system"] for row in result["twins"]["leaderboards"][0]["systems"]} == {"analyser", "parrot", "silent"}
    noise = [row["estimates"][0] for row in result["twins"]["leaderboards"][0]["systems"][1:]]
    assert all(one["low"] <= 0 <= one["high"] for one in noise), "who repeats himself tells nothing apart"
    *_, path, following = end.splitlines()
    assert (path, following.partition(" build ")[2]) == ("report: runs/demo/report.html", "YOUR-REPOSITORY -o bench")
    clone = tmp_path / "demo" / "wayside"
    run_git(clone, "update-ref", "refs/heads/maintained", "HEAD~1")
    assert main(["demo", "-o", str(tmp_path / "demo")]) == 2
    assert "is not the sample as it ships" in capsys.readouterr().err


@pytest.mark.drill
def test_the_demo_is_the_same_with_other_programs_and_without_any_extra(demo: tuple[Path, str], tmp_path: Path) -> None:
    """As a plain installation runs it: nothing but the base can be imported, and PATH holds git and false analysers."""
    programs, site, mark = tmp_path / "bin", tmp_path / "site", tmp_path / "ran"
    programs.mkdir()
    site.mkdir()
    (programs / "git").symlink_to(shutil.which("git") or "")
    for name in ("eslint", "jshint", "pmd", "shellcheck", "cppcheck", "ruff"):
        (programs / name).write_text(f"#!/bin/sh\n: > {mark}\necho 'a.js:1:1: bad'\nexit 1\n", encoding="utf-8")
        (programs / name).chmod(0o755)
    (site / "sitecustomize.py").write_text(f"import sys\nsys.modules.update(dict.fromkeys({_not_of_the_base()}))\n")
    words = [sys.executable, "-m", "reviewgauge", "demo"]
    env = {"PATH": str(programs), "PYTHONPATH": str(site), "HOME": str(tmp_path), "REVIEWGAUGE_DATA": str(tmp_path)}
    done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.partition("next:")[0] == demo[1].partition("next:")[0]
    assert not mark.exists()
    page = (tmp_path / "runs" / "demo" / "report.html").read_text(encoding="utf-8")
    assert "<svg" in page and "not installed" not in page


def _not_of_the_base() -> list[str]:
    """The modules of this environment that neither reviewgauge nor what it depends on without extras brings."""
    base, found = set[str](), ["reviewgauge"]
    while found:
        name = re.sub(r"[-_.]+", "-", found.pop()).lower()
        if name not in base:
            base.add(name)
            with suppress(importlib.metadata.PackageNotFoundError):  # needed on other systems
                needs = importlib.metadata.requires(name) or ()
                found += [re.split(r"[^\w.-]", need)[0] for need in needs if "extra ==" not in need]
    brought = importlib.metadata.packages_distributions().items()
    return sorted(module for module, by in brought if not base & {re.sub(r"[-_.]+", "-", one).lower() for one in by})


def test_a_limit_is_a_stage_that_the_run_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["review", "sample", "silent", "--limit", "2", "-o", str(tmp_path / "run")]) == 0
    assert "sample | first(cases=2), 2 cases" in " ".join(capsys.readouterr().out.split())
    assert RunFolder.open(tmp_path / "run").manifest.dataset == "sample | first(cases=2)"


def test_a_dry_run_says_before_it_is_paid_for_that_a_change_is_very_large(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    patch = "@@ -0,0 +1 @@\n+" + "x" * 400_001
    case = Case(id="big", change=Change(repo="shop", files=(ChangedFile(path="a.js", patch=patch),)))
    (tmp_path / "cases.jsonl").write_bytes(case.to_line())
    words = ["review", str(tmp_path / "cases.jsonl"), 'prompt(model="fake:rules")', "--dry-run"]
    assert main([*words, "-o", str(tmp_path / "run")]) == 0
    assert "more than 100,000 tokens of code by estimate" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "run").exists()
