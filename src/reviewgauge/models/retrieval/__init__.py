"""Finds the texts that share most words with a query."""
