"""Statistics on scores, labels and attempts: intervals, comparison, validity, raters, judges, the doctor."""
