"""Files for other programs: CSV, LaTeX, JUnit, and Markdown for build cards, bundles and pull requests."""
