"""`review RUN --edit SYSTEM`: new words, a new name, only what changed is asked, the difference shown."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import reviewgauge
from reviewgauge.cli.main import main
from reviewgauge.engine.run.folder import RunFolder

pytestmark = pytest.mark.usefixtures("own_cache")
OWN = """
from dataclasses import dataclass
from typing import ClassVar

from reviewgauge.core.protocols import Measured, Metric


@dataclass(frozen=True)
class Words(Metric):
    headline: ClassVar[str] = "words"

    def parts(self, case, review):
        return Measured(parts={"words": float(len(review.comments))})
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    Path("prompt.txt").write_text("Look only for defects.\n")
    Path("new.txt").write_text("Look for anything at all.\n")
    mine = 'prompt(model="fake:example", template="prompt.txt", name="mine")'
    reviewgauge.review("sample", "recorded", mine, run="run", limit=3)
    reviewgauge.score("run", "hits", resamples=50)
    return Path("run")


@pytest.mark.parametrize("way", ["editor", "file"])
def test_new_words_get_a_new_name_and_are_compared(
    run: Path, way: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EDITOR", "sed -i s/only/first/")
    given = [] if way == "editor" else ["--template", "new.txt"]
    assert main(["review", str(run), "--edit", "mine", *given, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    file = "mine-2.txt" if way == "editor" else "new.txt"
    assert (found["system"], found["before"], found["template"]) == ("mine-2", "mine", file)
    assert [(c["first"], c["second"]) for c in found["comparisons"][0]["comparisons"]] == [("mine-2", "mine")]
    assert "first" in Path("mine-2.txt").read_text() if way == "editor" else not Path("mine-2.txt").exists()
    assert list(RunFolder.open(run).manifest.systems)[-1] == "mine-2"
    assert main(["review", str(run), "--edit", "mine", "--template", file]) == 0  # goes on, and makes no third
    assert "mine-3" not in RunFolder.open(run).manifest.systems
    assert "mine-2 - mine" in capsys.readouterr().out


@pytest.mark.parametrize(("arguments", "editor", "said"), [
    (["--edit", "mine"], "", "EDITOR is not set"),
    (["--edit", "mine"], "true", "the words of mine are unchanged"),
    (["--edit", "mine"], "false", "the editor failed"),
    (["--edit", "mine", "--template", "prompt.txt"], "", "they are unchanged"),
    (["--edit", "blind-reader"], "true", "whose words cannot be edited"),
    (["--edit", "other"], "true", "holds no system 'other'"),
    (["--edit", "mine", "-o", "x"], "true", "--run has no meaning with --edit"),
    (["--edit", "mine", "--dry-run"], "true", "cannot be combined"),
    (["silent", "--template", "new.txt", "-o", "x"], "true", "--template has no meaning without --edit"),
    (["silent"], "true", "-o"),
])  # fmt: skip
def test_bad_input_is_named(
    run: Path,
    arguments: list[str],
    editor: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("EDITOR", editor)
    assert main(["review", str(run), *arguments]) == 2
    assert said in capsys.readouterr().err
    assert "mine-2" not in RunFolder.open(run).manifest.systems


def test_a_metric_of_ones_own_is_asked_for_before_the_editor_opens(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("own_words.py").write_text(OWN)
    assert main(["score", str(run), "own_words.Words", "--resamples", "50"]) == 0
    monkeypatch.delitem(sys.modules, "own_words")
    monkeypatch.setenv("EDITOR", "sed -i s/only/first/")
    assert main(["review", str(run), "--edit", "mine"]) == 2
    assert "--plugin" in capsys.readouterr().err and not Path("mine-2.txt").exists()
    assert main(["review", str(run), "--edit", "mine", "--plugin", "own_words.Words"]) == 0
    assert "words" in capsys.readouterr().out
    monkeypatch.delitem(sys.modules, "own_words")
    assert main(["review", "sample", "silent", "-o", "x", "--plugin", "own_words"]) == 2
    assert "--metric has no meaning without --edit" in capsys.readouterr().err
