"""What the stages on pull requests share: candidates, threads, adoption, code, the choice of repositories."""
