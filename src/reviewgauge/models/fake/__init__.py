"""A rule-based model, and a server that speaks both protocols and fails on request."""
