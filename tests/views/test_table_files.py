"""Tables as files: one command writes what `tables` of Python gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from fickle_changes import fickle_case
from reviewgauge.api.score import score
from reviewgauge.cli.main import main
from reviewgauge.core.document import Column, Table, Value
from reviewgauge.views.table_files import table_files

NAMED = Table(name="hits(judge='a b'): x", title="", columns=(Column(key="k"),), rows=((Value(value=0.25),),))


def test_further_tables_of_csv_stand_beside_the_first_and_the_others_in_one_file() -> None:
    found = table_files([NAMED.model_copy(update={"name": "first"}), NAMED], "out/a.csv", "a.tex", "a.md")
    assert list(found) == ["a.tex", "a.md", "out/a.csv", "out/a-hits-judge-a-b-x.csv"]
    assert "label{tab:hits-judge-a-b-x}" in found["a.tex"] and found["a.tex"].count("begin{table}") == 2
    assert "## hits(judge='a b'): x" in found["a.md"], "a table without a title has its name"
    assert found["out/a.csv"] == "k,k: unit,fake\n0.25,share,no\n"
    assert table_files([NAMED]) == {} == table_files([], "a.csv", "a.tex", "a.md")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bench.jsonl").write_bytes(b"".join(fickle_case(number, 4).to_line() for number in range(3)))
    attempts = ["--attempts", "2", "-o", "run"]
    assert main(["review", "bench.jsonl", "prompt(model='fake:fickle-30', scope='change')", "silent", *attempts]) == 0
    return "run"


def test_score_and_compare_write_their_tables(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    files = ["--csv", "a.csv", "--latex", "a.tex", "--markdown", "a.md"]
    assert main(["score", run, "hits", *files]) == 0
    assert "written: a.tex, a.md, a.csv, a-comparison.csv" in capsys.readouterr().err
    tables = score(run, "hits").tables
    assert Path("a.csv").read_text() == tables["leaderboard"].to_csv()
    assert Path("a-comparison.csv").read_text() == tables["comparison"].to_csv()
    assert Path("a.md").read_text() == "\n".join(one.to_markdown() for one in tables.values())
    assert Path("a.tex").read_text() == "\n".join(one.to_latex() for one in tables.values())
    assert main(["compare", run, "--csv", "b.csv", "--markdown", "b.md"]) == 0
    assert Path("b.csv").read_text().startswith("first - second,measure,first,")
    assert Path("b.md").read_text().startswith("## hits on bench.jsonl\n")
    assert (
        main(["compare", run, "--attempts", "all", "--system", "silent", "--resamples", "50", "--latex", "c.tex"]) == 0
    )
    assert "label{tab:attempts}" in Path("c.tex").read_text()
    assert main(["compare", run, run, "--rankings", "--csv", "d.csv"]) == 0
    assert Path("d.csv").is_file()
    assert main(["score", run, "--on", "bench.jsonl", "-o", "again", "--csv", "e.csv"]) == 0
    assert "old" in Path("e.csv").read_text().splitlines()[0]


def test_no_table_is_said_and_a_file_that_cannot_be_written_is_an_error(
    run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", run, "--dry-run", "--csv", "a.csv"]) == 0
    assert "no table to write" in capsys.readouterr().err and not Path("a.csv").exists()
    assert main(["score", run, "--csv", "bench.jsonl/a.csv"]) == 2
    assert "bench.jsonl" in capsys.readouterr().err
    assert main(["score", run, "--labels", "fake:rules", "--csv", "a.csv"]) == 2
    assert "--csv has no meaning with --labels" in capsys.readouterr().err
