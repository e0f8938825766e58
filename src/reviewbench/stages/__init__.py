"""One step of building a benchmark per file: cases in, cases or counted drops out."""
