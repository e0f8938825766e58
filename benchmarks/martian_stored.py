"""Martian's stored verdicts read back, per judge and tool, and a corrected reading beside them.

    python benchmarks/martian_stored.py --from ../shared/data/martian

The published precision is goldens found per candidate. One candidate may be credited for several goldens, and a
candidate that lost its golden to a surer one is counted nowhere; so tp + fp need not be the number of candidates. The
corrected precision counts each judged candidate once.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from reviewgauge.datasets.martian import judges, render_table, stored_counts, stored_table


def main() -> None:
    """Print one table a judge, and how many reviews break the identity."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="folder", type=Path, required=True, metavar="MARTIAN")
    folder = parser.parse_args().folder
    for judge in judges(folder):
        counts = stored_counts(folder, judge).values()
        broken = sum(c.breaks for c in counts)
        print(f"{judge}: {len(counts)} reviews, tp + fp is not the number of candidates in {broken}\n")
        print(render_table(stored_table(folder, judge)), end="\n\n")


if __name__ == "__main__":
    main()
