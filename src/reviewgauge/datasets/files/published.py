"""Figures that papers print about agreement with people, to stand beside ours. Their rows may not be the same ones."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from importlib.resources import files

from reviewgauge.core.reports.validity import PublishedFigure

CRSCORE = "CRScore, mxbai, tau .7314"
PEOPLE, ENDS = "people", "without opposite ends"
_TABLES = tomllib.loads(files(__package__).joinpath("published.toml").read_text("utf-8"))


def published_figures(dataset: str) -> tuple[PublishedFigure, ...]:
    """What was printed about the recorded reviews of the data set of this name; nothing is known of most."""
    return tuple({"crscore_study": _crscore, "graded_reviews": _graded}.get(dataset, _nothing)())


def _nothing() -> Iterator[PublishedFigure]:
    yield from ()


def _cells(table: str) -> Iterator[list[str]]:
    return ([cell.strip() for cell in line.split("|")] for line in table.strip().splitlines())


def _graded() -> Iterator[PublishedFigure]:
    for table, metric, value in _cells(_TABLES["graded_reviews"]["spearman"]):
        source = f"arXiv:2501.05176, {table}"
        yield PublishedFigure(source=source, dimension="grade", metric=metric, name="spearman", value=float(value))


def _crscore() -> Iterator[PublishedFigure]:
    for metric, *pairs in _cells(_TABLES["crscore_study"]["agreement"]):
        for (table, dimension, rows), pair in zip(_TABLES["crscore_study"]["columns"], pairs, strict=True):
            for name, value in zip(("kendall", "spearman"), pair.split(), strict=True):
                if value != "-":
                    yield _printed(table, dimension, metric, name, value, rows=rows)
    for system, *values in map(str.split, _TABLES["crscore_study"]["means"].strip().splitlines()):
        columns = ((metric, dimension) for metric in (PEOPLE, CRSCORE) for dimension in ("con", "comp", "rel"))
        for (metric, dimension), value in zip(columns, values, strict=True):
            yield _printed("Table 10", dimension, metric, "mean", value, rows=f"system={system}")
    for name, share_or_rho in _TABLES["crscore_study"]["ends"].items():
        yield _printed("appendix E.1", "rel", CRSCORE, name, str(share_or_rho), rows=ENDS)


def _printed(where: str, dimension: str, metric: str, name: str, value: str, *, rows: str) -> PublishedFigure:
    source = f"arXiv:2409.19801, {where}"
    return PublishedFigure(source=source, dimension=dimension, metric=metric, name=name, value=float(value), rows=rows)
