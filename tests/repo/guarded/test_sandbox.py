from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from git_project import make_change
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Change
from reviewgauge.repo.guarded.sandbox import check_sandbox, needed
from reviewgauge.reviewers.command import Command

pytestmark = pytest.mark.processes


@pytest.fixture
def change(tmp_path: Path) -> Change:
    return make_change(tmp_path / "project", {"m.py": "one\n"}, {"m.py": "TWO\n"}, "acme/shop/pull/1")


@pytest.fixture
def bwrap() -> None:
    try:
        check_sandbox()
    except UserError as error:
        pytest.skip(str(error))


def told(change: Change, text: str, sandbox: str = "bwrap", **more: object) -> str:
    """What a shell command prints to its errors."""
    text = f"{{ {text}; }} >&2; echo '- m.py:1 done'"
    command = Command(run=("sh", "-c", text), sandbox=sandbox, **more)  # type: ignore[arg-type]
    command.prepare([change])
    return (command.review(change).trace or "").partition("--- stderr, its end ---\n")[2]


@pytest.mark.usefixtures("bwrap")
def test_what_is_kept_out(change: Change, tmp_path: Path) -> None:
    (tmp_path / "answers").write_text("hunter2")
    hidden = {str(path) for path in (Path.home(), tmp_path, "/root", "/home", "/var", "/etc/shadow", "/run")}
    out = told(change, f"cat {tmp_path}/answers; ls -d {' '.join(hidden)}; ls /proc | grep -c '^[0-9]'")
    assert "hunter2" not in out
    assert out.count("No such file") == 1 + len(hidden)
    assert int(out.splitlines()[-1]) <= 6
    assert "inet " not in told(change, "cat /proc/net/route | tail -n +2; cat /proc/net/tcp | tail -n +2")
    assert told(change, "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '") == "lo"


@pytest.mark.usefixtures("bwrap")
def test_what_is_there_and_what_can_be_written(change: Change, tmp_path: Path) -> None:
    writes = "for f in m.py new .git/config /usr/x /etc/x /x; do echo no > $f && echo wrote $f; done"
    out = told(change, f"cat m.py; git log -1 --format=%s; {writes}")
    assert out.splitlines()[0] == "TWO"
    assert "wrote" not in out
    writable = "for f in $HOME/x $TMPDIR/x /tmp/x $REVIEWGAUGE_OUTPUT; do echo yes > $f && echo wrote $f; done"
    assert told(change, writable).count("wrote ") == 4
    assert "+TWO" in told(change, 'cat "$REVIEWGAUGE_DIFF"; git diff "$REVIEWGAUGE_BASE"')
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "settings").write_text("strict")
    assert told(change, "cat $HOME/settings", home=str(tmp_path / "home")) == "strict"
    assert told(change, "ls -A; echo [$REVIEWGAUGE_BASE]", checkout="none") == "[]"


@pytest.mark.usefixtures("bwrap")
def test_the_program_its_script_and_what_the_user_shows_are_there(
    change: Change, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    (here / "real").write_text("#!/bin/sh\ncat $1\n")
    (here / "real").chmod(0o755)
    (here / "review").symlink_to("real")
    (here / "rules").mkdir()
    (here / "rules" / "one").write_text("- m.py:1 a rule\n")
    (here / "other").write_text("- m.py:1 other\n")
    for visible, expected in (((), False), (("rules",), True), ((str(here / "rules"),), True)):
        run = ("./review", str(here / "rules" / "one"))
        command = Command(run=run, sandbox="bwrap", visible=visible, accept=(0, 1), empty="silent")
        command.prepare([change])
        assert bool(command.review(change).comments) is expected
    named = Command(run=("sh", "{here}/real", "{here}/other"), sandbox="bwrap")
    assert len(named.review(change).comments) == 1
    assert needed([here / "review", Path("/usr/bin/env")]) == [here / "review", here / "real"]


@pytest.mark.usefixtures("bwrap")
def test_the_network_is_left_where_that_is_asked_for(change: Change) -> None:
    ours = sorted(entry.name for entry in Path("/sys/class/net").iterdir())
    text = "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ' | sort"
    assert told(change, text, "bwrap+network").split() == [name for name in ours if name != "bonding_masters"]


@pytest.mark.usefixtures("bwrap")
def test_parameters_that_cannot_work_in_it(change: Change) -> None:
    with pytest.raises(UserError, match="the checkout is read-only in the sandbox"):
        Command(run="true", sandbox="bwrap", output="r.md").prepare([change])
    with pytest.raises(UserError, match="does not exist"):
        Command(run="true", sandbox="bwrap", visible=("/no/such",)).prepare([change])


def test_a_sandbox_that_cannot_be_made_is_an_error(
    change: Change, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match="visible= is for a sandbox"):
        Command(run="true", visible=("/usr",)).prepare([change])
    true = shutil.which("true") or ""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f".:{tmp_path / 'bin'}")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bwrap").write_text("#!/bin/sh\nexit 0")
    (tmp_path / "bwrap").chmod(0o755)
    with pytest.raises(UserError, match=r"bubblewrap, which is not installed.*apt install bubblewrap"):
        Command(run=true, sandbox="bwrap").prepare([change])
    (tmp_path / "bin" / "bwrap").write_text(
        "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1"
    )
    (tmp_path / "bin" / "bwrap").chmod(0o755)
    with pytest.raises(UserError, match="cannot make a sandbox here: bwrap: No permissions to create"):
        Command(run=true, sandbox="bwrap").prepare([change])
