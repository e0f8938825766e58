"""Patches, and the place of a comment in a change."""
