"""Reads the cards of the public data sets, `datasets/cards/NAME.toml`: origin, licence, counts, checksums, traps."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from reviewgauge.core.data_card import Card, Origin


@cache
def read_card(name: str) -> Card:
    """The card of one data set. Its table `official` names the files below `folder`, and where the licence lies."""
    found = tomllib.loads(files("reviewgauge.datasets").joinpath("cards", f"{name}.toml").read_text("utf-8"))
    official = found.pop("official", {"files": ()})
    origins = (
        Origin(
            name=file,
            url=official["licence"] if file == "LICENSE" else f"{official['folder']}/{file}",
            sha256=sha256,
            size=size,
        )
        for file, size, sha256 in official["files"]
    )
    return Card(**found, files=tuple(origins))
