"""Histories written straight into a real repository, however odd: any paths, dates, messages, modes and parents."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from git_project import IDENTITY

FILE, PROGRAM, LINK, MODULE = "100644", "100755", "120000", "160000"
Content = bytes | tuple[str, bytes] | None


@dataclass(frozen=True)
class Written:
    """One commit: what it writes (bytes of a file, (mode, bytes) of something else, None deletes).

    `parents` are indices into the history, by default the commit before. `when` and `authored` are seconds since
    1970 and a zone, as git stores them. `encoding` is a header for a message that is not UTF-8.
    """

    files: Mapping[bytes, Content] = field(default_factory=dict)
    message: bytes = b"a change"
    parents: tuple[int, ...] | None = None
    author: bytes = b"A <a@example.invalid>"
    when: str = "1700000000 +0000"
    authored: str | None = None
    encoding: bytes = b""


def write_history(
    folder: Path, commits: Sequence[Written], branch: str = "main", object_format: str = "sha1"
) -> list[str]:
    """Write `commits` into a new bare repository at `folder`; their ids. `branch` is the last one."""
    folder.mkdir(parents=True)
    environment = os.environ | IDENTITY
    subprocess.run(
        ["git", "init", "-q", "--bare", "-b", branch, f"--object-format={object_format}", str(folder)],
        env=environment,
        check=True,
    )
    stream = b"".join(_commit(commit, number, branch) for number, commit in enumerate(commits))
    marks = folder / "marks"
    subprocess.run(
        ["git", "fast-import", "--quiet", "--force", "--date-format=raw-permissive", f"--export-marks={marks}"],
        cwd=folder,
        env=environment,
        input=stream,
        check=True,
    )
    ids = dict(line.split() for line in marks.read_text().splitlines())
    return [ids[f":{number + 1}"] for number in range(len(commits))]


def _commit(commit: Written, number: int, branch: str) -> bytes:
    parents = commit.parents if commit.parents is not None else (() if number == 0 else (number - 1,))
    lines = [b"reset refs/heads/%s" % branch.encode()] if not parents else []
    lines += [b"commit refs/heads/%s" % branch.encode(), b"mark :%d" % (number + 1)]
    lines.append(b"author %s %s" % (commit.author, (commit.authored or commit.when).encode()))
    lines.append(b"committer C <c@example.invalid> %s" % commit.when.encode())
    if commit.encoding:
        lines.append(b"encoding " + commit.encoding)
    lines += [b"data %d" % len(commit.message), commit.message]
    lines += [b"%s :%d" % (b"from" if at == 0 else b"merge", parent + 1) for at, parent in enumerate(parents)]
    for path, content in commit.files.items():
        quoted = b'"' + b"".join(b"\\%03o" % byte for byte in path) + b'"'
        if content is None:
            lines.append(b"D " + quoted)
            continue
        mode, data = (FILE, content) if isinstance(content, bytes) else content
        if mode == MODULE:
            lines.append(b"M %s %s %s" % (mode.encode(), data, quoted))
        else:
            lines += [b"M %s inline %s" % (mode.encode(), quoted), b"data %d" % len(data), data]
    return b"\n".join(lines) + b"\n\n"
