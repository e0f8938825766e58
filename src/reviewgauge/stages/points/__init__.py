"""Change-points: the material, the answers, agreement, triviality."""
