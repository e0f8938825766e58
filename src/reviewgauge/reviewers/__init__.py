"""One way to review a change per file."""
