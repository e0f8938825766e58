"""One step of building a benchmark per file: candidates in, candidates or counted drops out; recipes order them."""
