"""The code before and after a change, and the tools by which a model looks at it.

It is read through git, two commits and no file system, so no path leads elsewhere. A tool is a record of its
arguments, which a model's call must fit, and an answer. A call that asks for what is not there is answered with one
line that says so. No answer is longer than `LONGEST`.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field
from typing_extensions import override

from reviewgauge.core.base import Record
from reviewgauge.core.errors import NeedsCode
from reviewgauge.core.records import Change
from reviewgauge.models.request.messages import Tool
from reviewgauge.repo.git.blobs import BlobReader, file_name
from reviewgauge.repo.git.repository import Repository, check_commit
from reviewgauge.repo.git.search import Hit, Hits, search_text
from reviewgauge.repo.paths import decode_path
from reviewgauge.repo.syntax.functions import Enclosing, definitions
from reviewgauge.repo.syntax.grammars import grammar_of
from reviewgauge.repo.syntax.languages import language

Version = Literal["new", "old"]
LARGEST = 1_000_000  # bytes of a file that is read or searched; a larger one is generated, or data
_FILES_WITH_A_NAME = 100  # in which a definition is looked for
_WITH_WORDS = frozenset({"Go", "PHP", "Python", "Ruby", "Rust"})  # languages in which a definition has one of these
_DEFINES = re.compile(r"\b(?:class|def|enum|fn|func|function|impl|interface|lambda|module|struct|trait|type|union)\b")


class Definition(NamedTuple):
    """A function, method or class, and its lines."""

    path: str
    lines: Enclosing
    text: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class ReviewedCode:
    """The files of `change` (with its patches) at its head, which is the new version, and at its base."""

    change: Change
    repository: Repository
    _sizes: dict[str, Mapping[str, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, change: Change) -> ReviewedCode:
        """The code of a change. Raises NeedsCode where its repository is not at hand."""
        if change.git is None or change.head is None or change.base is None:
            raise NeedsCode("agent")
        return cls(change, Repository(Path(change.git)))

    def commit(self, version: Version) -> str:
        """The commit of a version."""
        found = self.change.head if version == "new" else self.change.base
        assert found is not None
        return found

    def sizes(self, version: Version) -> Mapping[str, int]:
        """Every file of a version with its size in bytes; -1 for a submodule."""
        if version not in self._sizes:
            commit = self.commit(version)
            check_commit(commit)
            printed = self.repository.run("ls-tree", "-r", "-l", "-z", "--full-tree", commit)
            self._sizes[version] = dict(_sized(row) for row in printed.split(b"\x00") if row)
        return self._sizes[version]

    def lines(self, path: str, version: Version) -> list[str] | str:
        """The lines of a file, or why they cannot be shown."""
        size = self.sizes(version).get(path)
        if size is None:
            return f"the {version} version has no file {path!r}"
        if size > LARGEST:
            return f"{path} has {size:,} bytes, over the {LARGEST:,} that are read and searched"
        with BlobReader(self.repository, LARGEST) as blobs:
            content = blobs.read(file_name(self.commit(version), path))
        if content is None:
            return f"{path} cannot be read: it is a submodule, or missing from this copy of the repository"
        if b"\x00" in content:
            return f"{path} is a binary file of {size:,} bytes"
        return _rows(content)

    def search(self, text: str, version: Version, *, below: str = "", words: bool = False, fold: bool = False) -> Hits:
        """The lines that hold `text`; files over the limit are not searched."""
        large = [path for path, size in self.sizes(version).items() if size > LARGEST]
        return search_text(
            self.repository, self.commit(version), text, below=below, without=large, words=words, ignore_case=fold
        )

    def definitions(self, name: str, version: Version) -> Iterator[Definition]:
        """The functions, methods and classes called `name`.

        Read are files with a line that may define it: one with a word such as `def`, or any in languages that have
        none before a method's name.
        """
        hits = self.search(name, version, words=True).found
        may = [hit.path for hit in hits if language(hit.path) not in _WITH_WORDS or _DEFINES.search(hit.text)]
        known = [path for path in dict.fromkeys(may) if grammar_of(language(path), path, looks_like_cpp=False)]
        paths = known[:_FILES_WITH_A_NAME]
        with BlobReader(self.repository, LARGEST) as blobs:
            contents = blobs.read_many(file_name(self.commit(version), path) for path in paths)
            for path, content in zip(paths, contents, strict=True):
                for lines in definitions(content or b"", path):
                    if lines.name.replace("::", ".").rpartition(".")[2] == name:
                        yield Definition(path, lines, tuple(_rows(content or b"")[lines.start - 1 : lines.end]))


def _sized(row: bytes) -> tuple[str, int]:
    """The path and size in a line of `git ls-tree -l`: MODE TYPE ID SIZE TAB PATH."""
    head, _, path = row.partition(b"\t")
    size = head.split()[-1]
    return decode_path(path), int(size) if size.isdigit() else -1


def _rows(content: bytes) -> list[str]:
    rows = [row.removesuffix("\r") for row in content.decode("utf-8", "replace").split("\n")]
    return rows if rows[-1] else rows[:-1]


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
