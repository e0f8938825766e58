"""Building a benchmark: recipes, the pipeline of stages, the build's folder, what it writes and how it is audited."""
