"""What raters are asked: the schema and its answers, and one TOML file per shipped schema."""
