"""`reviewgauge bundle` and `bundle verify` as a user types them, and bundles that somebody tampered with."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest

import reviewgauge
from bundle_toys import tamper, write_bench, write_zip
from reviewgauge.api.verify import VerifyResult
from reviewgauge.cli.bundle import verify
from reviewgauge.cli.main import main
from reviewgauge.core.errors import UserError
from reviewgauge.core.results import Outcome, Score


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bench(tmp_path_factory.mktemp("bench"))


@pytest.fixture(scope="module")
def run(bench: Path) -> Path:
    folder = bench.parent / "my run"
    assert main(["review", str(bench), "recorded", "silent", "-o", str(folder)]) == 0
    assert main(["score", str(folder), "hits", "chrf", "--resamples", "200"]) == 0
    return folder


@pytest.fixture(scope="module")
def packed(run: Path) -> Path:
    path = run.parent / "bundle.zip"
    reviewgauge.bundle(run, out=path, slices=["size"], resamples=200)
    return path


@pytest.fixture
def bundle(packed: Path, tmp_path: Path) -> Path:
    path = tmp_path / "bundle.zip"
    path.write_bytes(packed.read_bytes())
    return path


def files(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def checked(path: Path, **more: object) -> VerifyResult:
    return verify(path, **more)  # type: ignore[arg-type]


def said(path: Path, **more: object) -> str:
    """The first difference of a bundle, which must have one."""
    result = checked(path, **more)
    assert result.difference is not None and not result.ok
    return result.difference.sentence


SCORES = "runs/my-run/scores.jsonl"
REVIEWS = "runs/my-run/reviews.jsonl"
BOARD = "tables/hits.leaderboard.csv"


# --- what is in it -------------------------------------------------------------------------------------------------


def test_a_bundle_holds_the_run_the_tables_and_how_to_check_them(packed: Path) -> None:
    found = files(packed)
    assert {name for name in found if name.startswith("runs/")} == {
        f"runs/my-run/{name}.{end}"
        for name, end in (
            *(("manifest", "json"), ("cases", "jsonl"), ("reviews", "jsonl")),
            *(("labels", "jsonl"), ("scores", "jsonl")),
        )
    }
    for metric in ("hits", "chrf"):
        for table in ("leaderboard.csv", "leaderboard.tex", "comparisons.csv", "comparisons.tex", "slices.csv"):
            assert f"tables/{metric}.{table}" in found
    assert "reviewgauge bundle verify bundle.zip" in found["README.md"]
    manifest = json.loads(found["bundle.json"])
    assert manifest["files"].keys() == found.keys() - {"bundle.json"}
    assert manifest["runs"][0]["metrics"][0].startswith("chrf(")


def test_the_same_run_gives_the_same_bytes(run: Path, packed: Path, tmp_path: Path) -> None:
    result = reviewgauge.bundle(run, out=tmp_path / "again.zip", slices=["size"], resamples=200)
    assert (tmp_path / "again.zip").read_bytes() == packed.read_bytes()
    assert result.content == checked(packed).content


def test_nothing_of_this_machine_is_in_it(packed: Path, run: Path) -> None:
    for name, text in files(packed).items():
        assert str(run.parent) not in text, name


def test_the_tables_are_those_that_the_verbs_print(packed: Path, run: Path) -> None:
    board = reviewgauge.score(run, "hits", resamples=200).leaderboards[0]
    row = next(line for line in files(packed)[BOARD].splitlines() if line.startswith("good,f1,yes,"))
    estimate = board.systems[0].estimate("f1")
    assert estimate is not None
    assert row.split(",")[3:6] == [repr(estimate.value), repr(estimate.low), repr(estimate.high)]
    duel = reviewgauge.compare(run, metric="hits", resamples=200)[0].comparisons[0]
    lines = files(packed)["tables/hits.comparisons.csv"].splitlines()
    assert lines[1].split(",")[5] == repr(duel.difference)


def test_what_a_spreadsheet_would_run_is_harmless(packed: Path) -> None:
    text = files(packed)[BOARD]
    assert "\n'=noisy,f1,yes," in text
    assert "\n=" not in text
    assert "=noisy &" in files(packed)["tables/hits.leaderboard.tex"]


# --- it verifies ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_good_bundle_is_recomputed_to_the_last_figure(packed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bundle", "verify", str(packed)]) == 0
    out = capsys.readouterr().out
    assert "36 scores of 18 reviews were measured again and" in out
    assert "none differs" in out
    result = checked(packed)
    assert result.ok and result.figures > 200 and result.not_measured == {} and result.notes == ()


@pytest.mark.slow
def test_runs_of_one_name_and_of_two_benchmarks_are_told_apart(run: Path, tmp_path: Path) -> None:
    other = write_bench(tmp_path / "other")
    other.write_text(other.read_text().replace("secret title", "another title"))
    for folder, cases in ((tmp_path / "a" / "my run", run.parent / "cases.jsonl"), (tmp_path / "b", other)):
        assert main(["review", str(cases), "recorded", "-o", str(folder)]) == 0
        assert main(["score", str(folder), "hits", "--resamples", "100"]) == 0
    out = tmp_path / "two.zip"
    result = reviewgauge.bundle(run, tmp_path / "a" / "my run", tmp_path / "b", out=out, resamples=100)
    assert [entry.name for entry in result.runs] == ["my-run", "my-run-2", "b"]
    assert sum(name.endswith("leaderboard.csv") for name in result.tables) == 3
    text = files(out)[next(name for name in result.tables if "hits.leaderboard.csv" in name)]
    assert "my-run:good" in text and "my-run-2:good" in text
    assert checked(out).ok


@pytest.mark.slow
def test_a_bundle_of_json_prints_json(
    bundle: Path, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bundle", str(run), "-o", str(tmp_path / "b.zip"), "--resamples", "50", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["runs"][0]["texts"] == "all"
    assert main(["bundle", "verify", str(bundle), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ok"] is True


def test_help_shows_both_forms(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bundle", "--help"]) == 0
    out = capsys.readouterr().out
    assert "reviewgauge bundle [OPTIONS] RUNS..." in out
    assert "reviewgauge bundle verify [OPTIONS] FILE" in out


# --- it does not ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fit_hashes", [False, True])
def test_a_score_that_was_made_better(bundle: Path, fit_hashes: bool, capsys: pytest.CaptureFixture[str]) -> None:
    def better(text: str) -> str:
        lines = text.splitlines(keepends=True)
        at = next(i for i, line in enumerate(lines) if '"case-0","system":"=noisy"' in line and "hits(" in line)
        lines[at] = lines[at].replace('"hit":0.0', '"hit":1.0', 1)
        return "".join(lines)

    bad = tamper(bundle, SCORES, better, fit_hashes=fit_hashes)
    sentence = said(bad)
    assert sentence.startswith(f"{SCORES}, =noisy on case-0, hits, parts.hit: the bundle says 1.0, it is 0.0")
    assert ("hash differs too" in sentence) is not fit_hashes
    assert main(["bundle", "verify", str(bad)]) == 1
    assert "DIFFERS: " in capsys.readouterr().out


def test_a_bad_score_that_was_taken_out(bundle: Path) -> None:
    def without(text: str) -> str:
        lines = text.splitlines(keepends=True)
        return "".join(x for x in lines if not ('"case-0","system":"=noisy"' in x and "hits(" in x))

    assert "=noisy on case-0, hits: the bundle says no score, it is a score" in said(
        tamper(bundle, SCORES, without, fit_hashes=True)
    )


@pytest.mark.parametrize("fit_hashes", [False, True])
def test_a_table_that_was_made_better(bundle: Path, fit_hashes: bool) -> None:
    def better(text: str) -> str:
        return re.sub(r"(?m)^('=noisy,f1,yes,)[\d.]+", r"\g<1>0.99", text)

    assert re.match(
        r"tables/hits.leaderboard.csv, '=noisy f1, value: the bundle says 0.99, it is 0\.\d+",
        said(tamper(bundle, BOARD, better, fit_hashes=fit_hashes)),
    )


def test_a_row_that_was_taken_out_of_a_table(bundle: Path) -> None:
    bad = tamper(bundle, BOARD, lambda text: text[: text.rstrip().rindex("\n") + 1], fit_hashes=True)
    assert "the bundle says no such row" in said(bad)


def test_a_figure_of_the_paper_that_was_made_better(bundle: Path) -> None:
    name = "tables/hits.leaderboard.tex"
    bad = tamper(bundle, name, lambda text: text.replace("=noisy & 0.", "=noisy & 0.9"), fit_hashes=True)
    sentence = said(bad)
    assert sentence.startswith(f"{name}, line ")
    assert "=noisy & 0.9" in sentence


@pytest.mark.parametrize("fit_hashes", [False, True])
def test_a_review_that_was_changed(bundle: Path, fit_hashes: bool) -> None:
    bad = tamper(bundle, REVIEWS, lambda text: text.replace("please add a docstring", "nit"), fit_hashes=fit_hashes)
    assert said(bad).startswith(f"{REVIEWS}, =noisy on case-0, hash of the review: the bundle says ")


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

    once = tamper(bundle, REVIEWS, change, fit_hashes=True)

    def follow(text: str) -> str:
        for before, after in old.items():
            text = text.replace(before, after)
        return text

    twice = tamper(once.rename(once.with_name("once.zip")), SCORES, follow, fit_hashes=True)
    assert said(twice).startswith(f"{SCORES}, =noisy on case-0, chrf, parts.")


def test_a_case_that_was_changed(bundle: Path) -> None:
    name = "runs/my-run/cases.jsonl"
    bad = tamper(bundle, name, lambda text: text.replace("taken twice", "taken once"), fit_hashes=True)
    assert said(bad).startswith(f"{name}, benchmark: the bundle says ")


@pytest.mark.parametrize("name", [SCORES, REVIEWS, BOARD, "README.md", "runs/my-run/manifest.json"])
def test_a_file_that_is_missing(bundle: Path, name: str) -> None:
    assert re.match(f"{name}: the bundle says [\\d,]+ bytes, it is missing", said(tamper(bundle, name, lambda _: None)))


@pytest.mark.parametrize("name", [SCORES, REVIEWS, BOARD, "tables/hits.leaderboard.tex"])
def test_a_file_that_is_missing_from_the_list_too(bundle: Path, name: str) -> None:
    result = checked(tamper(bundle, name, lambda _: None, fit_hashes=True))
    assert result.difference is not None
    assert result.difference.file == name


def test_a_file_that_was_slipped_in(bundle: Path) -> None:
    everything = {name: text.encode() for name, text in files(bundle).items()}
    bad = write_zip(bundle.with_name("more.zip"), {**everything, "tables/best.csv": b"x"})
    assert "tables/best.csv: the bundle says no such file, it is there" in said(bad)


def test_a_file_that_was_slipped_in_and_listed(bundle: Path) -> None:
    everything = {name: text.encode() for name, text in files(bundle).items()}
    bad = write_zip(bundle.with_name("more.zip"), {**everything, "tables/best.csv": b"x"})
    listed = tamper(bad, "README.md", lambda text: text + "\n", fit_hashes=True)
    assert said(listed) == "tables/best.csv: the bundle says no such file, it is there"


def test_other_settings_than_the_tables_were_made_with(bundle: Path) -> None:
    bad = tamper(bundle, "bundle.json", lambda text: text.replace('"seed": 0', '"seed": 1'))
    assert re.search(r"tables/.*, (low|high|p): the bundle says ", said(bad))


def test_a_table_that_is_not_listed(bundle: Path) -> None:
    def without(text: str) -> str:
        manifest = json.loads(text)
        manifest["tables"] = manifest["tables"][1:]
        return json.dumps(manifest)

    assert said(tamper(bundle, "bundle.json", without)).startswith("bundle.json, tables")


@pytest.mark.parametrize("fit_hashes", [False, True])
def test_a_readme_that_was_changed(bundle: Path, fit_hashes: bool) -> None:
    bad = tamper(bundle, "README.md", lambda text: text + "The best of all.\n", fit_hashes=fit_hashes)
    assert said(bad).startswith("README.md, line ") and "The best of all." in said(bad)


def test_a_name_and_a_licence_that_are_not_its_own_are_said(bundle: Path) -> None:
    def renamed(text: str) -> str:
        found = json.loads(text)
        for entry in found.get("runs", [found]):
            entry["dataset"] = "sample"
        return json.dumps(found)

    bad = tamper(tamper(bundle, "runs/my-run/manifest.json", renamed, fit_hashes=True), "bundle.json", renamed)
    notes = " ".join(checked(bad).notes)
    assert "its cases are not those that sample has here" in notes and "the licence is said to be" in notes


@pytest.mark.parametrize("name", [SCORES, REVIEWS, "runs/my-run/cases.jsonl", "runs/my-run/manifest.json"])
def test_a_line_that_is_no_record(bundle: Path, name: str) -> None:
    result = checked(tamper(bundle, name, lambda text: text[:-10], fit_hashes=True))
    assert result.difference is not None
    assert result.difference.file == name
    assert result.difference.stored == "a record"


def test_a_second_score_does_not_replace_the_first(bundle: Path) -> None:
    bad = tamper(bundle, SCORES, lambda text: text + text.splitlines()[-1] + "\n", fit_hashes=True)
    assert "it is a second score" in said(bad)


def test_a_review_that_occurs_twice(bundle: Path) -> None:
    bad = tamper(bundle, REVIEWS, lambda text: text + text.splitlines()[0] + "\n", fit_hashes=True)
    assert "it is a second review" in said(bad)


# --- what is not a bundle ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keep", [0, 100, -50])
def test_a_truncated_bundle_is_one_line_and_code_2(bundle: Path, keep: int, capsys: pytest.CaptureFixture[str]) -> None:
    bundle.write_bytes(bundle.read_bytes()[:keep])
    assert main(["bundle", "verify", str(bundle)]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and "is the file complete?" in err


def test_other_archives_are_one_line_and_code_2(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    everything = {name: text.encode() for name, text in files(bundle).items()}
    manifest = json.loads(everything["bundle.json"])
    bad = {
        "it holds no bundle.json": {"a.txt": b"x"},
        "made by a newer ReviewGauge": {**everything, "bundle.json": json.dumps({**manifest, "format": 9}).encode()},
        "is not valid JSON": {**everything, "bundle.json": b"{"},
        "field seed": {**everything, "bundle.json": json.dumps({**manifest, "seed": "x"}).encode()},
        "climbs out of its folder": {**everything, "../evil": b"x"},
    }
    for said_, content in bad.items():
        assert main(["bundle", "verify", str(write_zip(bundle.with_name("odd.zip"), content))]) == 2
        assert said_ in capsys.readouterr().err


@pytest.mark.parametrize("name", ["../../etc", "/etc", "a/b", ".."])
def test_names_in_the_manifest_lead_nowhere_else(bundle: Path, name: str) -> None:
    bad = tamper(bundle, "bundle.json", lambda text: text.replace('"name": "my-run"', f'"name": "{name}"'))
    with pytest.raises(UserError, match="field runs"):
        checked(bad)


def test_a_bundle_cannot_ask_for_endless_work(bundle: Path) -> None:
    bad = tamper(bundle, "bundle.json", lambda text: text.replace('"resamples": 200', '"resamples": 1000000000'))
    with pytest.raises(UserError, match="field resamples"):
        checked(bad)


# --- what cannot be packed -----------------------------------------------------------------------------------------


def test_runs_that_are_not_ready_are_refused(bench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = tmp_path / "run", tmp_path / "b.zip"
    assert main(["review", str(bench), "recorded", "-o", str(folder)]) == 0
    capsys.readouterr()
    assert main(["bundle", str(folder), "-o", str(out)]) == 2
    assert "was not scored yet" in capsys.readouterr().err
    assert main(["score", str(folder), "hits", "--resamples", "50"]) == 0
    lines = (folder / "scores.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "scores.jsonl").write_bytes(b"".join(lines[1:]))
    capsys.readouterr()
    assert main(["bundle", str(folder), "-o", str(out)]) == 2
    assert "was not measured with hits" in capsys.readouterr().err
    assert main(["bundle", str(folder), str(folder), "-o", str(out)]) == 2
    assert "named twice" in capsys.readouterr().err
    assert main(["bundle", str(folder), "-o", str(tmp_path)]) == 2
    assert main(["bundle", str(tmp_path), "-o", str(out)]) == 2
    assert "is not a run folder" in capsys.readouterr().err
    assert not out.exists()


def test_a_slice_that_does_not_exist_is_refused(run: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nothing to slice by is called 'colour'"):
        reviewgauge.bundle(run, out=tmp_path / "b.zip", slices=["size", "colour"], resamples=50)


def test_files_that_are_no_part_of_the_run_stay_out_and_are_named(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("report.html", "notes.txt"):
        (run / name).write_text("mine")
    try:
        assert main(["bundle", str(run), "-o", str(tmp_path / "b.zip"), "--resamples", "50"]) == 0
    finally:
        for name in ("report.html", "notes.txt"):
            (run / name).unlink()
    err = capsys.readouterr().err
    assert "my-run/report.html is left out: a page is made again" in err
    assert "my-run/notes.txt is left out: is not part of a run" in err
    assert "my-run holds the texts of 6 cases" in err
    assert not any("notes" in name for name in files(tmp_path / "b.zip"))


# --- metrics of one's own ------------------------------------------------------------------------------------------


def test_a_metric_that_would_ask_a_model_is_named_and_not_called(run: Path, tmp_path: Path) -> None:
    folder, out = tmp_path / "asked", tmp_path / "b.zip"
    assert main(["review", str(run.parent / "cases.jsonl"), "recorded", "-o", str(folder)]) == 0
    assert main(["score", str(folder), "bundle_toys.Remote", "--resamples", "50"]) == 0
    reviewgauge.bundle(folder, out=out, resamples=50)
    result = checked(out)
    assert result.ok and result.scores == 0
    assert result.not_measured == {"runs/asked: bundle_toys.Remote": "it would ask a model over the network"}
    name = next(name for name in files(out) if name.endswith("leaderboard.csv"))
    bad = tamper(out, name, lambda text: text.replace("1.5", "9.5"), fit_hashes=True)
    assert "it is 1.5" in said(bad), "its tables are held against its scores all the same"


def test_a_file_that_a_metric_was_given_travels_with_the_bundle(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("weights.json").write_text(json.dumps({"weight": 2.5}))
    assert main(["review", str(run.parent / "cases.jsonl"), "recorded", "-o", "run"]) == 0
    assert main(["score", "run", "bundle_toys.FromFile(file='weights.json')", "--resamples", "50"]) == 0
    assert main(["bundle", "make", "run", "-o", "b.zip", "--resamples", "50"]) == 2
    assert "weights.json, which would be published with the bundle" in capsys.readouterr().err
    assert not Path("b.zip").exists()
    reviewgauge.bundle("run", out="b.zip", resamples=50, include=["weights.json"])
    Path("weights.json").unlink()
    result = checked(Path("b.zip"))
    assert result.ok and result.scores == 12
    name = next(name for name in files(Path("b.zip")) if name.startswith("parameters/"))
    bad = tamper(Path("b.zip").resolve(), name, lambda text: text.replace("2.5", "3.5"), fit_hashes=True)
    assert "parts.value: the bundle says 2.5, it is 3.5" in said(bad)


def test_other_versions_are_said(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def older(text: str) -> str:
        manifest = json.loads(text)
        manifest["libraries"]["numpy"] = "1.0.0"
        return json.dumps(manifest)

    changed = tamper(bundle, "bundle.json", older)
    numpy = json.loads(files(bundle)["bundle.json"])["libraries"]["numpy"]
    changed = tamper(changed, "README.md", lambda text: text.replace(numpy, "1.0.0"), fit_hashes=True)
    assert main(["bundle", "verify", str(changed)]) == 0
    assert "made with numpy 1.0.0, installed is " in capsys.readouterr().err


def test_other_pins_are_said_where_the_numbers_are_the_same(bundle: Path) -> None:
    def older(text: str) -> str:
        return re.sub(r'("lexical weights":")[0-9a-f]+', r"\g<1>0123", text)

    result = checked(tamper(bundle, SCORES, older, fit_hashes=True))
    assert result.ok
    assert any("was measured with lexical weights 0123 and is " in text for text in result.notes)


@pytest.mark.slow
def test_a_score_of_zero_point_nothing_is_the_same_number(bundle: Path) -> None:
    def rounded(text: str) -> str:
        scores = [Score.model_validate_json(line) for line in text.splitlines()]
        moved = [
            s.model_copy(update={"parts": {k: v * (1 + 1e-13) for k, v in (s.parts or {}).items()}}) for s in scores
        ]
        return "".join(score.to_line().decode() for score in moved)

    assert said(tamper(bundle, SCORES, rounded)).startswith(f"{SCORES}, sha256"), "no number differs, the hash does"
    assert checked(tamper(bundle, SCORES, rounded, fit_hashes=True)).ok
