"""Drop changes of which every file is documentation or otherwise no code, by its name.

Source: ContextCRBench's suffix check (arXiv:2511.07017, section 2.3.1): "code changes [that] involve only documentation
or non-functional files, such as .md or .rst files". The paper's list of suffixes is not printed; ours is in
repo/syntax/languages.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override

from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import Case
from reviewgauge.core.trust import Word
from reviewgauge.repo.syntax.languages import is_documentation


@dataclass(frozen=True)
class DropDocumentation(Stage):
    """`also` names further suffixes (".json") of files that are not code."""

    also: tuple[Word, ...] = ()

    @override
    def keep(self, case: Case) -> Case | str:
        paths = [case.change.focus.path] if case.change.focus is not None else [f.path for f in case.change.files]
        if not paths:
            return "no changed files at hand"
        suffixes = tuple(suffix.lower() for suffix in self.also)
        if all(is_documentation(path) or path.lower().endswith(suffixes) for path in paths):
            return "documentation only"
        return case
