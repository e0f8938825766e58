"""Functions and scopes of eleven languages by tree-sitter, in a process of its own."""
