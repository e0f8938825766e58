from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.repo.git.folders import remove_tree, scratch_folder

DEPTH = 1100  # folders in each other: their path is longer than any path may be, and deeper than a call may be


def dig(folder: Path) -> None:
    """A very deep tree below `folder`, made as a program makes it: step by step."""
    back = os.open(".", os.O_RDONLY)
    os.chdir(folder)
    try:
        for _ in range(DEPTH):
            os.mkdir("a-folder")  # noqa: PTH102 - no path leads there
            os.chdir("a-folder")
        Path("file").write_text("x")
    finally:
        os.fchdir(back)
        os.close(back)


def mode(folder: Path) -> int:
    return stat.S_IMODE(folder.stat().st_mode)


@pytest.mark.slow
def test_it_is_gone_with_what_was_locked_deep_or_elsewhere(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "kept").write_text("x")
    mine.chmod(0o755)
    with scratch_folder(tmp_path) as top:
        assert mode(top) == 0o700
        dig(top)
        (top / "locked" / "in").mkdir(parents=True)
        (top / "locked" / "in" / "file").write_text("x")
        (top / "away").symlink_to(mine)
        (top / "nowhere").symlink_to(top / "none")
        os.mkfifo(top / "pipe")
        (top / "locked" / "in").chmod(0)
        (top / "locked").chmod(0)
        top.chmod(0)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    assert (mine / "kept").read_text() == "x" and mode(mine) == 0o755


@pytest.mark.parametrize("how", ["removed", "moved", "a link", "a file"])
def test_what_lies_beside_it_stays_as_it_is(tmp_path: Path, how: str) -> None:
    """A program that removes its own folder must not make us touch the folder of everybody's temporary files."""
    within = tmp_path / "tmp"
    within.mkdir()
    (within / "of others").mkdir()
    within.chmod(0o1777)
    with scratch_folder(within) as top:
        if how == "moved":
            top.rename(within / "elsewhere")
        else:
            top.rmdir()
        if how == "a link":
            top.symlink_to(within / "of others")
        if how == "a file":
            top.write_text("x")
    assert mode(within) == 0o1777 and (within / "of others").is_dir()


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot make a folder"), scratch_folder(tmp_path / "none"):
        pass
    remove_tree(tmp_path / "none")


HELD = """
import sys, time
from pathlib import Path
from reviewgauge.repo.git.folders import scratch_folder
with scratch_folder(Path(sys.argv[1])) as top:
    (top / "code").write_text("of somebody")
    print(top, flush=True)
    time.sleep(100)
"""


def test_what_a_killed_process_left_is_removed_by_the_next_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "reviewgauge-of-mine").mkdir()
    words = [sys.executable, "-c", HELD, str(tmp_path)]
    with (
        subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as killed,
        subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as alive,
    ):
        assert killed.stdout is not None and alive.stdout is not None
        left, held = Path(killed.stdout.readline().strip()), Path(alive.stdout.readline().strip())
        killed.kill()
        killed.wait()
        assert (left / "code").exists(), "nobody could remove it"
        code = f"{HELD.partition('with')[0]}\nwith scratch_folder(Path(sys.argv[1])): pass"
        subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
        assert not left.exists() and (held / "code").exists() and (tmp_path / "reviewgauge-of-mine").exists()
        alive.kill()
