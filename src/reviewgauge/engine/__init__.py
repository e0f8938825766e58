"""Runs plug-ins over cases: review, score, classify, and the probes of the doctor; runs, builds and bundles."""
