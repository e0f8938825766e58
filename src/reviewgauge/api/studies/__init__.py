"""What `study` does for its benchmarks: plans with their plug-ins made, the estimate, the reviews and the scores."""
