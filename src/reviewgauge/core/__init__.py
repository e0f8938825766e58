"""Pure values: records, protocols, plug-in specs, errors. No I/O, nothing from outside but pydantic."""
