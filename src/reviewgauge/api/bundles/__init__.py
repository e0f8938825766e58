"""One archive that recomputes every number: what goes in, its tables, and the check of one."""
