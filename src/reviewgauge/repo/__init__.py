"""Reads code and forges, never a model: git, syntax, GitHub, anchors, analysers. Nothing in a repository is obeyed."""
