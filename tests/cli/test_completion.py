"""What a shell suggests behind TAB, through click's own protocol."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest

from reviewgauge.cli.completion import ARGUMENTS, FLAGS, GROUPS, OPTIONS
from reviewgauge.cli.main import VERBS, main


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("runs/monday", "runs/tuesday", "deep/down/there/run", ".hidden/run", "too/deep/for/a/run"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "manifest.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def completed(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    monkeypatch.setenv("_REVIEWGAUGE_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    with pytest.raises(SystemExit):
        main([])
    return capsys.readouterr().out.split()


@pytest.mark.parametrize(("line", "found"), [
    ("reviewgauge re", "plain,review plain,report"),
    ("reviewgauge review mart", "plain,martian"),
    ("reviewgauge review ../cas", "file,../cas"),
    ("reviewgauge review sample silent pars", "file,pars"),
    ("reviewgauge review sample silent parr", "plain,parrot"),
    ("reviewgauge review --in-flight 4 --dry-run mart", "plain,martian"),
    ("reviewgauge score ", "plain,deep/down/there/run plain,runs/monday plain,runs/tuesday"),
    ("reviewgauge score --explain runs/monday pass", "plain,pass_at_k"),
    ("reviewgauge score runs/monday --expl", "plain,--explain"),
    ("reviewgauge compare runs/monday runs/t", "plain,runs/tuesday"),
    ("reviewgauge gate runs/tuesday --baseline runs/m", "plain,runs/monday"),
    ("reviewgauge report runs/monday -o pa", "file,pa"),
    ("reviewgauge build . --recipe inj", "plain,injected"),
    ("reviewgauge info inj", "plain,injected"),
    ("reviewgauge list rec", "plain,recipes"),
    ("reviewgauge cache cl", "plain,clear"),
])  # fmt: skip
def test_a_word_is_completed_to_what_may_stand_there(
    line: str, found: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sorted(completed(line, monkeypatch, capsys)) == sorted(found.split())


def test_a_value_needs_no_library() -> None:
    program = (
        "import sys, atexit; from reviewgauge.cli.main import main\n"
        "heavy = {'numpy', 'scipy', 'pydantic', 'rich', 'jinja2', 'reviewgauge.cli.score'}\n"
        "atexit.register(lambda: print(heavy & set(sys.modules)))\n"
        "main([])"
    )
    asked = {
        "_REVIEWGAUGE_COMPLETE": "bash_complete",
        "COMP_WORDS": "reviewgauge score runs/monday h",
        "COMP_CWORD": "3",
    }
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True, env={**os.environ, **asked}
    )
    assert done.stdout == "plain,hits\nset()\n" and done.stderr == ""


def test_the_tables_name_what_the_verbs_have() -> None:
    commands = [import_module(f"reviewgauge.cli.{verb}").command for verb in VERBS if verb not in GROUPS]
    options = [one for command in commands for one in command.params if isinstance(one, click.Option)]
    flags = {name for one in options if one.is_flag for name in (*one.opts, *one.secondary_opts)}
    assert flags <= FLAGS
    assert not {name for one in options if not one.is_flag for name in one.opts} & FLAGS
    assert OPTIONS.keys() <= {name for one in options for name in one.opts}
    assert ARGUMENTS.keys() <= {*VERBS, "view"}


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_a_script(
    shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_REVIEWGAUGE_COMPLETE", f"{shell}_source")
    with pytest.raises(SystemExit):
        main([])
    assert f"_REVIEWGAUGE_COMPLETE={shell}_complete" in capsys.readouterr().out
