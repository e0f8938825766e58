"""Programs that are not ours: started by a guard, and ended with all that they started."""
