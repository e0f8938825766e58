"""A model that looks around in the code with tools: what it can read, the tools, and the conversation."""
