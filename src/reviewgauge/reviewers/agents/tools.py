"""The tools that look at the code: each is a record of its arguments, which a model's call must fit, and an answer.

A call that asks for what is not there is answered with one line that says so. No answer is longer than `LONGEST`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, ClassVar

from pydantic import Field
from typing_extensions import override

from reviewgauge.core.base import Record
from reviewgauge.models.request.messages import Tool
from reviewgauge.repo.git.search import Hit
from reviewgauge.reviewers.agents.code import ReviewedCode, Version

LONGEST = 16_000  # characters of an answer
_ROWS = 400  # lines of a file, or entries of a folder, in one answer
_HITS = 100
_DEFINITIONS, _ROWS_OF_ONE = 5, 60  # that are shown, and lines of each
_WIDEST = 300  # characters of a line that was found

Number = Annotated[int, Field(ge=1, le=10_000_000)]
PathText = Annotated[str, Field(max_length=4_096)]
Name = Annotated[str, Field(min_length=1, max_length=200)]


class ToolArguments(Record):
    """The arguments of the tool `tool`. The docstring of each is its description to the model."""

    tool: ClassVar[str]


class Look(ToolArguments):
    """A look at the code."""

    @abstractmethod
    def answer(self, code: ReviewedCode) -> str:
        """What is seen."""


class ListFolder(Look):
    """List a folder of the repository; the root without an argument."""

    tool: ClassVar[str] = "list"

    folder: PathText = ""
    version: Version = "new"

    @override
    def answer(self, code: ReviewedCode) -> str:
        prefix = _plain(self.folder).rstrip("/")
        prefix = f"{prefix}/" if prefix not in ("", ".") else ""
        inside = {
            path[len(prefix) :]: size for path, size in code.sizes(self.version).items() if path.startswith(prefix)
        }
        if not inside:
            return f"the {self.version} version has no folder {self.folder!r}"
        folders = Counter(path.partition("/")[0] for path in inside if "/" in path)
        rows = [f"{name}/ ({count} files)" for name, count in sorted(folders.items())]
        rows += [f"{path} ({size:,} bytes)" for path, size in inside.items() if "/" not in path]
        return _joined(rows, "entries")


class ReadFile(Look):
    """Read lines of a file, 400 at most. The old version is the code before the change."""

    tool: ClassVar[str] = "read"

    path: PathText
    start: Number = 1
    end: Number = 10_000_000
    version: Version = "new"

    @override
    def answer(self, code: ReviewedCode) -> str:
        path = _plain(self.path)
        rows = code.lines(path, self.version)
        if isinstance(rows, str):
            return rows
        if self.start > len(rows):
            return f"{path} has {len(rows)} lines"
        end = min(self.end, len(rows), self.start + _ROWS - 1)
        rest = f"\n(lines {self.start} to {end} of {len(rows)})"
        return _cut(_numbered(rows[self.start - 1 : end], self.start)) + rest


class SearchText(Look):
    """Find the lines that hold a text. The text is taken literally; patterns do not work."""

    tool: ClassVar[str] = "search"

    text: Annotated[str, Field(min_length=1, max_length=1_000)]
    folder: PathText = ""
    ignore_case: bool = False
    version: Version = "new"

    @override
    def answer(self, code: ReviewedCode) -> str:
        below = _plain(self.folder).rstrip("/")
        below = "" if below == "." else below
        if below and not any(path == below or path.startswith(f"{below}/") for path in code.sizes(self.version)):
            return f"the {self.version} version has no file or folder {self.folder!r}"
        found, cut = code.search(self.text, self.version, below=below, fold=self.ignore_case)
        return _hits(found, cut)


class FindDefinitions(Look):
    """Show the functions, methods and classes of a name, wherever in the repository they are defined."""

    tool: ClassVar[str] = "definitions"

    name: Name
    version: Version = "new"

    @override
    def answer(self, code: ReviewedCode) -> str:
        name = self.name.replace("::", ".").rpartition(".")[2]
        found = list(code.definitions(name, self.version)) if name else []
        if not found:
            return f"no function, method or class called {name!r} was found; search finds other uses of the name"
        places = [f"{path}:{lines.start}: {lines.kind} {lines.name}" for path, lines, _ in found]
        shown = [
            f"{place}\n{_numbered(text[:_ROWS_OF_ONE], lines.start)}"
            for place, (_, lines, text) in zip(places, found[:_DEFINITIONS], strict=False)
        ]
        more = [_joined(places[_DEFINITIONS:], "definitions", _HITS)] if len(found) > _DEFINITIONS else []
        return _cut("\n\n".join([*shown, *more]))


class FindReferences(Look):
    """Find the lines that use a name as a whole word."""

    tool: ClassVar[str] = "references"

    name: Name
    version: Version = "new"

    @override
    def answer(self, code: ReviewedCode) -> str:
        found, cut = code.search(self.name, self.version, words=True)
        return _hits(found, cut)


class ShowDiff(Look):
    """Show what the change does to one file, from any line of its diff on."""

    tool: ClassVar[str] = "show"

    path: PathText
    start: Number = 1

    @override
    def answer(self, code: ReviewedCode) -> str:
        path = _plain(self.path)
        file = next((file for file in code.change.files if path in (file.path, file.old_path)), None)
        if file is None:
            return f"the change does not touch {path!r}"
        if not file.patch:
            return f"{file.path}: {'binary, ' * file.binary}{file.status.value.replace('_', ' ')}, without a diff"
        rows = file.patch.rstrip("\n").split("\n")
        return _cut("\n".join(rows[self.start - 1 : self.start - 1 + _ROWS])) + f"\n({len(rows)} lines in all)"


LOOKS: Sequence[type[Look]] = (ListFolder, ReadFile, SearchText, FindDefinitions, FindReferences, ShowDiff)


def described(record: type[ToolArguments]) -> Tool:
    """A tool by the record of its arguments, as the request to a model has it."""
    schema: dict[str, Any] = record.model_json_schema()
    for part in (schema, *schema["properties"].values()):
        part.pop("title", None)
    about = schema.pop("description", "")
    return Tool(name=record.tool, description=" ".join(about.split()), parameters=schema)


def _plain(path: str) -> str:
    """A path as the repository has it: models like to write `./` before it, or `/` for its root."""
    return path.removeprefix("./") if path != "/" else ""


def _numbered(rows: Iterable[str], start: int) -> str:
    return "\n".join(f"{number}\t{row}" for number, row in enumerate(rows, start))


def _hits(found: Sequence[Hit], cut: str) -> str:
    rows = [f"{hit.path}:{hit.line}: {hit.text.strip()[:_WIDEST]}" for hit in found]
    return _joined(rows, "lines", _HITS, [f"({cut}: name a folder)"] if cut else [])


def _joined(rows: Sequence[str], what: str, most: int = _ROWS, remarks: Iterable[str] = ()) -> str:
    def parts() -> Iterator[str]:
        yield from rows[:most] or (f"no {what}",)
        if len(rows) > most:
            yield f"({len(rows) - most:,} more {what})"
        yield from remarks

    return _cut("\n".join(parts()))


def _cut(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}\n({len(text) - LONGEST:,} more characters were cut off: ask for less)"
