"""Runs static analysers on the head version of the files that a change touches, and keeps findings on changed lines.

The files are exported as plain blobs into an empty folder, alone: no settings file of the repository is among them
unless the change touches it, and even then no tool reads it. Nothing is built, imported or executed. ruff and lizard
(github.com/terryyin/lizard) come with the package, smells is ours; eslint, jshint and pmd are programs of the machine.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from reviewgauge.core.errors import UserError, one_line
from reviewgauge.core.files import search_path
from reviewgauge.core.records import Change, ChangedFile, FileStatus, Side
from reviewgauge.core.results import Drop
from reviewgauge.core.version import __version__
from reviewgauge.repo.analysers.findings import (
    TOOLS,
    AnalyserCrash,
    AnalyserJob,
    AnalyserSettings,
    AnalyserTimeout,
    Finding,
    Output,
    rules_of,
)
from reviewgauge.repo.analysers.programs import PROGRAMS, find_ruff, run_libraries
from reviewgauge.repo.diff.diffs import changed_lines
from reviewgauge.repo.git.folders import export_files, scratch_folder
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.syntax.functions import enclosing
from reviewgauge.repo.syntax.languages import language

__all__ = [
    "TOOLS",
    "AnalyserCrash",
    "AnalyserSettings",
    "AnalyserTimeout",
    "Finding",
    "Output",
    "analyse",
    "check_tools",
    "gaps",
    "installed",
    "versions",
]

LARGEST = 1_000_000  # bytes; a larger file is generated or data, and no tool reads it
LONGEST = 4_000  # characters of what one rule says of one line
REACH = 10  # lines; a finding that spans more (a whole function or block) counts by its first line alone

_READ = frozenset().union(*TOOLS.values())
_UNREAD = frozenset(rules_of("lizard")["not_recognised"])


@dataclass(slots=True)
class _ExportedFiles:
    """The exported files of one change: which lines changed, and what they hold."""

    changed: dict[str, frozenset[int]] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)


def installed(tools: Iterable[str] = TOOLS) -> dict[str, str]:
    """Those of `tools` that can be run here, with the program's absolute path, or the version of a library."""
    found: dict[str, str] = {}
    for tool in tools:
        if tool in PROGRAMS:
            where = find_ruff() if tool == "ruff" else shutil.which(tool, path=search_path())
            if where and tool == "pmd":  # its script finds its libraries through an absolute link only
                where = os.path.realpath(where)
        else:
            where = __version__ if tool == "smells" else importlib.metadata.version(tool)
        if where:
            found[tool] = where
    return found


def versions(tools: Iterable[str] = TOOLS) -> dict[str, str]:
    """The versions of those of `tools` that can be run here, as the programs print them."""
    found = installed(tools)
    for tool, where in found.items():
        if tool in PROGRAMS:
            found[tool] = "unknown"
            with suppress(OSError, subprocess.TimeoutExpired):
                done = subprocess.run([where, "--version"], capture_output=True, timeout=20, check=False, cwd=os.sep)
                if number := re.search(rb"(?<!\d)\d+(\.\d+)+", done.stdout[:10_000] + done.stderr[:10_000]):
                    found[tool] = number[0].decode()
    return found


def check_tools(tools: Sequence[str]) -> None:
    """Raises UserError for a name that is not an analyser."""
    for tool in tools:
        if tool not in TOOLS:
            raise UserError(f"{tool!r} is not an analyser", remedy=f"choose among {', '.join(TOOLS)}")


def _language(path: str) -> str:
    """The language of a file by its name; empty when no analyser reads it."""
    name, file = language(path), PurePosixPath(path.lower())
    return name if name in _READ and (file.suffix or file.name) not in _UNREAD else ""


def gaps(changes: Sequence[Change], tools: Sequence[str]) -> tuple[Drop, ...]:
    """The gaps of `tools` in `changes`, counted: tools that are not installed, files that no tool reads."""
    found: list[Drop] = []

    def add(count: int, name: str, reason: str, by: str = "analyser") -> None:
        item = f"{count} {name} file{'s' * (count != 1)}".replace("  ", " ")
        found.append(Drop(item=item, by=by, reason=reason))

    available = installed(tools)
    files = [file for change in changes for file in _readable(change)]
    counts = Counter(_language(file.path) for file in files)
    for tool in tools:
        for name in sorted(TOOLS[tool] & counts.keys()) if tool not in available else ():
            others = [other for other in available if name in TOOLS[other]]
            instead = f"read by {' and '.join(others)} alone" if others else "nothing reads them"
            add(counts[name], name, f"{tool} is not installed: {instead}", by=tool)
    for name in sorted(name for name in counts if name and not any(name in TOOLS[tool] for tool in tools)):
        add(counts[name], name, "none of the chosen tools reads it")
    if counts[""]:
        unknown = [PurePosixPath(file.path) for file in files if not _language(file.path)]
        kinds = Counter(path.suffix or path.name for path in unknown)
        most = ", ".join(f"{kind} {n}" for kind, n in kinds.most_common(5)) + (", ..." if len(kinds) > 5 else "")
        add(counts[""], "", f"no analyser reads such files ({most})")
    if blank := sum(file.patch is None for change in changes if change.has_diff for file in _readable(change)):
        add(blank, "", "its patch is missing, so its new lines are unknown")
    return tuple(found)


def _readable(change: Change) -> Iterator[ChangedFile]:
    return (file for file in change.files if file.status is not FileStatus.DELETED and not file.binary)


def analyse(repository: Repository, change: Change, settings: AnalyserSettings) -> Output:
    """The findings on the changed lines of `change`, whose files carry their patches, in order of place.

    Raises AnalyserTimeout and AnalyserCrash; a file that merely does not parse is noted in `unread`.
    """
    assert change.head is not None
    exported = _ExportedFiles()
    for file in _readable(change):
        known = _language(file.path)
        lines = changed_lines(file, Side.NEW)
        if lines and any(known in TOOLS[tool] for tool in settings.tools):
            exported.changed[file.path] = lines
    if not exported.changed:
        return Output()
    with scratch_folder() as root:
        drops = list(export_files(repository, change.head, root / "files", exported.changed))
        (root / "home").mkdir()
        drops += _load(root / "files", exported)
        job = AnalyserJob(root / "files", root / "home", settings)
        outputs = list(_run(exported, job))
    unread: dict[str, list[Drop]] = {}
    for drop in (drop for output in outputs for drop in output.unread):
        unread.setdefault(drop.item, []).append(drop)
    for _, same in sorted(unread.items()):
        tools = dict.fromkeys("python" if drop.by == "parse" else drop.by for drop in same)
        drops.append(same[0].model_copy(update={"by": ", ".join(tools)}))
    raw = (finding for output in outputs for finding in output.findings)
    return Output(tuple(_placed(raw, exported)), tuple(drops))


def _load(files: Path, exported: _ExportedFiles) -> Iterator[Drop]:
    """Read the exported files; what was not exported or is too large is taken out."""
    for path in list(exported.changed):
        file = files / path
        size = file.stat().st_size if file.is_file() else None
        if size is not None and size <= LARGEST:
            exported.contents[path] = file.read_bytes()
            continue
        del exported.changed[path]
        if size is not None:
            file.unlink()
            yield Drop(item=path, by="analyser", reason=f"is larger than {LARGEST:,} bytes")


def _run(exported: _ExportedFiles, job: AnalyserJob) -> Iterator[Output]:
    available = installed(job.settings.tools)
    asked = {tool: [p for p in sorted(exported.changed) if _language(p) in TOOLS[tool]] for tool in available}
    python = [path for path in sorted(exported.changed) if _language(path) == "Python"]
    libraries = [tool for tool in asked if asked[tool] and tool not in PROGRAMS]
    if python or libraries:
        yield run_libraries(libraries, python, asked.get("lizard", []), job)
    for tool, run in PROGRAMS.items():
        if asked.get(tool):
            yield run(available[tool], asked[tool], job)


def _placed(raw: Iterable[Finding], exported: _ExportedFiles) -> list[Finding]:
    """One finding for each problem at one place of the changed lines: the first tool's, with the others named.

    The same rule of one tool twice on one line is one problem; of nested functions that meet at one line, the innermost
    counts.
    """
    ordered = {path: sorted(lines) for path, lines in exported.changed.items()}
    merged: dict[tuple[str, int, str], Finding] = {}
    for item in sorted(raw, key=lambda one: one.end - one.start if one.function else 0):
        at = None if item.ignored else _anchor(item, ordered.get(item.path, []))
        if at is None:
            continue
        finding = _finding(item, at, exported.contents[item.path])
        first = merged.get(key := (item.path, finding.start, item.complaint))
        if first is None:
            merged[key] = finding
        elif item.function and finding.function != first.function:
            continue
        elif first.tool != finding.tool:
            merged[key] = replace(first, agree=(*first.agree, f"{finding.tool}:{finding.rule}"))
        elif len(first.message) < LONGEST and finding.message not in first.message:
            message = f"{first.message.rstrip('.')}. {finding.message}"
            merged[key] = replace(first, message=one_line(message, LONGEST))
    return sorted(merged.values(), key=lambda f: (f.path, f.start, f.end, f.tool, f.rule))


def _anchor(item: Finding, changed: Sequence[int]) -> tuple[int, int] | None:
    """The first and the last of the changed lines that a finding is about."""
    if item.function or item.lines:
        ranges = ((item.start, item.end),) if item.function else item.lines
        touched = next(filter(None, (_touched(changed, first, last) for first, last in ranges)), None)
        return (touched[0], touched[0]) if touched else None
    last = item.end if item.end - item.start < REACH else item.start
    touched = _touched(changed, item.start, last)
    return (touched[0], last if touched[0] == item.start else touched[1]) if touched else None


def _touched(changed: Sequence[int], start: int, end: int) -> tuple[int, int] | None:
    """The first and the last of the sorted lines from `start` to `end`."""
    first, after = bisect_left(changed, start), bisect_right(changed, end)
    return (changed[first], changed[after - 1]) if first < after else None


def _finding(item: Finding, at: tuple[int, int], content: bytes) -> Finding:
    start, end = at
    around = enclosing(content, item.path, start, start)
    lines = content.split(b"\n", start)
    return replace(
        item,
        start=start,
        end=end,
        message=" ".join(item.message.split()),
        function=item.function or (around.name if around.kind in ("function", "method") else ""),
        quote=lines[start - 1].decode("utf-8", "replace").strip() if start <= len(lines) else "",
    )
