"""SWR-Bench change-points: asking a model, reading its answer, matching."""
