"""Syntax trees: what each grammar calls things, and the process that parses, apart from ours."""
