"""Whether a benchmark and a metric can be trusted: probes, lint, and the report on both."""
