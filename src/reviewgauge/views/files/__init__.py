"""Files for other programs: CSV, LaTeX, JUnit, the build card, the bundle readme."""
