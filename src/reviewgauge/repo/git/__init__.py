"""Git through its plumbing, with everything off that a hostile repository could use."""
