"""What is asked of a model: its name, messages, prompt templates, prices, budget."""
