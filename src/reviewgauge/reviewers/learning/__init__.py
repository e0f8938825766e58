"""What the reviewers share that learn from reviewed changes."""
