"""`reviewgauge study` on the command line: estimate first, tables, exit codes; every shipped study can be read."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import pytest

from fickle_changes import fickle_case
from reviewgauge.analysis.study.material import metric_named
from reviewgauge.api.studies.plan import plan_study
from reviewgauge.api.study import find_study
from reviewgauge.cli.main import main
from reviewgauge.core.study import read_study
from reviewgauge.core.trust import FromFile
from reviewgauge.models.embeddings.embedder import DEFAULT
from small_studies import SMALL, write_bench

TEXT = f"""
title = "small"
metrics = ["hits"]
{SMALL}
[[reviewer]]
spec = "silent"
"""
SHIPPED = sorted(e.name.removesuffix(".toml") for e in (resources.files("reviewgauge") / "studies").iterdir())


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_bench(tmp_path, (fickle_case(number, 4) for number in range(3)))
    (tmp_path / "s.toml").write_text(TEXT)
    return tmp_path


def test_estimate_then_tables(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "s.toml", "-o", "out", "--dry-run"]) == 0
    said = capsys.readouterr()
    assert said.err.startswith("Estimate: 2 cells of 2 reviewers on 1 benchmark; 6 reviews to make")
    assert not said.out and not (here / "out").exists()
    assert main(["study", "s.toml", "-o", "out", "--resamples", "50"]) == 0
    shown = capsys.readouterr().out
    assert "parrot" in shown and "out/report.html: the page; 1 table in out/tables" in shown
    assert main(["study", "s.toml", "-o", "out", "--resamples", "50", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["report"]["tables"][0]["rows"][0][0]["text"] == "parrot" and found["estimate"]["reviews"] == 0


def test_the_price_of_a_fake_model_is_called_invented(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REVIEWGAUGE_CACHE", str(here / "cache"))
    Path("fake.toml").write_text(TEXT.replace("parrot", "prompt(model='fake:example')"))
    assert main(["study", "fake.toml", "-o", "fake", "--resamples", "50"]) == 0
    assert "calls paid, $0.02 (an invented price)" in capsys.readouterr().out.replace("\n", " ")


def test_a_failed_cell_is_exit_code_1_and_a_mistake_2(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "s.toml").write_text(TEXT.replace('spec = "silent"', 'spec = "bm25_knn"'))
    assert main(["study", "s.toml", "-o", "out", "--resamples", "50"]) == 1
    said = capsys.readouterr()
    assert "failed: " in said.out and "! small, bm25_knn: " in said.out
    assert main(["study", "s.toml", "-o", "out", "--from", "other=x"]) == 2
    assert "there is no benchmark 'other' (there is: small)" in capsys.readouterr().err
    assert main(["study", "s.toml", "-o", "bench.jsonl/x"]) == 2
    assert main(["study", "s.toml", "-o", "new", "--workers", "many"]) == 2 and not (here / "new").exists()
    assert "workers=many is neither a number of threads nor ray" in capsys.readouterr().err


@pytest.mark.parametrize(("old", "new", "said"), [
    ('spec = "parrot"', 'spec = "parot"', "s.toml, reviewer parot: no reviewer is called 'parot' (did"),
    ('["hits"]', '["hitz"]', "s.toml, metrics: no metric is called 'hitz'"),
    ('"bench.jsonl"', '"bench.jsonl"\nstages = ["frist"]', "s.toml, benchmark small: no stage is called 'frist'"),
    ('"bench.jsonl"', '"/etc/passwd"', "data = '/etc/passwd' is outside of its folder, which a file"),
    ('"bench.jsonl"', '"bench.jsonl"\nfrom = "/etc"', "from = '/etc' is outside of its folder"),
    ('"parrot"', "\"command(run=('ls',))\"", "a file may not decide (if you trust the file, add --trust)"),
    ('"parrot"', '"./run.sh"', "is a file or a program of this machine, which a file may not decide"),
])  # fmt: skip
def test_a_wrong_word_is_named_with_its_place(
    here: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, said: str
) -> None:
    (here / "s.toml").write_text(TEXT.replace(old, new, 1))
    assert main(["study", "s.toml", "-o", "out"]) == 2
    assert said in capsys.readouterr().err
    assert not (here / "out").exists()


@pytest.mark.parametrize("name", SHIPPED)
def test_every_plug_in_of_a_shipped_study_exists(name: str) -> None:
    source = find_study(name)
    assert source.shipped
    for variant in ("", *read_study(source.raw, source.name).on):
        described = read_study(source.raw, source.name, variant)
        plans = plan_study(described, Path("nowhere"), source.name, FromFile(source.name, None, frozenset({DEFAULT})))
        assert all(plan.entrants for plan in plans)
        words = [word for table in described.table for word in (table.metric, *table.metrics) if word]
        for word in words if not any(table.kind == "validity" for table in described.table) else ():
            assert any(metric_named(plan.wanted, word) for plan in plans), (variant, word)


@pytest.mark.drill
@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_study_runs_on_the_sample(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["study", name, "--on", "sample", "-o", "out", "--resamples", "50", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["report"]
    assert not found["troubles"] and len(found["tables"]) >= 3
    for table in found["tables"]:
        assert any(cell["value"] is not None for row in table["rows"] for cell in row), table["name"]
