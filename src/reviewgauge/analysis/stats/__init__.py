"""Statistics over arrays: bootstrap, sign flips, correlation, agreement, power, classification."""
