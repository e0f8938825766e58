"""Reads a forge (GitHub, GitHub Enterprise, or a dump of one): asks, keeps the answers, maps them to records."""
