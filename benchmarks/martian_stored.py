"""Martian's stored verdicts read back, per judge and tool, and a corrected reading beside them.

    python benchmarks/martian_stored.py --from ../shared/data/martian

The published precision is goldens found per candidate. One candidate may be credited for several goldens, and a
candidate that lost its golden to a surer one is counted nowhere; so tp + fp need not be the number of candidates. The
corrected precision counts each judged candidate once.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from reviewgauge.datasets.martian import Martian, StoredCounts, judges, stored_counts


def render_table(rows: Mapping[str, StoredCounts]) -> str:
    """The counts by tool as plain text, 79 columns wide; "-" where a figure is undefined."""

    def cell(value: float | None) -> str:
        return f"{'-':>9}" if value is None else f"{value:9.3f}"

    lines = [f"{'tool':<16}{'P':>9}{'R':>9}{'F1':>9}{'P corr.':>9}{'F1 corr.':>9}{'reviews':>9}{'broken':>9}"]
    for tool, row in rows.items():
        figures = (row.precision, row.recall, row.f1, row.corrected_precision, row.corrected_f1)
        lines.append(f"{tool:<16.16}{''.join(map(cell, figures))}{row.reviews:>9}{row.breaks:>9}")
    return "\n".join(lines)


def main() -> None:
    """Print one table a judge, and how many reviews break the identity."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="folder", type=Path, required=True, metavar="MARTIAN")
    folder = parser.parse_args().folder
    for judge in judges(folder):
        counts = stored_counts(folder, judge).values()
        broken = sum(c.breaks for c in counts)
        print(f"{judge}: {len(counts)} reviews, tp + fp is not the number of candidates in {broken}\n")
        print(render_table(Martian(path=str(folder)).stored(judge)), end="\n\n")


if __name__ == "__main__":
    main()
