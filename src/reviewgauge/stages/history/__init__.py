"""The parts of `from_git`: changes, fixes, labels, cases and their card."""
