"""A forge for tests: a scripted project, made into a real git repository and served in GitHub's shapes.

`script` says what happened in plain records, `git_side` makes the commits, `documents` the JSON, `server` answers.
"""
