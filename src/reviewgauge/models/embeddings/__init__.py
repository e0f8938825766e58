"""Texts to vectors: local weights, endpoints."""
