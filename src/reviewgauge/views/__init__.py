"""Records in, pixels out: terminal tables, plots, pages and files. It computes nothing that it shows."""
