"""Repeatable draws, the balance of two groups, and the tables in which people check what stages decided."""
