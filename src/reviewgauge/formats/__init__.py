"""One interchange format of review comments per file: bytes in, comments out, and back where the format is written."""
