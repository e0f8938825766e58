"""Human labels in files: their rows, and the labels that come of them."""
