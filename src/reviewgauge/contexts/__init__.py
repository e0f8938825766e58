"""One way per file to give a reviewer more than the code that it is asked about."""
