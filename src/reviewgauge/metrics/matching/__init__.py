"""Which comment raises which finding: places, policies, counts, and published variants."""
