"""What a program that is not ours gets of this machine: a home of its own, and only the variables that are named."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from reviewgauge.core.errors import UserError
from reviewgauge.core.files import search_path

_FIXED = {
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
}
_HOMES = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_CACHE_HOME": ".cache",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
}


def clean_environment(top: Path, variables: Sequence[str]) -> Mapping[str, str]:
    """The whole environment of a program: its home and temporary folder lie in `top`, `variables` are passed on."""
    home, temporary = top / "home", top / "tmp"
    for folder in (home, temporary):
        folder.mkdir(exist_ok=True)
    homes = {"HOME": str(home)} | {name: str(home / part) for name, part in _HOMES.items()}
    homes |= dict.fromkeys(("TMPDIR", "TMP", "TEMP", "XDG_RUNTIME_DIR"), str(temporary))
    return _FIXED | homes | passed_on(variables)


def passed_on(variables: Sequence[str]) -> dict[str, str]:
    """The named variables that are set. Of PATH, only absolute folders: others would lie in the code under review."""
    found = {name: os.environ[name] for name in variables if name in os.environ}
    return found | ({"PATH": search_path()} if "PATH" in found else {})


def find_program(word: str, variables: Sequence[str]) -> str:
    """The absolute path of the program, never one in the code under review; empty where there is none."""
    named = word.replace("{here}", str(Path.cwd()))
    search = search_path() if "PATH" in variables else os.defpath
    found = shutil.which(os.path.expanduser(named), path=search) if named else None  # noqa: PTH111 - keeps "./"
    return str(Path(found).absolute()) if found else ""


def no_program(word: str) -> UserError:
    """The error for a program that `find_program` does not find."""
    found = Path(word.replace("{here}", str(Path.cwd()))).expanduser()
    if found.is_file():
        if os.access(found, os.X_OK):
            return UserError(f"no program on PATH is called {word}", remedy=f"write ./{word} for the one that is here")
        return UserError(f"the program {word} is not executable", remedy=f"chmod +x {word}")
    return UserError(f"the program {word} does not exist", remedy="give its path")
