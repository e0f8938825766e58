"""click only: flags in, a view out. One file per verb."""
