"""What all exports are given, and what they share."""
