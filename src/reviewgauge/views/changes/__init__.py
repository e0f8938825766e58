"""A change on a page: its diff as rows of marked-up lines, with notes on their lines."""
