"""The card of a public data set: what it is, where its files are, and what its licence allows."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from reviewgauge.core.base import Record


class Origin(Record):
    """One file of a data set at its public origin. `size` in bytes; `sha256` of the official version."""

    name: str
    url: str
    sha256: str
    size: int


class Tree(Record):
    """The files of a data set in a public git repository: the files and folders `paths` of one commit.

    What lies in the folder `below` is put where the data set's own folder is.
    """

    url: str
    commit: str
    paths: tuple[str, ...]
    below: str = ""


class Card(Record):
    """A data set: what it is, where it comes from, and what its licence allows.

    `code_at` is the path of a repository under review on its forge; some data sets keep copies of their own.
    """

    title: str
    summary: str
    origin: str
    version: str
    licence: str
    may: str
    citation: str = ""
    languages: tuple[str, ...] = ()
    files: tuple[Origin, ...] = ()
    tree: Tree | None = None
    code_at: str = "{owner}/{name}"
    expected: Mapping[str, int] = Field(default_factory=dict)
    traps: tuple[str, ...] = ()
