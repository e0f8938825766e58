"""Reads code, never a model: git, diffs, anchors, static analysers. Nothing in a repository is executed or obeyed."""
