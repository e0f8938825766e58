"""Commits as they landed, what they fix, and whether a history can be read."""
