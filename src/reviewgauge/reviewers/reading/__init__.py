"""What reviewers read: a change as text, the answers of models, files of reviews."""
