"""Runs the plug-ins that it is handed: review, score, classify, and the probes of the doctor."""
