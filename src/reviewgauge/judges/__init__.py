"""One way per file to say whether two comments raise the same thing; beside them, classes to sort into."""
