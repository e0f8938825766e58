"""`reviewgauge validate --sweep` on the command line: a table, a page, JSON, and errors in one line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import tiny_models
from judged_toys import study, write_study
from reviewgauge.cli.main import main

FAST = ["--sweep", "--resamples", "20"]


def crscore(model: str) -> str:
    return f"crscore(model={model!r}, claims='references')"


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    write_study(tmp_path / "mine", study(24))
    monkeypatch.chdir(tmp_path)
    return "mine"


@pytest.mark.usefixtures("hundred_columns")
def test_the_table_names_the_metric_to_use_beside_the_papers_figures(
    mine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", mine, crscore("words"), crscore("chars"), *FAST]) == 0
    shown = capsys.readouterr().out
    assert max(len(line) for line in shown.splitlines() if not line.startswith("$ ")) <= 100
    assert re.search(r"^words +\.\d{3} \[\.\d{3},\.\d{3}\]", shown, re.MULTILINE)
    assert re.search(r"^paper \(mxbai\) +\.731 +\.543 +\.454 to \.551 +\.65", shown, re.MULTILINE)
    assert re.search(
        r"^\$ reviewgauge score RUN \"crscore\(model='chars', soft=False, threshold=0\.\d+, threshold_of='chars'",
        shown,
        re.MULTILINE,
    )
    said = " ".join(shown.split())
    assert "24 sentences" in said and "24 reviews of best (people's highest mean of grade" in said


def test_the_papers_figures_stand_beside_ours_where_the_model_is_its_own(
    mine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = str(tiny_models.write_model(tmp_path / "mxbai-embed-large-v1"))  # by its name alone
    assert main(["validate", mine, crscore(model), *FAST, "-o", "page"]) == 0
    page = Path("page/report.html").read_text(encoding="utf-8")
    line = page[page.index(">0.7314<") :].partition("</tr>")[0]
    assert line.count('class="num"') == 2 and line.index("paper .457") < line.index("paper .543")
    shown = capsys.readouterr().out
    assert re.search(r"threshold=[\d.]+, threshold_of='[0-9a-f]{16}'", shown), "a folder may move"
    assert "another embedder" not in shown


def test_json_has_each_point_and_a_run_is_read_too(mine: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", mine, "exact_match", "-o", "run", "--no-report", "--resamples", "20"]) == 0
    capsys.readouterr()
    found = []
    for data in (mine, "run"):
        assert main(["validate", data, crscore("words"), *FAST, "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out)["sweep"])
    assert found[0]["fits"] == found[1]["fits"]
    (fit,) = found[0]["fits"]
    assert fit["threshold"]["n"] == 24 and fit["points"][0]["spearman"]["n"] == 96
    assert found[0]["dimension"] == "grade"


@pytest.mark.parametrize(("words", "said"), [
    (("mine", "nobody"), "no embedding model is called 'nobody'"),
    (("mine", "words", "--system", "nobody"), "no review is by 'nobody'"),
    (("mine", "words", "--dimension", "depth"), "nobody judged 'depth'"),
    (("nodata", "words"), "no dataset is called 'nodata'"),
    (("mine", "words", "--resamples", "0"), "resamples must be positive"),
])  # fmt: skip
def test_errors_are_one_line(mine: str, words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert mine == "mine" and main(["validate", words[0], crscore(words[1]), *FAST, *words[2:]]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
