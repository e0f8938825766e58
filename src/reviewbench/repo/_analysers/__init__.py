"""The static analysers one by one: how each is started, kept from the repository's own settings, and read."""
