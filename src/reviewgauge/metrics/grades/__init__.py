"""Several metrics made into one grade, and grades asked of a model."""
