"""Claims: what a review of a change could say, line by line of its diff, by static analysers, or by a model."""
