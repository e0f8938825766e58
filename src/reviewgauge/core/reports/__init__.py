"""What verbs find, as `--json` prints it."""
