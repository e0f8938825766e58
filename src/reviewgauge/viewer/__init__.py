"""Pages over runs: which there are, what they say in plain words, and the evidence on the lines of each change."""
