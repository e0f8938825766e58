"""Whether a metric agrees with people, on which rows, and where it fails."""
