"""A user's tests, run on commits in a scrubbed checkout: for stages that say what they bear out."""
