"""What contexts that read the repository share: open readers, names of places, the index of a commit."""
