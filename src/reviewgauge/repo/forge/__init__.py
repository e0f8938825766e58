"""Reads GitHub, GitHub Enterprise or a dump of one: requests, stored answers, and records made from them."""
