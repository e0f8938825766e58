"""The run folder: manifest, journal, lock, calls; and what runs the work: executors, progress, interruption."""
