"""What runs by scripts/as-a-stranger finds nothing that this machine has gathered, and leaves nothing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "scripts" / "as-a-stranger"


def test_homes_are_new_and_removed_and_settings_are_left_behind(tmp_path: Path) -> None:
    mine = {"TMPDIR": str(tmp_path), "HOME": "/mine", "XDG_CACHE_HOME": "/mine", "GIT_AUTHOR_NAME": "Me"}
    words = [str(SCRIPT), "sh", "-c", "env; mkdir $TMPDIR/made; chmod 0 $TMPDIR/made; exit 3"]
    done = subprocess.run(words, env=os.environ | mine, capture_output=True, text=True, check=False)
    seen = dict(line.partition("=")[::2] for line in done.stdout.splitlines())
    assert done.returncode == 3
    assert all(seen[name].startswith(f"{tmp_path}/") for name in ("HOME", "TMPDIR", "REVIEWGAUGE_CACHE"))
    assert not {"XDG_CACHE_HOME", "GIT_AUTHOR_NAME"} & set(seen)
    assert not list(tmp_path.iterdir())
