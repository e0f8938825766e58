"""Providers of models, one protocol per file: how a request looks on the wire, and how an answer is read."""
