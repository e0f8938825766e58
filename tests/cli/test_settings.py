"""What one always says stands in a file: flags override it, and it may decide on nothing that reaches further."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reviewgauge.cli.main import main
from reviewgauge.core.records import Case, Change, Comment


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    case = Case(id="one", change=Change(repo="r"), references=(Comment(id="g", body="never closed"),))
    (tmp_path / "cases.jsonl").write_bytes(case.to_line())
    assert main(["review", "cases.jsonl", "silent", "-o", "run"]) == 0
    return tmp_path


@pytest.mark.parametrize(
    ("file", "head"), [("reviewgauge.toml", ""), ("pyproject.toml", "[project]\nname = 'x'\n[tool.reviewgauge]\n")]
)
def test_settings_are_defaults_that_flags_override(
    folder: Path, file: str, head: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / file).write_text(head + "seed = 7\nmetrics = ['chrf']\nbudget = 2.5\n")
    capsys.readouterr()
    assert main(["score", "run", "--json"]) == 0
    (board,) = json.loads(capsys.readouterr().out)["leaderboards"]
    assert (board["label"], board["seed"]) == ("chrf", 7)
    assert main(["score", "run", "hits", "--seed", "3", "--json"]) == 0
    (board,) = json.loads(capsys.readouterr().out)["leaderboards"]
    assert (board["label"], board["seed"]) == ("hits", 3)
    assert main(["info"]) == 0
    shown = capsys.readouterr().out
    assert f"settings of {file}" in shown and "budget = 2.5" in shown
    assert main(["compare", "run", "--attempts", "all"]) == 2, "a default is not an option that was given"
    assert "--budget" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("sede = 1", "does not know the setting 'sede' (there are: model, metrics, budget,"),
        ("seed = -1", "field seed"),
        ("budget = 'much'", "field budget"),
        ("seed = ", "is not valid TOML"),
        ("prices = '/etc/hosts'", "is outside of its folder, which a file may not decide"),
        ("model = 'openai:gpt-5@http://elsewhere/v1'", "is an address on the network"),
        ("metrics = ['mine.Metric']", "mine"),
        ("metrics = ['combined(file=\"../weights.json\")']", "outside of its folder"),
    ],
)
def test_what_a_file_may_not_say_is_one_line(
    folder: Path, text: str, error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "reviewgauge.toml").write_text(text)
    assert main(["score", "run"]) == 2
    shown = capsys.readouterr().err
    assert "reviewgauge.toml" in shown and error in shown
    assert main(["score", "--help"]) == 0, "help is there even so"
