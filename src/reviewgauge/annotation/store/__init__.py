"""The database: items, slots with leases, judgements, rounds and accounts. Every access names whose it is."""
