"""What a bundle holds beside the runs (tables, validity reports), and its verification."""
