"""The parts of `from_git`: fixes, the lines that they blame, labels on those, what is remembered, and the card."""
