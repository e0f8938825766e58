"""The number of changes, attempts and raters that a study needs."""
