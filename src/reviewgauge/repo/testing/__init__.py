"""Runs a user's test command on a commit, with tests or edits laid over it, and reads which tests fail."""
