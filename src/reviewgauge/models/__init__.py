"""The way to models: chat with its cache, budget and providers, embeddings; and how texts compare without one."""
