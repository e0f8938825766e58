"""Building a benchmark: recipes, the pipeline of stages, and the build's folder."""
