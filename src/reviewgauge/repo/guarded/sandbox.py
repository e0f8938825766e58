"""What a program that is not ours gets of this machine, held by bubblewrap: https://github.com/containers/bubblewrap.

`held` gives it a PID namespace of its own, and nothing else. In a sandbox (`sandboxed`) what it sees is built from
nothing: the system's own folders, the checkout and the named files to read, the folders of this one review to write, a
/proc, /dev and /tmp of its own. The rest of the disk, your home and every other process are not there, and with
`network=False` no network either. It gains no rights that the user has not. In any case it has a home of its own, and
only the environment variables that are named.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from reviewgauge.core.errors import UserError, one_line
from reviewgauge.core.files import search_path
from reviewgauge.core.trust import Use

Sandbox = Annotated[Literal["auto", "off", "bwrap", "bwrap+network"], Use.PROGRAM]
_SYSTEM = "/usr /bin /sbin /lib /lib32 /lib64 /libx32 /nix/store /gnu/store"
_SETTINGS = (  # of /etc, which may hold more than a program needs
    "alternatives ca-certificates fonts group java ld.so.cache ld.so.conf ld.so.conf.d localtime mime.types"
    " nsswitch.conf passwd pki/tls/certs pki/ca-trust/extracted protocols services ssl/certs ssl/openssl.cnf timezone"
)
_NAMES = "gai.conf host.conf hosts resolv.conf"  # of /etc, for the network
_SECONDS = 20.0  # for the check that it works


@dataclass(frozen=True)
class SandboxView:
    """What a program in a sandbox sees beside the system: files and folders, at the same paths, and the network."""

    readable: Iterable[Path] = ()
    writable: Iterable[Path] = ()
    network: bool = False


def sandboxed(argv: Sequence[str], view: SandboxView, folder: Path) -> list[str]:
    """`argv` run by bubblewrap in `folder` with this view."""
    options = ["--unshare-all", *(["--share-net"] if view.network else []), "--new-session", "--cap-drop", "ALL"]
    options += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
    options += _system(view.network)
    for path in view.writable:
        options += ["--bind", str(path), str(path)]
    for path in view.readable:
        options += ["--ro-bind", str(path), str(path)]
    return _bubblewrap([*options, "--remount-ro", "/"], argv, folder)


def held(argv: Sequence[str], folder: Path) -> list[str]:
    """`argv` run by bubblewrap in a PID namespace: it sees and reaches no other process, and ends with the first."""
    return _bubblewrap(["--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc"], argv, folder)


def _bubblewrap(options: Sequence[str], argv: Sequence[str], folder: Path) -> list[str]:
    return [_program() or "bwrap", "--die-with-parent", *options, "--chdir", str(folder), "--", *argv]


def needed(files: Iterable[Path]) -> list[Path]:
    """Those of `files`, and of what they are links to, that are not in one of the system's own folders."""
    found = dict.fromkeys(place for file in files for place in (file.absolute(), file.resolve()))
    return [file for file in found if not any(file.is_relative_to(folder) for folder in _SYSTEM.split())]


def _system(network: bool) -> Iterator[str]:
    """The options for the system's own folders: links stay links, as /bin is one to /usr/bin on most systems."""
    settings = [f"/etc/{name}" for name in (_SETTINGS + " " + _NAMES * network).split()]
    for name in (*_SYSTEM.split(), *settings):
        path = Path(name)
        if path.is_symlink() and name in _SYSTEM.split():
            yield from ("--symlink", str(path.readlink()), name)
        elif path.exists():
            yield from ("--ro-bind", name, name)


def _program() -> str | None:
    """The program, never one in the folder where it runs, which is the code under review."""
    return shutil.which("bwrap", path=search_path())


@cache
def can_hold() -> bool:
    """Whether bubblewrap is here and may make PID namespaces."""
    return _program() is not None and not _problem(held(["true"], Path("/")))


def check_sandbox() -> None:
    """Raise UserError where bubblewrap is not installed, or this machine lets it make no namespaces."""
    if not _program():
        raise UserError(
            "the sandbox needs bubblewrap, which is not installed",
            remedy="install bubblewrap (apt install bubblewrap), or leave sandbox= out",
        )
    if problem := _problem(sandboxed(["true"], SandboxView(), Path("/"))):
        raise UserError(
            f"bubblewrap cannot make a sandbox here: {problem}",
            remedy="allow user namespaces on this machine, or leave sandbox= out",
        )


def _problem(command: Sequence[str]) -> str:
    """Why bubblewrap cannot run a command; empty where it can."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False, cwd="/")
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    words = one_line(done.stderr.decode("utf-8", "replace")) or f"it ended with {done.returncode}"
    return words if done.returncode else ""


# --- its environment -------------------------------------------------------------------------------------------------

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
