"""What the stages on pull requests share: candidates made of them, and whether a comment was adopted."""
