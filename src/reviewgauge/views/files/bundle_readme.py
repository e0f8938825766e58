"""The README of a bundle: what it holds and how to check it, in plain words."""

from __future__ import annotations

from reviewgauge.core.plugin import short_spec
from reviewgauge.core.protocols import Metric
from reviewgauge.core.specs import load_recorded
from reviewgauge.engine.bundle.contents import BundleManifest


def readme(manifest: BundleManifest) -> str:
    """What the bundle holds and how to check it, in plain words."""
    runs = []
    for entry in manifest.runs:
        metrics = ", ".join(f"`{short_spec(load_recorded(Metric, spec))}`" for spec in entry.metrics) or "no metric"
        said = f"- `{entry.folder}`: {entry.dataset}, {entry.cases} cases, scored with {metrics}. "
        said += f"Licence of the data: {entry.licence}."
        if entry.texts != "all":
            gone = entry.withheld["reviews"].records
            said += f" The texts of the cases and of {gone:,} reviews are left out: {entry.why}."
        runs.append(said)
    data = ""
    if any(entry.texts != "all" for entry in manifest.runs):
        data = (
            "\nWhere texts are left out, get the data from its origin (`reviewgauge info NAME` says where) and name "
            "them:\n\n    reviewgauge bundle verify bundle.zip --from DATA\n\nWithout them, `--tables-only` checks "
            "hashes and tables.\n"
        )
    tables = "\n".join(f"- `{table.path}`" for table in manifest.tables)
    return f"""# What this is

A bundle made by ReviewGauge {manifest.reviewgauge}: what was measured, what it was measured on, and the tables that
came out. Everything in it can be recomputed without a network.

{chr(10).join(runs)}

# How to check it

    pip install reviewgauge=={manifest.reviewgauge}
    reviewgauge bundle verify bundle.zip

It measures every review again, makes every table again from the scores, and stops at the first number that differs:
it then names the file, the row, the column and both values, and exits with 1.
{data}
# What is where

- `bundle.json`: versions, settings, and the SHA-256 of every file
- `runs/NAME/`: the run folder: its manifest, cases (or `outline.jsonl`, the cases without their texts), reviews,
  labels, one score a line with the evidence behind it, and the calls of chat models (`calls.jsonl`), from which
  what models scored is measured again without asking them
- `tables/`: each table as CSV, nothing rounded, and as LaTeX made from the CSV

{tables}

Tables were made with {manifest.resamples:,} resamples and seed {manifest.seed}, on Python {manifest.python} with
{", ".join(f"{name} {version}" for name, version in sorted(manifest.libraries.items()))}.
"""
