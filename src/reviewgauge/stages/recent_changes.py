"""The newest changes of a local git history, as they are: hosts for defects that are put in.

Source: ours. A defect in a change that is days old is in no model's training data.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pydantic import ValidationError
from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate
from reviewgauge.core.errors import UserError
from reviewgauge.core.parameters import Count
from reviewgauge.core.protocols import Stage, StageOutput
from reviewgauge.core.records import Case, Change
from reviewgauge.core.results import Drop
from reviewgauge.core.trust import Word
from reviewgauge.repo.history.commits import inspect
from reviewgauge.repo.history.landed_changes import LandedChange, read_changes
from reviewgauge.repo.mirrors.mirrors import mirror_local
from reviewgauge.stages.history import card
from reviewgauge.stages.history.memory import HistoryMemory
from reviewgauge.stages.history.source import MOST_FILES, MOST_LINES, find_tip, pooled_names, why_unfit
from reviewgauge.stages.sampling.draws import change_facts


@dataclass(frozen=True)
class RecentChanges(Stage):
    """The `newest` changes of `branch` (0: all), of at most `max_lines` lines and `max_files` files.

    `until` is an ISO date after which nothing is looked at. `name` is what the repository is called in the benchmark;
    by default its folder. Whether a change is sound is not known: its verdict is open.
    """

    example: ClassVar[str] = "reviewgauge build . -o bench --recipe injected"
    needs_build: ClassVar[bool] = True

    branch: Word = "HEAD"
    until: Word = ""
    newest: Count = card.NEWEST
    max_lines: int = MOST_LINES
    max_files: int = MOST_FILES
    name: Word = ""

    @override
    def apply(self, items: Iterable[Candidate], context: BuildContext) -> StageOutput:
        yield from items
        if self.name and len(context.sources) > 1:
            raise UserError("name is for one repository", remedy="leave it out: each is called by its folder")
        for source, name in zip(context.sources, pooled_names(context.sources), strict=True):
            yield from self._history(source, self.name or name, context)

    def _history(self, source: str, name: str, context: BuildContext) -> StageOutput:
        repository = mirror_local(Path(source or "."), context.code / f"{name.replace('/', '-')}.git")
        tip, _ = find_tip(repository, name, self.branch, self.until)
        of = f": {name}" if len(context.sources) > 1 else ""
        context.report(card.history_section(inspect(repository, tip), of).model_copy(update={"by": "recent_changes"}))
        landed = (item for item in read_changes(repository, tip) if isinstance(item, LandedChange))
        newest: Sequence[LandedChange] = deque(landed, self.newest or None)
        memory = HistoryMemory(repository, context)
        for done, change in enumerate(newest):
            context.progress("reading recent changes", done, len(newest))
            yield self._host(change, name, memory)

    def _host(self, change: LandedChange, name: str, memory: HistoryMemory) -> Candidate | Drop:
        item = f"{name}/{change.head[:12]}"
        if not change.title.strip():
            return self.drop(item, "has no title")
        try:
            files = memory.files(change.base, change.head)
            if reason := why_unfit(files, self.max_lines, self.max_files):
                return self.drop(item, reason)
            shown = Change(
                repo=name,
                base=change.base,
                head=change.head,
                title=change.title,
                description=change.description,
                files=files,
                git=str(memory.repository.git_dir),
            )
            facts = change_facts(shown, change.authored, len(change.commits))
            return Candidate(case=Case(id=item, change=shown, facts=facts))
        except UserError as error:
            return self.drop(item, "its diff cannot be read", str(error))
        except ValidationError as error:
            return self.drop(item, "cannot be a record", str(error).split("\n")[0])
