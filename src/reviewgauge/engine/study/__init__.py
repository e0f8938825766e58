"""The grid of a study: which reviewer meets which benchmark, and whether it still is the study of its folder."""
