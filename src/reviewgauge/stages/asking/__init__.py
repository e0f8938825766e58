"""What the stages that ask a model share: the question, conversations, change-points and their material."""
