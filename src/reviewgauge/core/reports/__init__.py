"""What the verbs return and what --json prints."""
