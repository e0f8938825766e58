"""`reviewgauge bundle` and `check` as a user types them, and bundles that somebody tampered with."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

import reviewgauge
from bundle_toys import files_of, tamper, write_bench
from reviewgauge.cli.main import main
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.labels import Label, Subject, SubjectKind
from reviewgauge.core.reports.check import Problem
from reviewgauge.core.results import Outcome

SCORES = "runs/my-run/scores.jsonl"
REVIEWS = "runs/my-run/reviews.jsonl"
BOARD = "tables/hits.leaderboard.csv"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bench")
    run = folder / "my run"
    assert main(["review", str(write_bench(folder)), "recorded", "silent", "-o", str(run)]) == 0
    assert main(["score", str(run), "hits", "chrf", "--resamples", "200"]) == 0
    return run


@pytest.fixture(scope="module")
def packed(run: Path) -> Path:
    path = run.parent / "bundle.zip"
    reviewgauge.bundle(run, out=path, slices=["size"], resamples=200)
    return path


@pytest.fixture
def bundle(packed: Path, tmp_path: Path) -> Path:
    return shutil.copyfile(packed, tmp_path / "bundle.zip")


def difference(path: Path) -> Problem:
    """The first difference of a bundle, which must have one."""
    result = reviewgauge.check(path)
    assert not result.ok
    return result.problems[0]


# --- what is in it -------------------------------------------------------------------------------------------------


def test_a_bundle_holds_the_run_the_tables_and_how_to_check_them(packed: Path, run: Path, tmp_path: Path) -> None:
    found = files_of(packed)
    assert {name for name in found if name.startswith("runs/")} == {
        f"runs/my-run/{name}"
        for name in ("manifest.json", "cases.jsonl", "reviews.jsonl", "labels.jsonl", "scores.jsonl")
    }
    for metric in ("hits", "chrf"):
        for table in ("leaderboard", "comparisons", "by-size"):
            assert {f"tables/{metric}.{table}.{ending}" for ending in ("csv", "md", "tex")} <= found.keys()
    assert "reviewgauge check bundle.zip" in found["README.md"]
    assert not any(str(run.parent) in text for text in found.values()), "nothing of this machine is in it"
    assert "\n'=noisy," in found[BOARD] and "\n=" not in found[BOARD], "what a spreadsheet would run is harmless"
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(tmp_path)
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=tmp_path, check=True)


def test_the_same_run_gives_the_same_bytes(run: Path, packed: Path, tmp_path: Path) -> None:
    result = reviewgauge.bundle(run, out=tmp_path / "again.zip", slices=["size"], resamples=200)
    assert (tmp_path / "again.zip").read_bytes() == packed.read_bytes()
    assert result.content == reviewgauge.check(packed).content


def test_the_tables_are_those_that_the_verbs_print(packed: Path, run: Path) -> None:
    estimate = reviewgauge.score(run, "hits", resamples=200).leaderboards[0].systems[0].estimate("f1")
    assert estimate is not None
    row = next(line for line in files_of(packed)[BOARD].splitlines() if line.startswith("good,"))
    assert row.split(",")[1:4] == [repr(estimate.value), repr(estimate.low), repr(estimate.high)]
    duel = reviewgauge.compare(run, metric="hits", resamples=200)[0].comparisons[0]
    line = files_of(packed)["tables/hits.comparisons.csv"].splitlines()[1].split(",")
    assert (line[0], line[3]) == (duel.first, repr(duel.difference))


# --- it is sound ---------------------------------------------------------------------------------------------------


def test_a_good_bundle_is_recomputed_to_the_last_figure(packed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(packed)]) == 0
    assert "36 scores of 18 reviews were measured again and" in capsys.readouterr().out
    result = reviewgauge.check(packed)
    assert result.ok and result.notes == ()
    assert result.records["figure"] > 100


@pytest.mark.slow
def test_runs_of_one_name_and_of_two_benchmarks_are_told_apart(run: Path, tmp_path: Path) -> None:
    other = write_bench(tmp_path / "other")
    other.write_text(other.read_text().replace("secret title", "another title"))
    shutil.copytree(run, tmp_path / "a" / "my run")
    assert main(["review", str(other), "recorded", "-o", str(tmp_path / "b")]) == 0
    assert main(["score", str(tmp_path / "b"), "hits", "--resamples", "50"]) == 0
    out = tmp_path / "two.zip"
    result = reviewgauge.bundle(run, tmp_path / "a" / "my run", tmp_path / "b", out=out, resamples=20)
    assert [entry.name for entry in result.runs] == ["my-run", "my-run-2", "b"]
    assert sum(name.endswith("leaderboard.csv") for name in result.tables) == 3
    text = files_of(out)[next(name for name in result.tables if "hits.leaderboard.csv" in name)]
    assert "my-run:good" in text and "my-run-2:good" in text
    assert reviewgauge.check(out).ok


def test_other_versions_are_said(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    once = tamper(bundle, "bundle.json", lambda text: re.sub(r'("numpy": ")[^"]+', r"\g<1>1.0.0", text))
    once = once.rename(once.with_name("once.zip"))
    changed = tamper(once, "README.md", lambda text: re.sub(r"numpy [\d.]+\d", "numpy 1.0.0", text))
    assert main(["check", str(changed)]) == 0
    assert "made with numpy 1.0.0, installed is " in capsys.readouterr().err


def test_a_run_of_ones_own_shows_whether_the_cases_are_those_of_the_data(
    packed: Path, run: Path, tmp_path: Path
) -> None:
    assert reviewgauge.check(packed, sources=[run]).ok
    other = write_bench(tmp_path / "other")
    other.write_text(other.read_text().replace("secret title", "another title"))
    assert main(["review", str(other), "recorded", "-o", str(tmp_path / "mine")]) == 0
    (found,) = reviewgauge.check(packed, sources=[tmp_path / "mine"]).problems
    assert (found.file, found.field) == ("runs/my-run/cases.jsonl", "benchmark")
    copy = shutil.copytree(run, tmp_path / "copy")
    label = Label(subject=Subject(kind=SubjectKind.CHANGE, case="case-0"), rater="ada", dimension="grade", value=1)
    (copy / "labels.jsonl").write_bytes(label.to_line())
    (found,) = reviewgauge.check(packed, sources=[copy]).problems
    assert found.file == "runs/my-run/labels.jsonl"


def test_an_unpacked_bundle_is_checked_as_one(packed: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(tmp_path)
    assert reviewgauge.check(tmp_path).content == reviewgauge.check(packed).content
    (tmp_path / BOARD).write_text("better")
    assert difference(tmp_path).file == BOARD
    (tmp_path / BOARD).unlink()
    (tmp_path / BOARD).symlink_to("/dev/zero")
    with pytest.raises(BadInput, match="a link or a device"):
        reviewgauge.check(tmp_path)


# --- it is not -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [SCORES, BOARD, "bundle.json"])
def test_a_file_that_was_changed_or_taken_out_is_named(bundle: Path, name: str) -> None:
    found = difference(tamper(bundle, name, lambda text: text + "\n", fit=False))
    assert (found.file, found.field) == (name, "sha256") and "changed after it was packed" in found.problem
    if name != "bundle.json":
        found = difference(tamper(bundle, name, lambda _: None, fit=False))
        assert (found.file, found.found) == (name, "missing")


@pytest.mark.parametrize("fit", [False, True])
def test_a_file_that_was_slipped_in_is_named(bundle: Path, fit: bool) -> None:
    assert difference(tamper(bundle, "tables/best.csv", lambda _: "x", fit=fit)).file == "tables/best.csv"


def test_a_table_that_was_taken_out_with_its_sum_is_named(bundle: Path) -> None:
    assert difference(tamper(bundle, BOARD, lambda _: None)).file == BOARD


def line_of(text: str, *words: str) -> str:
    return next(line for line in text.splitlines(keepends=True) if all(word in line for word in words))


def test_a_score_that_was_made_better(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def better(text: str) -> str:
        line = line_of(text, '"case-0","system":"=noisy"', "hits(")
        return text.replace(line, line.replace('"hit":0.0', '"hit":1.0', 1))

    bad = tamper(bundle, SCORES, better)
    found = difference(bad)
    assert (found.file, found.line, found.field) == (SCORES, "=noisy on case-0, hits", "parts.hit")
    assert (found.stored, found.found) == ("1.0", "0.0")
    assert main(["check", str(bad)]) == 1
    said = f"DIFFERS: {SCORES}, =noisy on case-0, hits, parts.hit: the bundle says 1.0, it is 0.0\n"
    assert capsys.readouterr().out == said


def test_a_bad_score_that_was_taken_out(bundle: Path) -> None:
    bad = tamper(bundle, SCORES, lambda text: text.replace(line_of(text, '"case-0","system":"=noisy"', "hits("), ""))
    found = difference(bad)
    assert (found.line, found.stored, found.found) == ("=noisy on case-0, hits", "no score", "a score")


def test_a_table_that_was_made_better(bundle: Path) -> None:
    found = difference(tamper(bundle, BOARD, lambda text: re.sub(r"(?m)^('=noisy,)[\d.]+", r"\g<1>0.99", text)))
    assert (found.file, found.line, found.field, found.stored) == (BOARD, "'=noisy", "F1", "0.99")
    name = "tables/hits.leaderboard.tex"
    found = difference(tamper(bundle, name, lambda text: text.replace("=noisy & .", "=noisy & .9")))
    assert found.file == name and "=noisy & .9" in found.stored


def test_a_review_that_was_changed_with_all_its_hashes(bundle: Path) -> None:
    """Nothing but measuring again shows it."""
    old = {}

    def change(text: str) -> str:
        lines = []
        for line in text.splitlines():
            outcome = Outcome.model_validate_json(line)
            new = Outcome.model_validate_json(line.replace("please add a docstring", "the total is computed before"))
            old[outcome.digest] = new.digest
            lines.append(new.to_line().decode())
        return "".join(lines)

    def follow(text: str) -> str:
        for before, after in old.items():
            text = text.replace(before, after)
        return text

    once = tamper(bundle, REVIEWS, change)
    found = difference(tamper(once.rename(once.with_name("once.zip")), SCORES, follow))
    assert (found.file, found.line) == (SCORES, "=noisy on case-0, chrf")


@pytest.mark.parametrize(("old", "new", "where"), [
    ('"cases": 6', '"cases": 600', ("bundle.json", "cases")),
    ('"dataset": "cases.jsonl"', '"dataset": "martian"', ("bundle.json", "dataset")),
    ('"licence": "that of its author"', '"licence": "MIT"', ("README.md", "")),
])  # fmt: skip
def test_what_the_bundle_says_of_a_run_is_what_the_run_says(bundle: Path, old: str, new: str, where: object) -> None:
    assert old in files_of(bundle)["bundle.json"]
    found = difference(tamper(bundle, "bundle.json", lambda text: text.replace(old, new)))
    assert (found.file, found.field) == where


def test_other_settings_than_the_tables_were_made_with(bundle: Path) -> None:
    found = difference(tamper(bundle, "bundle.json", lambda text: text.replace('"seed": 0', '"seed": 1')))
    assert re.search(r": (low|high)$|^p$", found.field)


# --- what is not a bundle ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keep", [0, -50])
def test_a_truncated_bundle_is_one_line_and_code_2(bundle: Path, keep: int, capsys: pytest.CaptureFixture[str]) -> None:
    bundle.write_bytes(bundle.read_bytes()[:keep])
    assert main(["check", str(bundle)]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and "is the file complete?" in err


@pytest.mark.parametrize(("name", "change", "said"), [
    ("bundle.json", lambda _: None, "it holds no bundle.json"),
    ("bundle.json", lambda text: text.replace('"format": 3', '"format": 9'), "made by another version"),
    ("bundle.json", lambda _: "{", "is not valid JSON"),
    ("bundle.json", lambda text: text.replace('"seed": 0', '"seed": "x"'), "field seed"),
    ("bundle.json", lambda text: text.replace('"resamples": 200', '"resamples": 1000000000'), "field resamples"),
    ("bundle.json", lambda text: text.replace('"name": "my-run"', '"name": "../../etc"'), "field runs"),
    ("../evil", lambda _: "x", "climbs out of its folder"),
    ("runs/my-run/cases.jsonl", lambda text: text.replace("taken twice", "taken once"), "bundle.zip/runs/my-run"),
    (REVIEWS, lambda text: text + text.splitlines()[0] + "\n", "bundle.zip/runs/my-run"),
])  # fmt: skip
def test_what_is_not_a_bundle_is_one_line_and_code_2(
    bundle: Path, name: str, change: object, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tamper(bundle, name, change).replace(bundle)  # type: ignore[arg-type]
    assert main(["check", str(bad)]) == 2
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1


# --- what cannot be packed -----------------------------------------------------------------------------------------


def test_runs_that_are_not_ready_are_refused(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = tmp_path / "run", tmp_path / "b.zip"
    assert main(["review", str(run.parent / "cases.jsonl"), "recorded", "-o", str(folder)]) == 0

    def refused(*words: str) -> str:
        capsys.readouterr()
        assert main(["bundle", *words]) == 2
        return capsys.readouterr().err

    assert "was not scored yet" in refused(str(folder), "-o", str(out))
    assert main(["score", str(folder), "hits", "--resamples", "50"]) == 0
    lines = (folder / "scores.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "scores.jsonl").write_bytes(b"".join(lines[1:]))
    assert "was not measured with hits" in refused(str(folder), "-o", str(out))
    assert "named twice" in refused(str(folder), str(folder), "-o", str(out))
    assert "is a directory" in refused(str(folder), "-o", str(tmp_path))
    assert "is not a run folder" in refused(str(tmp_path), "-o", str(out))
    colour = refused(str(run), "-o", str(out), "--slice", "size", "--slice", "colour", "--resamples", "50")
    assert "nothing to slice by is called 'colour'" in colour
    assert not out.exists()


def test_files_that_are_no_part_of_the_run_stay_out_and_are_named(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = shutil.copytree(run, tmp_path / "copy")
    (copy / "notes.txt").write_text("mine")
    assert main(["bundle", str(copy), "-o", str(tmp_path / "b.zip"), "--resamples", "50"]) == 0
    err = capsys.readouterr().err
    assert "copy leaves out what is not part of a run: notes.txt" in err
    assert "copy holds the texts of 6 cases" in err
    assert not any("notes" in name for name in files_of(tmp_path / "b.zip"))


# --- metrics of one's own ------------------------------------------------------------------------------------------


def scored(run: Path, folder: Path, metric: str) -> Path:
    assert main(["review", str(run.parent / "cases.jsonl"), "recorded", "-o", str(folder)]) == 0
    assert main(["score", str(folder), metric, "--resamples", "50"]) == 0
    return folder


def test_a_metric_that_would_ask_a_model_is_named_and_not_called(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "b.zip"
    reviewgauge.bundle(scored(run, tmp_path / "asked", "bundle_toys.Remote"), out=out, resamples=50)
    result = reviewgauge.check(out)
    assert result.ok and "score" not in result.records
    assert "not measured again with bundle_toys.Remote: it asks openai:judge" in result.notes[0]
    name = next(name for name in files_of(out) if name.endswith("leaderboard.csv"))
    bad = tamper(out, name, lambda text: text.replace("1.5", "9.5"))
    assert difference(bad).found == "1.5", "its tables are compared with its scores all the same"
    bad = tamper(out, "runs/asked/reviews.jsonl", lambda text: text.replace("please add a docstring", "nit"))
    assert main(["check", str(bad)]) == 2, "a review that was changed is no sound run"
    assert "reviews changed since they were measured" in capsys.readouterr().err


def test_a_file_that_a_metric_was_given_travels_with_the_bundle(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("weights.json").write_text(json.dumps({"weight": 2.5}))
    scored(run, Path("run"), "bundle_toys.FromFile(file='weights.json')")
    assert main(["bundle", "run", "-o", "b.zip", "--resamples", "50"]) == 2
    assert "weights.json, which would be published with the bundle" in capsys.readouterr().err
    assert not Path("b.zip").exists()
    reviewgauge.bundle("run", out="b.zip", resamples=50, include=["weights.json"])
    Path("weights.json").unlink()
    result = reviewgauge.check("b.zip")
    assert result.ok and result.records["score"] == 12
    name = next(name for name in files_of(Path("b.zip")) if name.startswith("parameters/"))
    found = difference(tamper(Path("b.zip").resolve(), name, lambda text: text.replace("2.5", "3.5")))
    assert (found.field, found.stored, found.found) == ("parts.value", "2.5", "3.5")


def test_code_of_ones_own_is_named(packed: Path) -> None:
    with pytest.raises(UserError, match="nowhere"):
        reviewgauge.check(packed, plugins=["nowhere.Metric"])
