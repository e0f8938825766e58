"""The tables of a study in every format: the writers know one form of table, and nothing of its kinds."""
