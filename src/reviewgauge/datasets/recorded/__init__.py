"""Recorded reviews, claims and verdicts that came with published data sets."""
