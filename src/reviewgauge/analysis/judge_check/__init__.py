"""Checks of a judge: its agreement with people, its biases, its resistance to attacks, and corrected scores."""
