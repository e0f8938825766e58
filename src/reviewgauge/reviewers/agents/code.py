"""The code before and after a change, read through git: two commits and no file system, so no path leads elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from reviewgauge.core.errors import NeedsCode
from reviewgauge.core.records import Change
from reviewgauge.repo.git.blobs import BlobReader, file_name
from reviewgauge.repo.git.paths import decode_path
from reviewgauge.repo.git.repository import Repository, check_commit
from reviewgauge.repo.git.search import Hits, search_text
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
