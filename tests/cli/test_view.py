"""`reviewgauge view`, as a user types it."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from reviewgauge.cli import view as verb
from reviewgauge.cli.main import main
from viewed_runs import finds, nothing, write_run


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a run below it."""
    write_run(tmp_path / "runs/one", {"finder": finds, "silent": nothing})
    monkeypatch.chdir(tmp_path)
    return tmp_path / "runs"


def said(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> str:
    assert main(["view", *map(str, arguments)]) == code
    done = capsys.readouterr()
    return done.err if code else done.out


def test_a_folder_for_sharing(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "--export", "out", "--resamples", 20)
    pages = len(list(Path("out").rglob("*.html")))
    assert text == f"{pages} pages of 1 run: open out/index.html\n"
    shown = json.loads(said(capsys, "runs/one", "--export", "again", "--resamples", 20, "--json"))
    assert shown == {"schema_version": 1, "path": "again", "pages": pages, "runs": 1}


@pytest.mark.parametrize(("arguments", "words"), [
    (("--export", "runs"), "runs is there already (name a new folder)"),
    (("empty", "--export", "out"), "found no runs here"),
    (("nothing", "--export", "out"), "nothing"),
    (("runs/one/manifest.json",), "manifest.json"),
    (("--port", "99999"), "99999"),
    (("--resamples", "-1", "--export", "out"), "-1"),
], ids=str)  # fmt: skip
def test_what_cannot_be_shown(
    runs: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    Path("empty").mkdir()
    assert words in said(capsys, *arguments, code=2)
    assert not Path("out").exists()


def test_without_the_extra(runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verb, "find_spec", lambda name: None)
    assert "reviewgauge[view]" in said(capsys, "--export", "out", code=2)
    assert not Path("out").exists()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_page_until_it_is_ended(runs: Path, how: signal.Signals) -> None:
    command = [sys.executable, "-m", "reviewgauge", "view", "runs"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        opened, _, link = process.stdout.readline().strip().partition(" ")
        assert opened == "open" and link.startswith("http://127.0.0.1:")
        found = urlsplit(link)
        connection = http.client.HTTPConnection(found.netloc)
        connection.request("GET", found.path)
        assert connection.getresponse().status == 303
        connection.close()
        process.send_signal(how)
        assert "Traceback" not in process.stderr.read()
    assert process.returncode in (0, 130)
