"""How far raters agree, humans and models in one table."""
