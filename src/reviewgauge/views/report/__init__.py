"""The HTML report: pages, diffs, plots."""
