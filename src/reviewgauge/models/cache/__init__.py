"""Answers and vectors that are kept, so that no call is paid for twice; replay of recorded calls."""
