"""Repeatable draws, the balance of two groups, and the facts that a benchmark is sliced by."""
