"""What papers print about the same reviews, as rows beside ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from reviewgauge.core.reports.validity import PublishedFigure, ValidityReport

SYSTEMS, ENDS = "systems", "without opposite ends"


class Printed(NamedTuple):
    """One metric of a paper: where its figures stand, and the figures by name."""

    metric: str
    source: str
    figures: Mapping[str, float]

    @property
    def spearman(self) -> float | None:
        """Spearman's rho."""
        return self.figures.get("spearman")

    @property
    def kendall(self) -> float | None:
        """Kendall's tau."""
        return self.figures.get("kendall")


def printed(report: ValidityReport, dimension: str, rows: str = "") -> list[Printed]:
    """What is printed about these rows, a line a metric, by Spearman's rho and best first."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for one in _about(report, dimension, rows):
        found.setdefault((one.metric, one.source), {})[one.name] = one.value
    lines = (Printed(metric, source, values) for (metric, source), values in found.items())
    return sorted(lines, key=lambda line: -(line.spearman or 0.0))


def _about(report: ValidityReport, dimension: str, rows: str) -> Iterator[PublishedFigure]:
    return (one for one in report.published if one.dimension == dimension and one.rows == rows)


def by_value(report: ValidityReport, dimension: str, fact: str, values: list[str]) -> dict[str, dict[str, Printed]]:
    """What is printed about the rows where a fact has these values: metric -> value -> its figures."""
    found: dict[str, dict[str, Printed]] = {}
    for value in values:
        for line in printed(report, dimension, f"{fact}={value}"):
            if "mean" not in line.figures:
                found.setdefault(line.metric, {})[value] = line
    return found


def means(report: ValidityReport, dimension: str, systems: list[str]) -> dict[str, dict[str, tuple[float, int]]]:
    """The printed means of these systems, with their ranks: metric or `people` -> system -> (mean, rank)."""
    found: dict[str, dict[str, float]] = {}
    for system in systems:
        for one in _about(report, dimension, f"system={system}"):
            found.setdefault(one.metric, {})[system] = one.value
    return {
        metric: {system: (value, 1 + sum(other > value for other in own.values())) for system, value in own.items()}
        for metric, own in found.items()
    }


def sources(report: ValidityReport, dimension: str) -> str:
    """The papers whose figures are shown."""
    papers = dict.fromkeys(one.source.partition(",")[0] for one in report.published if one.dimension == dimension)
    return ", ".join(papers)
