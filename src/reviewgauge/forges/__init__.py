"""One forge per file: what a build needs of it (pull requests, threads, timeline, code), in one shape."""
