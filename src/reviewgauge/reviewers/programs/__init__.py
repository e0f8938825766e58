"""Programs as reviewers: the environment they get, the guard around them, what they print."""
