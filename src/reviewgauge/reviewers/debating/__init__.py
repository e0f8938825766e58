"""What the roles of a debate are asked, and how their answers are read."""
