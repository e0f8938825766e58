"""One data set per file: its cases, and where they came with it, recorded reviews and labels."""
