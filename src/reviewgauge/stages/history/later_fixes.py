"""What later fixes say of the commits of a repository: computed once for each state of it, and remembered."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

from reviewgauge.core.base import content_id
from reviewgauge.core.building import BuildContext, CardSection
from reviewgauge.core.results import Drop
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.fix_messages import FixKind
from reviewgauge.repo.history.landed_changes import LandedChange, read_changes
from reviewgauge.repo.szz.records import Fix, SzzSettings, Trace
from reviewgauge.repo.szz.trace import index_history, trace_many
from reviewgauge.stages.history.changes import read_signs

_VERSION = "2"  # of what is remembered
_NAMED_REVERT = "reverts a change that it names"


@dataclass(frozen=True, slots=True)
class LaterFix:
    """A fix, when it landed (seconds since 1970), and how many lines of a commit it had to change.

    `is_revert`: it reverts the commit as a whole.
    """

    fix: str
    landed: float
    lines: int
    is_revert: bool = False


@dataclass
class LaterFixes:
    """The fixes of one history by the commits that they blame. `reverted` has ids as messages give them, cut or whole.

    `dated` counts the fixes of which it is known when the issue that they close was opened.
    """

    blames: dict[str, list[LaterFix]] = field(default_factory=dict)
    reverted: dict[str, LaterFix] = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)
    dated: int = 0

    def of(self, commits: set[str]) -> list[LaterFix]:
        """The fixes that speak about any of the commits and are none of them, earliest first."""
        found = [later for commit in commits for later in self.blames.get(commit, [])]
        found += [later for short, later in self.reverted.items() if any(c.startswith(short) for c in commits)]
        return sorted((one for one in found if one.fix not in commits), key=lambda one: (one.landed, one.fix))

    def section(self, by: str, name: str) -> CardSection:
        """What was found, for the card."""
        return CardSection(
            by=by,
            title=f"Fixes of {name}",
            text=(
                f"{len(self.blames):,} commits are blamed by a fix, {len(self.reverted):,} were reverted. Of"
                f" {self.dated:,} fixes it is known when the issue that they close was opened: they blame nothing that"
                " was written later."
            ),
            columns=("outcome of a fix", "fixes"),
            rows=tuple(sorted(self.outcomes.items(), key=lambda item: (-item[1], item[0]))),
        )


def later_fixes(
    repository: Repository,
    context: BuildContext,
    tip: str,
    settings: SzzSettings,
    *,
    perhaps: bool,
    opened: Mapping[str, datetime] = MappingProxyType({}),
) -> LaterFixes:
    """The fixes in the history that ends at the commit `tip`, traced with `settings`.

    `perhaps`: messages that may speak of a fixed defect count as well. `opened`: when the issue that a fix closes was
    opened, by the commit as which the fix landed; what was written later is not blamed. Raises UserError where git
    fails.
    """
    dates = content_id(*(f"{fix} {when.isoformat()}" for fix, when in sorted(opened.items())))
    key = ("szz", _VERSION, repr(settings), str(perhaps), "history", tip, dates)
    known = context.recall(key)
    if known is not None:
        return _from_json(known)
    found = LaterFixes()
    fixes: dict[str, float] = {}
    for change in read_changes(repository, tip):
        context.progress("reading changes", len(fixes))
        if not isinstance(change, Drop):
            _read(found, fixes, change, perhaps=perhaps)
    index_history(repository, context.code)
    wanted = [Fix(fix, opened.get(fix)) for fix in fixes]
    missing = [fix for fix in wanted if context.recall(_key(settings, fix)) is None]
    with closing(trace_many(repository, missing, settings)) as traces:
        pairs = zip(missing, traces, strict=True)
        for done, (fix, trace) in enumerate(pairs, len(fixes) - len(missing) + 1):
            context.remember(_key(settings, fix), _short(trace))
            context.progress("tracing fixes", done, len(fixes))
    for fix in wanted:
        _add(found, fix.commit, fixes[fix.commit], context.recall(_key(settings, fix)))
        found.dated += fix.opened is not None
    context.remember(key, _to_json(found))
    return found


def _key(settings: SzzSettings, fix: Fix) -> tuple[str, ...]:
    opened = "" if fix.opened is None else fix.opened.isoformat()
    return ("szz", _VERSION, repr(settings), "fix", fix.commit, opened)


def _read(found: LaterFixes, fixes: dict[str, float], change: LandedChange, *, perhaps: bool) -> None:
    """Take in a change that fixes something, or that reverts another one."""
    signs = read_signs(change)
    landed = change.commit.committed.timestamp()
    if signs.is_revert and signs.reverts:
        for short in signs.reverts:
            found.reverted.setdefault(short, LaterFix(change.commit.id, landed, 0, is_revert=True))
        found.outcomes[_NAMED_REVERT] += 1
    elif signs.kind is FixKind.YES or (perhaps and signs.kind is FixKind.PERHAPS):
        fixes[change.commit.id] = landed


def _short(trace: Trace) -> bytes:
    """What is kept of a trace: the lines of each commit, or why there are none."""
    lines = Counter(line.commit for line in trace.inducing)
    why = trace.skipped[-1].reason if trace.skipped and not lines else ""
    return json.dumps({"lines": lines, "why": why}).encode()


def _add(found: LaterFixes, fix: str, landed: float, known: bytes | None) -> None:
    row = json.loads(known or b'{"lines": {}, "why": "was not traced"}')
    for commit, lines in row["lines"].items():
        found.blames.setdefault(commit, []).append(LaterFix(fix, landed, lines))
    found.outcomes["leads to earlier commits" if row["lines"] else row["why"] or "nothing to blame"] += 1


def _to_json(found: LaterFixes) -> bytes:
    rows = {commit: [[one.fix, one.landed, one.lines] for one in fixes] for commit, fixes in found.blames.items()}
    reverted = {short: [one.fix, one.landed] for short, one in found.reverted.items()}
    return json.dumps({"blames": rows, "undone": reverted, "outcomes": found.outcomes, "dated": found.dated}).encode()


def _from_json(known: bytes) -> LaterFixes:
    row = json.loads(known)
    return LaterFixes(
        {commit: [LaterFix(*one) for one in fixes] for commit, fixes in row["blames"].items()},
        {short: LaterFix(one[0], one[1], 0, is_revert=True) for short, one in row["undone"].items()},
        Counter(row["outcomes"]),
        row["dated"],
    )
