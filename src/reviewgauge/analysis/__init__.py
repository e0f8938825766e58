"""Numbers about numbers: intervals, comparison, validity, raters, the doctor. It reads scores, never reviews."""
