"""Which system is better, by how much, and how sure that is: leaderboards, paired comparison, the gate."""
