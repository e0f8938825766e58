"""Endpoints of OpenAI, Anthropic and compatible servers: the SDKs, their errors, limits and retries."""
