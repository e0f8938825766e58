"""Stages that ask a model share this: the question, the language check, summaries."""
