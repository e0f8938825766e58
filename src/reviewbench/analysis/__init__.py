"""Numbers about numbers: summaries, bootstrap intervals, paired comparison, slices. It reads scores, never reviews."""
