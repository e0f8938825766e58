"""The validity report: HTML, tables, plots, CSV."""
