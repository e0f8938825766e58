"""The protocols of OpenAI and Anthropic over HTTP: requests, answers, errors and the limits of an address."""
