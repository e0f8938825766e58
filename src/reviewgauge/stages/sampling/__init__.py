"""Draws that can be repeated: strata, balance, facts."""
