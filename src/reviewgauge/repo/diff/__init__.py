"""Patches, and where in a change a comment stands."""
