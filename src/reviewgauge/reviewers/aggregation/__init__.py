"""How several reviews of one change become one: by votes, or by a model."""
