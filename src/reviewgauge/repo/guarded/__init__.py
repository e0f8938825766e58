"""Programs that are not ours: what they see of this machine, and a guard that ends them with all that they started."""
