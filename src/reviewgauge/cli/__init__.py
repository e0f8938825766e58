"""Flags in, a view out: one click file per verb."""
