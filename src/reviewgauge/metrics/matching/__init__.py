"""Which comment raises which reference, computed once; policies and published variants."""
