"""What reviewers that ask a model share: pieces of the prompt, and comments of its answer."""
