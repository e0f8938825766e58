"""SZZ: which commit brought the lines that a fix removed."""
