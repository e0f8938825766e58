"""A user's program in its environment: a scrubbed checkout, the change as files, a clean home, and a guard process
that ends the program, and all that it started, in time.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, NamedTuple

from reviewgauge.core.errors import NeedsCode, UserError, one_line
from reviewgauge.core.records import Change
from reviewgauge.core.results import Drop
from reviewgauge.repo.git.folders import scratch_folder
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.mirrors.workspaces import workspace
from reviewgauge.repo.processes import Child, ChildEnded
from reviewgauge.reviewers.reading.change_text import diff_text, with_patches

_FOLDERS = """
.agents .aider .amp .claude .claude-plugin .clinerules .codex .continue .cursor .gemini .junie .kiro .opencode
.roo .windsurf
"""
_FILES = """
.aider.conf.yml .clinerules .cursorrules .goosehints .mcp.json .roomodes .windsurfrules agent.md agents.md
agents.local.md agents.override.md claude.md claude.local.md crush.json gemini.md opencode.json opencode.jsonc
qwen.md warp.md
"""
_BELOW_GITHUB = ("copilot-instructions.md", "instructions", "chatmodes", "prompts", "agents", "skills")


def speaks_to_agents(path: str) -> bool:
    """Whether a coding agent that works in the repository may obey this file, in whatever folder it lies."""
    parts = path.lower().split("/")
    github = len(parts) > 1 and parts[0] == ".github" and parts[1] in _BELOW_GITHUB
    vscode = parts[-2:] in ([".vscode", "mcp.json"], [".vscode", "settings.json"], [".vscode", "tasks.json"])
    return github or vscode or parts[-1] in _FILES.split() or not set(parts[:-1]).isdisjoint(_FOLDERS.split())


Checkout = Literal["head", "base", "none"]
CASE = "REVIEWGAUGE_CASE"  # the one variable of ours that has to be asked for
_ODD = re.compile(r"[^A-Za-z0-9._/@+-]")
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


@dataclass(frozen=True)
class CheckedEnvironment:
    """How to make the checkout: its side, its history, and whether files for agents are left out."""

    at: Checkout = "head"
    history: int = 0
    whole: bool = True
    strip_agent_config: bool = True


@dataclass(frozen=True)
class ReviewEnvironment:
    """`words` are the values of the placeholders; `environment` is the program's whole environment.

    `scratch` are the folders that hold all of it.
    """

    folder: Path
    output: Path
    diff: Path
    words: Mapping[str, str]
    environment: Mapping[str, str]
    left_out: tuple[Drop, ...]
    scratch: tuple[Path, ...]


@contextmanager
def place(
    change: Change, how: CheckedEnvironment, variables: Sequence[str], home: str, here: str
) -> Iterator[ReviewEnvironment]:
    """The environment of one review, removed afterwards. Raises UserError and NeedsCode."""
    change = with_patches(change, "command")
    with ExitStack() as open_things:
        top = open_things.enter_context(scratch_folder())
        for name in ("given", "home", "tmp", "empty"):
            (top / name).mkdir()
        if home:
            _copy_home(Path(home).expanduser(), top / "home")
        folder, base, head, left_out = top / "empty", "", "", tuple[Drop, ...]()
        scratch = [top]
        if how.at != "none":
            if change.git is None or change.head is None:
                raise NeedsCode("command")
            made = open_things.enter_context(
                workspace(
                    Repository(Path(change.git)),
                    change.head,
                    change.base,
                    how.at,
                    history=how.history,
                    whole=how.whole,
                    hidden=speaks_to_agents if how.strip_agent_config else None,
                )
            )
            folder, base, head, left_out = made.folder, made.base or "", made.head, made.left_out
            scratch.append(folder.parent)
        given = _hand_over(change, top / "given")
        words = {"base": base, "head": head, "workspace": str(folder), "case": change.id or change.repo, **given}
        environment = {f"REVIEWGAUGE_{name.upper()}": word for name, word in words.items()}
        if CASE not in variables:  # it often is the commit or the pull request: what a forge finds the answers under
            del environment[CASE]
        environment |= _FIXED | _homes(top) | passed_on(variables)
        words |= {"case": _plain(words["case"]), "here": here}
        yield ReviewEnvironment(
            folder, Path(given["output"]), Path(given["diff"]), words, environment, left_out, tuple(scratch)
        )


def passed_on(variables: Sequence[str]) -> dict[str, str]:
    """The named variables that are set. Of PATH, only absolute folders: others would lie in the code under review."""
    found = {name: os.environ[name] for name in variables if name in os.environ}
    if "PATH" in found:
        folders = [folder for folder in found["PATH"].split(os.pathsep) if Path(folder).is_absolute()]
        found["PATH"] = os.pathsep.join(folders)
    return found


def _hand_over(change: Change, folder: Path) -> dict[str, str]:
    """Write the change as files, and return their paths by name. `output` is the path of a file yet to be written."""
    issues = "\n\n".join(f"# {issue.title} (#{issue.number})\n\n{issue.body}" for issue in change.issues)
    texts = {
        "diff": ("change.diff", diff_text(change) + "\n"),
        "title": ("title.txt", change.title + "\n"),
        "description": ("description.md", change.description + "\n"),
        "issues": ("issues.md", issues + "\n" if issues else ""),
    }
    for name, text in texts.values():
        (folder / name).write_text(text, encoding="utf-8", errors="surrogateescape")
    return {**{key: str(folder / name) for key, (name, _) in texts.items()}, "output": str(folder / "review")}


def _homes(top: Path) -> dict[str, str]:
    home, temporary = top / "home", str(top / "tmp")
    homes = {"HOME": str(home)} | {name: str(home / part) for name, part in _HOMES.items()}
    return homes | dict.fromkeys(("TMPDIR", "TMP", "TEMP", "XDG_RUNTIME_DIR"), temporary)


def _copy_home(source: Path, target: Path) -> None:
    try:
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
    except (OSError, shutil.Error) as error:
        raise UserError(f"the home {source} cannot be copied: {error}") from None


def _plain(case: str) -> str:
    """A case's id without letters that a shell would take for its own; an id is data."""
    plain = _ODD.sub("_", case)
    return f"_{plain[1:]}" if plain.startswith("-") else plain


_GUARD = Path(__file__).with_name("guard.py")
LAST_WORDS = 20_000  # bytes of stderr that are kept, from its end
_GRACE = 10.0  # seconds that the guard has to end everything

Ending = Literal["exit", "timeout", "output", "processes", "not started"]


@dataclass(frozen=True)
class ProcessLimits:
    """`seconds` of wall-clock time, `output` in bytes on stdout, `processes` at one time.

    A guard without an answer `patience` seconds later counts as stopped, which a hostile program can do.
    """

    seconds: float
    output: int
    processes: int
    patience: float = 60.0


@dataclass(frozen=True)
class Ended:
    """How a program ended. `code` is negative for a signal; `left` counts processes that it left behind (ended too)."""

    ending: Ending
    code: int | None
    out: bytes
    err: bytes
    words: str = ""
    left: int = 0
    seconds: float = 0.0


def run_guarded(
    argv: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    limits: ProcessLimits,
    *,
    stdin: Path | None = None,
    scratch: Sequence[Path] = (),
) -> Ended:
    """Run `argv` in `folder` with `environment` alone, and return once all of its processes have ended.

    If this process is killed meanwhile, the program ends and the folders of `scratch` are removed. Raises UserError
    where the guard itself fails.
    """
    if os.name != "posix":
        raise UserError("running programs as reviewers needs Linux or macOS")
    job = {
        "argv": list(argv),
        "cwd": str(folder),
        "env": dict(environment),
        "stdin": str(stdin or ""),
        "seconds": limits.seconds,
        "out": limits.output,
        "err": LAST_WORDS,
        "processes": limits.processes,
        "scratch": [str(folder) for folder in scratch],
    }
    ours = {key: os.environ[key] for key in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH") if key in os.environ}

    def start(errors: IO[bytes]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(_GUARD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=ours,
            cwd="/",
            start_new_session=True,  # Ctrl-C is ours to handle
        )

    guard = Child("the guard", start, min(limits.seconds + limits.patience, threading.TIMEOUT_MAX))
    try:
        guard.ask(json.dumps(job).encode() + b"\n")
        report = json.loads(guard.line())
        out, err = guard.take(report["out"]), guard.take(report["err"])
    except OSError as error:
        raise UserError(f"cannot start a process: {error.strerror}") from None
    except ChildEnded as error:
        if error.late:
            return Ended("timeout", None, b"", b"", seconds=limits.seconds)
        why = one_line(error.errors) or "it was killed, perhaps by the program"
        raise UserError(f"the process that supervises the program failed: {why}") from None
    finally:
        guard.finish(_GRACE)
    return Ended(report["ended"], report["code"], out, err, report["words"], report["left"], report["seconds"])


# ECMA-48: CSI (colours, cursor), strings such as OSC (titles, links) up to BEL or ST, and the short ones.
_ESCAPES = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-Z\\^-~])",
)
_FEW = 0.01  # share of what is not text, above which it is taken for binary data


class Printed(NamedTuple):
    """`data` without escape sequences, and in UTF-8 where nearly all of it was; `replaced` counts the other bytes."""

    data: bytes
    replaced: int


def as_text(data: bytes) -> Printed:
    """`data` made readable for a format. Data that is hardly text stays as it is, so that a format rejects it."""
    plain = _ESCAPES.sub(b"", data)
    there = plain.count("\N{REPLACEMENT CHARACTER}".encode())
    text = plain.decode("utf-8", "replace").replace("\x00", "\N{REPLACEMENT CHARACTER}")
    replaced = text.count("\N{REPLACEMENT CHARACTER}") - there
    if replaced > max(1, _FEW * len(text)):
        return Printed(plain, 0)
    return Printed(text.encode("utf-8") if replaced else plain, replaced)
