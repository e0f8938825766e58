"""Texts to vectors: local weights, endpoints, sentence-transformers."""
