"""The run folder, what works on it (executors, model calls, progress), and its scores read as one ScoredRun."""
