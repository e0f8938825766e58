"""Records in, pixels out: terminal tables, plots and the HTML report. It computes nothing that it shows."""
