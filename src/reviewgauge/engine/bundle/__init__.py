"""The archive of a run: its contents, how it is read safely, and how its scores are made again."""
