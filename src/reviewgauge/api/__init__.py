"""The verbs as Python functions, one per file, and what several share; specs and paths become objects here only."""
