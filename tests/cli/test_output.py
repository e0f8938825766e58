"""What comes from data cannot steer the terminal, nor break what is printed."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from reviewgauge.cli.output import emit, harmless, note, progress_bar
from reviewgauge.core.base import Record
from reviewgauge.core.records import Case, Change, Comment

HOSTILE = "evil\x1b[31mred\x1b]0;title\x07\x9b1m\u202e"


class Nothing(Record):
    """A result without fields."""


def test_escapes_and_controls_are_taken_out_and_line_breaks_stay() -> None:
    assert harmless("a\nb") == "a\nb"
    assert not set(harmless(HOSTILE)) & set("\x1b\x07\x9b\u202e")


def test_neither_a_note_nor_a_printed_result_passes_an_escape_on(capsys: pytest.CaptureFixture[str]) -> None:
    note(f"note: {HOSTILE}\nsecond")
    emit(Nothing(), as_json=False, show=lambda: HOSTILE)
    out, err = capsys.readouterr()
    assert "evil" in out and "evil" in err
    assert not set(out + err) & set("\x1b\x07\x9b\u202e")
    assert err.count("\n") == 1


def test_a_name_in_brackets_is_no_markup_of_the_progress_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich then draws the bar, as on a terminal
    with progress_bar("[/bold]") as progress:
        progress(1, 2, "acme[/red]#1")


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminal")
@pytest.mark.slow
def test_a_case_in_brackets_is_reviewed_on_a_real_terminal(tmp_path: Path) -> None:
    case = Case(id="acme[/red]#1", change=Change(repo="r"), references=(Comment(id="g", body="never closed"),))
    (tmp_path / "cases.jsonl").write_bytes(case.to_line())
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "reviewgauge", "review", "cases.jsonl", "silent", "-o", "run"]
    done = subprocess.run(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=theirs, check=False)
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 0
