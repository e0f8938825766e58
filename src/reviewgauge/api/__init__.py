"""The verbs as Python functions, one per file, and what several share: here words of the user become objects."""
