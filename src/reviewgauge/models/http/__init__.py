"""Asking an address over HTTP: connections, limits, and what its errors mean."""
