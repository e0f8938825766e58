"""Values and how they are read safely: records, protocols, specs, errors, reports. No library but pydantic."""
