"""Labels and clean changes that people check, with what they have to look at: the fix, and what came later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case, ChangedFile, Comment, findings
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.landed_changes import LARGEST_FILE
from reviewgauge.repo.history.later_commits import LaterCommits, later_commits
from reviewgauge.stages.sampling.audit import decision_id
from reviewgauge.stages.sampling.label_checks import clean_decision, from_fix, label_decision


@dataclass(frozen=True)
class LabelToCheck:
    """One row of the sheet. A clean change has neither a finding nor a fix, but what touched its lines later.

    `head_title` is the title of the commit at the head; that of a branch with several is the title of the first.
    """

    id: str
    case: Case
    finding: Sequence[Comment] = ()
    fix: str = ""
    fix_message: str = ""
    fix_files: Sequence[ChangedFile] = ()
    later: LaterCommits | None = None
    head_title: str = ""


def labels_of(case: Case, folder: Path, days: float) -> Iterator[LabelToCheck]:
    """Every row that a case may have in the sheet."""
    if case.clean:
        yield LabelToCheck(
            decision_id(clean_decision(case)), case, later=_later(case, folder, days), head_title=_title(case, folder)
        )
    for finding in findings(case.references):
        if not from_fix(finding):
            continue
        fix = next((one.resolution.commit for one in finding if one.resolution and one.resolution.commit), "")
        message, files = "", tuple[ChangedFile, ...]()
        if case.change.git is not None and fix:
            repository = Repository(folder / case.change.git)
            try:
                message = repository.run("show", "-s", "--format=%B", "--end-of-options", fix).decode(
                    "utf-8", "replace"
                )
                files = repository.changed_files(f"{fix}^", fix, LARGEST_FILE)
            except UserError:
                pass
        message = message.strip() or finding[0].body
        yield LabelToCheck(
            decision_id(label_decision(case, finding)), case, finding, fix, message, files, None, _title(case, folder)
        )


def _title(case: Case, folder: Path) -> str:
    """The title of the commit at the head of a change, as its author wrote it."""
    change = case.change
    if change.git is None or not change.head:
        return ""
    try:
        found = Repository(folder / change.git).run("show", "-s", "--format=%s", "--end-of-options", change.head)
    except UserError:
        return ""
    return found.decode("utf-8", "replace").strip()


def _later(case: Case, folder: Path, days: float) -> LaterCommits | None:
    change = case.change
    if change.git is None or not change.head:
        return None
    try:
        return later_commits(Repository(folder / change.git), change.head, change.files, days)
    except UserError:
        return None
