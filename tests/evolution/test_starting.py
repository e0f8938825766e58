"""The process that proposes tries to read what it must not: the benchmark, the folder of the search, the network."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.evolution.starting import check_gepa, sandbox_problem, started

PROBE = """
import builtins, json, os, socket, subprocess, sys
answers, questions = sys.stdin, sys.stdout
job = json.loads(answers.readline())
if job["confined"]:
    confine(job["standard"], job["packages"])
tries = {
    "read": lambda: open(job["secret"]).read(),
    "low": lambda: os.open(job["secret"], os.O_RDONLY),
    "list": lambda: os.listdir(os.path.dirname(job["secret"])),
    "program": lambda: subprocess.run(["cat", job["secret"]], check=True, capture_output=True),
    "fork": lambda: os.fork() or os._exit(0),
    "network": lambda: socket.create_connection(("127.0.0.1", job["port"]), timeout=2),
    "environment": lambda: os.environ["A_KEY"],
}
if job["confined"]:  # alone they would write into Python's own folder
    tries |= {
        "link": lambda: os.link(job["secret"], os.path.join(job["standard"][0], "reviewgauge-probe")),
        "cache": lambda: __import__("sqlite3").connect("file:" + job["secret"] + "?mode=ro", uri=True).close(),
        "native": lambda: __import__("readline").read_history_file(job["secret"]),
        "parent": lambda: open(f"/proc/{os.getppid()}/environ").read(),
        "write": lambda: open(os.path.join(job["standard"][0], "reviewgauge-probe"), "w").close(),
    }
found = {}
for name, attempt in tries.items():
    try:
        attempt()
        found[name] = "done"
    except (OSError, KeyError, subprocess.SubprocessError) as error:
        found[name] = type(error).__name__
questions.write(json.dumps({"ask": "probe", **found}) + "\\n")
questions.write(json.dumps({"ask": "end"}) + "\\n")
questions.flush()
"""


def _probe(tmp_path: Path, *, confined: bool, sandbox: bool) -> dict[str, str]:
    secret = tmp_path / "held-out.jsonl"
    secret.write_text("the answers")
    child = resources.files("reviewgauge.evolution").joinpath("child.py").read_text().partition("\nif __name__")[0]
    job = {"optimizer": "random", "secret": str(secret), "port": 9, "confined": confined}
    with started(job, tmp_path / "log", sandbox=sandbox, source=child + PROBE) as process:
        (found,) = list(process.questions())
    return {name: value for name, value in found.items() if name != "ask"}


@pytest.mark.processes
def test_the_hook_alone_refuses_files_programs_and_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "secret")
    found = _probe(tmp_path, confined=True, sandbox=False)
    assert found.pop("environment") == "KeyError"
    assert set(found.values()) == {"PermissionError"}


@pytest.mark.processes
@pytest.mark.skipif(bool(sandbox_problem()), reason="no bubblewrap here")
def test_the_sandbox_alone_has_no_such_file_and_no_network(tmp_path: Path) -> None:
    found = _probe(tmp_path, confined=False, sandbox=True)
    assert (found["read"], found["low"], found["list"]) == ("FileNotFoundError",) * 3
    assert found["program"] == "CalledProcessError"  # cat runs, and finds nothing
    assert found["network"] in ("ConnectionRefusedError", "OSError")  # its own loopback, where nothing listens


@pytest.mark.processes
def test_without_either_the_probe_reads_it(tmp_path: Path) -> None:
    """The probe can do what the other tests see refused."""
    assert _probe(tmp_path, confined=False, sandbox=False)["read"] == "done"


def test_a_gepa_that_is_a_link_is_found_where_it_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real" / "gepa").mkdir(parents=True)
    (tmp_path / "real" / "gepa" / "__init__.py").touch()
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "gepa").symlink_to(tmp_path / "real" / "gepa")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert check_gepa() == tmp_path.resolve() / "real" / "gepa"


@pytest.mark.processes
def test_a_process_that_ends_early_is_named(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with (
        pytest.raises(UserError, match=r"ended early: .*no such luck"),
        started({"optimizer": "random"}, log, sandbox=False, source="raise SystemExit('no such luck')") as process,
    ):
        json.dumps(list(process.questions()))
