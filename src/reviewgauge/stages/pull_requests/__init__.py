"""What the stages on pull requests share: threads, adoption, code, texts as they were."""
