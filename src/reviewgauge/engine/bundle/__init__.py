"""The archive of runs: its contents, safe reading, and recomputing its scores."""
