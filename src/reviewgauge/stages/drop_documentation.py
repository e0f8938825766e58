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
from reviewgauge.repo.syntax.languages import is_documentation


@dataclass(frozen=True)
class DropDocumentation(Stage):
    """The file that is asked about counts, where the change is narrowed to one place."""

    @override
    def keep(self, case: Case) -> Case | str:
        paths = [case.change.focus.path] if case.change.focus is not None else [f.path for f in case.change.files]
        if not paths:
            return "no changed files at hand"
        if all(map(is_documentation, paths)):
            return "documentation only"
        return case
