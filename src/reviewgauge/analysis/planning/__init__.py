"""How many changes, attempts and raters a study takes."""
