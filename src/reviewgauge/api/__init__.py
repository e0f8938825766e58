"""The verbs as Python functions, and what several verbs share; the only place where words become objects."""
