"""Runs the plug-ins that it is handed: review, score, the run folder, executors, the doctor's probes."""
