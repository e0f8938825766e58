"""One metric per file: what is measured on one (case, review), and how measurements become a number."""
