"""What later fixes say of the commits of a repository: computed once for each state of it, and remembered."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field

from reviewbench.core.building import CardSection, Place
from reviewbench.core.results import Drop
from reviewbench.repo.changes import LandedChange, read_changes
from reviewbench.repo.fixes import Mending
from reviewbench.repo.git import Repository
from reviewbench.repo.szz import SzzSettings, Trace, index_history, trace_many
from reviewbench.stages._git_changes import read_change

_VERSION = "1"  # of what is remembered
_TAKEN_BACK = "takes back a change that it names"


@dataclass(frozen=True, slots=True)
class LaterFix:
    """A fix, when it landed (seconds since 1970), and how many lines of a commit it had to change.

    `takes_back`: it reverts the commit as a whole.
    """

    fix: str
    landed: float
    lines: int
    takes_back: bool = False


@dataclass
class LaterFixes:
    """The fixes of one history by the commits that they blame. `undone` has ids as messages give them, cut or whole."""

    blames: dict[str, list[LaterFix]] = field(default_factory=dict)
    undone: dict[str, LaterFix] = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)

    def of(self, commits: set[str]) -> list[LaterFix]:
        """The fixes that speak about any of the commits and are none of them, earliest first."""
        found = [later for commit in commits for later in self.blames.get(commit, [])]
        found += [later for short, later in self.undone.items() if any(c.startswith(short) for c in commits)]
        return sorted((one for one in found if one.fix not in commits), key=lambda one: (one.landed, one.fix))

    def section(self, by: str, name: str) -> CardSection:
        """What was found, for the card."""
        return CardSection(
            by=by,
            title=f"Fixes of {name}",
            text=f"{len(self.blames):,} commits are blamed by a fix, {len(self.undone):,} were taken back.",
            columns=("what became of a fix", "fixes"),
            rows=tuple(sorted(self.outcomes.items(), key=lambda item: (-item[1], item[0]))),
        )


def later_fixes(repository: Repository, place: Place, tip: str, settings: SzzSettings, *, perhaps: bool) -> LaterFixes:
    """The fixes in the history that ends at the commit `tip`, traced with `settings`.

    `perhaps`: messages that may speak of a mended defect count as well. Raises UserError where git fails.
    """
    key = ("szz", _VERSION, repr(settings), str(perhaps), "history", tip)
    known = place.recall(key)
    if known is not None:
        return _from_json(known)
    found, fixes = LaterFixes(), {}
    for change in read_changes(repository, tip):
        place.progress("reading changes", len(fixes))
        if not isinstance(change, Drop):
            _read(found, fixes, change, perhaps=perhaps)
    index_history(repository, place.code)
    missing = [fix for fix in fixes if place.recall(_key(settings, fix)) is None]
    with closing(trace_many(repository, missing, settings)) as traces:
        for done, trace in enumerate(traces, len(fixes) - len(missing) + 1):
            place.remember(_key(settings, trace.fix), _short(trace))
            place.progress("tracing fixes", done, len(fixes))
    for fix, landed in fixes.items():
        _add(found, fix, landed, place.recall(_key(settings, fix)))
    place.remember(key, _to_json(found))
    return found


def _key(settings: SzzSettings, fix: str) -> tuple[str, ...]:
    return ("szz", _VERSION, repr(settings), "fix", fix)


def _read(found: LaterFixes, fixes: dict[str, float], change: LandedChange, *, perhaps: bool) -> None:
    """Take in a change that mends something, or that takes another one back."""
    reading = read_change(change)
    landed = change.landed_at.timestamp()
    if reading.takes_back and reading.reverts:
        for short in reading.reverts:
            found.undone.setdefault(short, LaterFix(change.landed, landed, 0, takes_back=True))
        found.outcomes[_TAKEN_BACK] += 1
    elif reading.mending is Mending.YES or (perhaps and reading.mending is Mending.PERHAPS):
        fixes[change.landed] = landed


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
    undone = {short: [one.fix, one.landed] for short, one in found.undone.items()}
    return json.dumps({"blames": rows, "undone": undone, "outcomes": found.outcomes}).encode()


def _from_json(known: bytes) -> LaterFixes:
    row = json.loads(known)
    return LaterFixes(
        {commit: [LaterFix(*one) for one in fixes] for commit, fixes in row["blames"].items()},
        {short: LaterFix(*one, 0, takes_back=True) for short, one in row["undone"].items()},
        Counter(row["outcomes"]),
    )
