"""The one way to a chat model: cache, budget, retries, limits, record."""
