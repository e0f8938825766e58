"""Claims: what a review of a change could say, by the syntax of the change, by static analysers, or by a model."""
