"""One short function per verb; the only place where words become objects."""
