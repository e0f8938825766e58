"""From the text of a model to a value, or to the reason why it cannot be read."""
