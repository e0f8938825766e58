"""What is written down of the public data sets: their cards (`datasets/cards/NAME.toml`), and figures of papers."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from reviewgauge.core.data_card import Card, Origin
from reviewgauge.core.reports.validity import PublishedFigure


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


# --- figures that papers print about agreement with people; their rows may not be the same ones ----------------------

CRSCORE = "CRScore, mxbai, tau .7314"
PEOPLE, ENDS = "people", "without opposite ends"


@cache
def _tables() -> Mapping[str, Any]:
    return tomllib.loads(files(__package__).joinpath("published.toml").read_text("utf-8"))


def published_figures(dataset: str) -> tuple[PublishedFigure, ...]:
    """What was printed about the recorded reviews of the data set of this name; nothing is known of most."""
    return tuple({"crscore_study": _crscore, "graded_reviews": _graded}.get(dataset, _nothing)())


def _nothing() -> Iterator[PublishedFigure]:
    yield from ()


def _cells(table: str) -> Iterator[list[str]]:
    return ([cell.strip() for cell in line.split("|")] for line in table.strip().splitlines())


def _graded() -> Iterator[PublishedFigure]:
    for table, metric, value in _cells(_tables()["graded_reviews"]["spearman"]):
        source = f"arXiv:2501.05176, {table}"
        yield PublishedFigure(source=source, dimension="grade", metric=metric, name="spearman", value=float(value))


def _crscore() -> Iterator[PublishedFigure]:
    for metric, *pairs in _cells(_tables()["crscore_study"]["agreement"]):
        for (table, dimension, rows), pair in zip(_tables()["crscore_study"]["columns"], pairs, strict=True):
            for name, value in zip(("kendall", "spearman"), pair.split(), strict=True):
                if value != "-":
                    yield _printed(table, dimension, metric, name, value, rows=rows)
    for system, *values in map(str.split, _tables()["crscore_study"]["means"].strip().splitlines()):
        columns = ((metric, dimension) for metric in (PEOPLE, CRSCORE) for dimension in ("con", "comp", "rel"))
        for (metric, dimension), value in zip(columns, values, strict=True):
            yield _printed("Table 10", dimension, metric, "mean", value, rows=f"system={system}")
    for name, share_or_rho in _tables()["crscore_study"]["ends"].items():
        yield _printed("appendix E.1", "rel", CRSCORE, name, str(share_or_rho), rows=ENDS)


def _printed(where: str, dimension: str, metric: str, name: str, value: str, *, rows: str) -> PublishedFigure:
    source = f"arXiv:2409.19801, {where}"
    return PublishedFigure(source=source, dimension=dimension, metric=metric, name=name, value=float(value), rows=rows)
