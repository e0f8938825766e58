"""Reads git repositories through the git command line, and lets nothing in them run or reach the network.

Only commands without a work tree are allowed, and nothing that runs a program: no hooks, no file-system monitor, no
external diff, no text conversion, no filters, no replaced objects, no lazy fetch, no configuration but the repository's
own. Blobs are read, never checked out.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import IO, NamedTuple

from reviewgauge.core.errors import UserError
from reviewgauge.core.files import search_path
from reviewgauge.core.records import Change, ChangedFile, Side
from reviewgauge.repo.diff.diffs import read_files
from reviewgauge.repo.git.containment import check_readable, git_folder
from reviewgauge.repo.paths import decode_path, encode_path
from reviewgauge.repo.processes import end_group, start_tied
from reviewgauge.repo.tables import read_table

_FULL = r"no space left on device|out of disk ?space|disk quota exceeded"
_MAKE_ROOM = "free some space and run the same command again; what was recorded is kept"
_REMEDIES = {
    _FULL: _MAKE_ROOM,
    r"promisor|could not fetch [0-9a-f]{40}|lazy fetching": (
        "objects of a partial clone are missing: clone the repository again without --filter"
    ),
    r"does not have any commits|unknown revision|bad default revision|bad revision|ambiguous argument"
    r"|needed a single revision|not a valid object name": (
        "the repository has no such branch or commit: name one that it has; an empty repository has none"
    ),
    r"corrupt|inflate|unable to read|could not read|cannot read|is empty$|bad object|bad tree|not a tree"
    r"|object file .* is empty|missing (?:tree|blob|commit)|failed to (?:read|traverse)|loose object"
    r"|packfile|not a commit|unable to (?:unpack|parse)": (
        "objects are damaged or missing: `git fsck` names them; clone the repository again"
    ),
}
_NOISE = ("hint:", "warning:", "remote: Enumerating", "remote: Counting", "remote: Compressing")


def is_full(message: str) -> bool:
    """Whether git's message says that the disk is full."""
    return re.search(_FULL, message, re.IGNORECASE) is not None


def no_room(path: Path) -> UserError:
    """The error for a disk that was full when git wrote to `path`."""
    return UserError(f"{path}: no room left to write", remedy=_MAKE_ROOM)


def git_error(command: str, name: str, message: str, code: int) -> UserError:
    """The error for `git command` that ended with `code` in the repository `name` and printed `message`."""
    lines = [line.strip() for line in message.splitlines() if line.strip() and not line.startswith(_NOISE)]
    if not lines:
        lines = [f"ended by signal {-code}" if code < 0 else f"exit code {code}"]
    text = "; ".join(lines)
    remedy = next((remedy for pattern, remedy in _REMEDIES.items() if re.search(pattern, text, re.IGNORECASE)), "")
    return UserError(f"git {command} failed in {name}: {text}", remedy=remedy)


_TABLE = read_table(__package__, "git")
_SAFE_SETTINGS: dict[str, str] = _TABLE["settings"]
_COMMANDS: dict[str, Sequence[str]] = _TABLE["commands"] | dict.fromkeys(_TABLE["safe_as_they_are"], ())
_COMMIT = re.compile(r"[0-9A-Za-z_][0-9A-Za-z_./@^~{}-]*")
_IGNORED = dict.fromkeys([*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF])
_MOST_ERRORS = 4_000  # bytes of git's errors that are read
_CONFIG_SECONDS = 10.0  # to read a configuration that includes other files


class Repository:
    """A git directory, or a checkout that holds one."""

    def __init__(self, git_dir: Path) -> None:
        self.git_dir = git_folder(git_dir)
        self._checked = False

    @property
    def name(self) -> str:
        """The name of its folder, without git's own ending."""
        return self.git_dir.parent.name if self.git_dir.name == ".git" else self.git_dir.name.removesuffix(".git")

    def run(
        self,
        *args: str,
        stdin: bytes | None = None,
        protocols: Sequence[str] = (),
        settings: Mapping[str, str] | None = None,
        seconds: float | None = None,
    ) -> bytes:
        """The output of git for `args`. Network commands need `protocols`, such as ("https",); none is the default.

        `settings` as in `start`. After `seconds` git and its children are ended. Raises UserError where git fails,
        takes too long, is missing, or the command is not one of the safe ones.
        """
        source = subprocess.DEVNULL if stdin is None else subprocess.PIPE
        process = self.start(*args, stdin=source, stderr=subprocess.PIPE, protocols=protocols, settings=settings)
        with process:
            try:
                out, err = process.communicate(stdin, timeout=seconds)
            except subprocess.TimeoutExpired:
                raise UserError(f"git {args[0]} took longer than {seconds:g} seconds") from None
            finally:
                end_group(process)
        if process.returncode != 0:
            raise git_error(args[0], self.name, err.decode("utf-8", "replace"), process.returncode)
        return out

    def stream(self, *args: str, block: int = 1 << 20, settings: Mapping[str, str] | None = None) -> Generator[bytes]:
        """The output of git for `args` as it comes, in blocks of at most `block` bytes; git ends with the iterator.

        Raises UserError as `run` does; where git fails half-way, after its output so far was handed out.
        """
        with tempfile.TemporaryFile() as errors:  # a file: no pipe can fill up
            with self.start(*args, stderr=errors, settings=settings) as process:
                try:
                    while process.stdout is not None and (piece := os.read(process.stdout.fileno(), block)):
                        yield piece
                except BaseException:  # most often: the iterator was closed
                    end_group(process)
                    raise
            if process.returncode != 0:
                errors.seek(0)
                message = errors.read(_MOST_ERRORS).decode("utf-8", "replace")
                raise git_error(args[0], self.name, message, process.returncode)

    def start(
        self,
        *args: str,
        stdin: int | IO[bytes] = subprocess.DEVNULL,
        stdout: int | IO[bytes] = subprocess.PIPE,
        stderr: int | IO[bytes] = subprocess.DEVNULL,
        protocols: Sequence[str] = (),
        settings: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start git with `args` in a process group of its own; the caller reads, waits and closes.

        `settings` are further configuration, handed over by the environment, so that no secret in them is on a command
        line. Raises UserError where git is missing or the command is not one of the safe ones.
        """
        if not args or args[0] not in _COMMANDS:
            raise UserError(f"git {' '.join(args[:1])} is not among the commands that are safe here")
        own = settings or {}  # the command line would override it
        options = [part for key, value in _SAFE_SETTINGS.items() if key not in own for part in ("-c", f"{key}={value}")]
        options += [part for p in protocols for part in ("-c", f"protocol.{p}.allow=always")]
        command = ["git", "--no-pager", "--no-optional-locks", *options, args[0], *_COMMANDS[args[0]], *args[1:]]
        if not self.git_dir.is_dir():
            raise UserError(f"{self.git_dir} is not a git directory")
        if not self._checked:
            self._checked = True
            self._check()
        try:
            return start_tied(
                command,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                env=self._environment(protocols) | _as_environment(own),
                cwd=self.git_dir,
            )
        except FileNotFoundError:
            raise UserError("git is not installed", remedy="install git 2.31 or newer") from None
        except (OSError, ValueError) as error:  # an argument list too long, a NUL in an argument
            raise UserError(f"git {args[0]} cannot be run: {error}") from None

    def _check(self) -> None:
        """Raise UserError for what git would wait for without end. What is included has a moment to be read."""
        try:
            if not check_readable(self.git_dir):
                return
            with self.start("rev-parse", "--git-dir", stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                try:
                    process.wait(_CONFIG_SECONDS)  # with an open stdin: an include may be that
                except subprocess.TimeoutExpired:
                    remedy = f"look at the lines about `include` in {self.git_dir / 'config'}"
                    raise UserError(
                        f"git does not finish reading the configuration of {self.name}", remedy=remedy
                    ) from None
                finally:
                    end_group(process)
        except UserError:
            self._checked = False
            raise

    def _environment(self, protocols: Sequence[str]) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k.startswith("GIT_SSL_")}
        kept |= {key: search_path(key) for key in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH") if key in kept}
        return kept | {
            "PATH": search_path(),
            "GIT_DIR": str(self.git_dir),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_GRAFT_FILE": os.devnull,
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": ":".join(protocols) or "none",  # overrides a repository's own protocol.*.allow
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "",
            "SSH_ASKPASS": "",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_SSH_COMMAND": "ssh",
            "LC_ALL": "C",
        }

    def exists(self, commit: str) -> bool:
        """Whether the commit and its tree are here."""
        if not _is_commit(commit):
            return False
        asked = f"{commit}^{{commit}}\n{commit}^{{tree}}\n"
        try:
            answers = self.run("cat-file", "--batch-check=%(objecttype)", stdin=asked.encode()).split(b"\n")
        except UserError:
            return False
        return answers[:2] == [b"commit", b"tree"]

    def blob(self, commit: str, path: str) -> bytes | None:
        """The content of one file, None where the commit has no such file."""
        return self.blobs(commit, [path])[path]

    def blobs(self, commit: str, paths: Iterable[str]) -> dict[str, bytes | None]:
        """The content of several files, by one git process; None for each that the commit does not have."""
        wanted = list(dict.fromkeys(paths))
        check_commit(commit)
        sound = [p for p in wanted if is_sound(p)]
        found: dict[str, bytes | None] = dict.fromkeys(wanted)
        if any(b"\n" in encode_path(p) for p in sound):  # one request a line: such names go by their object's id
            ids = {entry.path: entry.id for entry in self.entries(commit)}
            sound = [p for p in sound if p in ids]
            requests = [ids[p].encode() for p in sound]
        else:
            requests = [commit.encode() + b":" + encode_path(p) for p in sound]
        if requests:
            answer = self.run("cat-file", "--batch", stdin=b"\n".join(requests) + b"\n")
            found.update(zip(sound, _batch(answer, len(requests)), strict=True))
        return found

    def paths(self, commit: str) -> list[str]:
        """Every file of the commit, links and submodules included."""
        return [entry.path for entry in self.entries(commit)]

    def entries(self, commit: str, seconds: float | None = None) -> Iterator[TreeEntry]:
        """Every file, link and submodule of the commit or tree; git may take `seconds`."""
        check_commit(commit)
        for line in self.run("ls-tree", "-r", "-z", "--full-tree", commit, seconds=seconds).split(b"\x00"):
            if line:
                head, _, path = line.partition(b"\t")
                mode, _, identity = head.decode("ascii").split(" ")
                yield TreeEntry(mode, identity, decode_path(path))

    def changed_files(self, base: str, head: str, largest_file: int | None = None) -> tuple[ChangedFile, ...]:
        """The files changed from `base` to `head`: renames detected at 50% similarity, 3 lines of context.

        Files of more than `largest_file` bytes count as binary. A patch over 5 MB is None, and so are those after the
        first 50 MB.
        """
        check_commit(base)
        check_commit(head)
        settings = None if largest_file is None else {"core.bigFileThreshold": str(largest_file)}
        with contextlib.closing(
            self.stream("diff-tree", *_TABLE["changes"], base, head, "--", settings=settings)
        ) as printed:
            return read_files(printed, f"the change from {base} to {head}")


def _as_environment(settings: Mapping[str, str]) -> dict[str, str]:
    keys = {f"GIT_CONFIG_KEY_{n}": key for n, key in enumerate(settings)}
    values = {f"GIT_CONFIG_VALUE_{n}": value for n, value in enumerate(settings.values())}
    return {"GIT_CONFIG_COUNT": str(len(settings)), **keys, **values}


class TreeEntry(NamedTuple):
    """One line of a tree: a file, link or submodule. `path` is as records have it."""

    mode: str
    id: str
    path: str


def _is_commit(commit: str) -> bool:
    return _COMMIT.fullmatch(commit) is not None and ".." not in commit


def is_sound(path: str) -> bool:
    """Whether it can be a file below a root: no empty, `.` or `..` part, nothing of git's own on any file system."""
    raw = encode_path(path)
    parts = raw.decode("utf-8", "replace").lower().split("/")
    return b"\x00" not in raw and not any(_is_forbidden(part) for part in parts)


def _is_forbidden(part: str) -> bool:
    plain = part.translate(_IGNORED).partition(":")[0].rstrip(" .")  # as macOS and Windows take names
    return part in ("", ".", "..") or plain in (".git", "git~1")


def check_commit(commit: str) -> None:
    """Raise UserError where `commit` cannot name a commit: an option, a range, an odd character."""
    if not _is_commit(commit):
        raise UserError(f"{commit!r} is not a commit")


def _batch(answer: bytes, count: int) -> Iterator[bytes | None]:
    stream = io.BytesIO(answer)
    for _ in range(count):
        words = stream.readline().removesuffix(b"\n").rsplit(b" ", 2)
        content = None
        if len(words) == 3 and words[2].isdigit():  # else "NAME missing", "NAME ambiguous"
            content = stream.read(int(words[2]) + 1)[:-1]
        yield content if words[1:2] == [b"blob"] else None


def code_reader(change: Change) -> Callable[[str, Side], str | None] | None:
    """Reads the files of `change` before (base) and after (head) it; None when its git directory is not known."""
    if change.git is None or (change.base is None and change.head is None):
        return None
    repository = Repository(Path(change.git))

    @lru_cache(maxsize=64)
    def read(path: str, side: Side) -> str | None:
        commit = change.head if side is Side.NEW else change.base
        try:
            raw = repository.blob(commit, path) if commit is not None else None
        except UserError:
            return None
        return None if raw is None else raw.decode("utf-8", "replace")

    return read
