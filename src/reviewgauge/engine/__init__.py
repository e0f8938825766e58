"""Runs the plug-ins that it is handed: review, score, classify, the probes of the doctor."""
