"""Improves a reviewer against a benchmark: what is changed, what counts, who proposes, and what came of it."""
