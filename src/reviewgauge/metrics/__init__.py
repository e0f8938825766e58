"""One metric per file: what is measured on one (case, review), and how a bag of measurements becomes a number."""
