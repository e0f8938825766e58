"""What judges of comment pairs share: place, hunks, votes, assignment, the words of the offline judge."""
