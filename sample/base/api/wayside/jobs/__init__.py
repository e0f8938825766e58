"""Jobs that run in the background: each is a function of a connection and the current time."""
