"""Drop changes in which review missed something: a later fix had to change lines that they brought, by SZZ.

Source: SWR-Bench (arXiv:2509.01494), its third step; it names neither the variant of SZZ nor a horizon. The fixes
are found by their messages (repo/history/fix_messages.py), the lines as docs/explanation/szz.md says.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate, CardSection
from reviewgauge.core.errors import UserError
from reviewgauge.core.parameters import Count
from reviewgauge.core.protocols import Stage, StageOutput
from reviewgauge.core.results import Drop
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.commits import Commit, read_history
from reviewgauge.repo.history.fix_messages import FixKind
from reviewgauge.repo.history.landed_changes import read_changes
from reviewgauge.repo.szz.trace import Fix, SzzSettings
from reviewgauge.stages.history.fixes import classify_message
from reviewgauge.stages.history.memory import HistoryMemory
from reviewgauge.stages.link_issues import references

MISSED = "a later fix changed lines that it brought"
REVERTED = "it was reverted later"
NO_CODE = "its repository is not at hand, so nobody can look for later fixes"
NOT_LANDED = "it is not part of the history in which later fixes were looked for"
TOO_RECENT = "observed for less than the horizon"
_DAY = 86_400.0  # seconds
_AT_ONCE = 8  # repositories whose fixes are in memory
_MOST_COMMITS = 1000  # of one change


@dataclass(frozen=True)
class DropBuggy(Stage):
    """Keep changes that no fix within `horizon` days points to, and that were observed for as long.

    `horizon=0`: any later fix counts, however much later, and nothing is asked of the time of observation. Fixes are
    looked for at the repository's HEAD, or where a mirror has none at the newest merge commit of the pull requests at
    hand. A fix whose pull request came in as well, and closes an issue, speaks of nothing that was written after the
    issue was opened. Not for what `from_git` made, whose flawed changes are those that a fix speaks of.
    """

    needs_build: ClassVar[bool] = True

    horizon: Count = 365
    variant: Literal["basic", "ag", "ma"] = "ma"

    @override
    def apply(self, items: Iterable[Candidate], context: BuildContext) -> StageOutput:
        newest, opened = _newest_merges(items), _issue_dates(items)
        looks: dict[str, _Look | str] = {}
        for item in items:
            folder = _folder(item)
            if folder not in looks:
                if len(looks) >= _AT_ONCE:
                    looks.clear()  # what was found is remembered on disk
                looks[folder] = self._look(folder, newest.get(folder, ""), opened.get(folder, {}), context)
            yield self._decide(item, looks[folder])

    def _look(self, folder: str, newest: str, opened: Mapping[str, datetime], context: BuildContext) -> _Look | str:
        """The later fixes of a repository, or the reason why there are none."""
        if not folder:
            return NO_CODE
        repository = Repository(Path(folder))
        tips = _history(repository, "HEAD", 1) or _history(repository, newest, 1)
        if not tips:
            return NO_CODE
        look = _Look(repository, tips[0].id, min(tips[0].committed, datetime.now(UTC)).timestamp())
        settings = SzzSettings(variant=self.variant, tests=False, refactoring=True)
        look.read_fixes(HistoryMemory(repository, context), settings, opened)
        context.report(look.section())
        return look

    def _decide(self, item: Candidate, look: _Look | str) -> Candidate | Drop:
        if isinstance(look, str):
            return self.drop(item.id, look)
        landed = look.landed(item)
        if landed is None:
            return self.drop(item.id, NOT_LANDED)
        when, commits = landed
        for later in look.fixes_of(commits):
            days = max((later.landed - when) / _DAY, 0.0)
            if not 0 < self.horizon < days:
                detail = f"{later.fix[:12]}, {days:.0f} days later"
                return self.drop(item.id, REVERTED if later.is_revert else MISSED, detail)
        if self.horizon and (observed := (look.until - when) / _DAY) < self.horizon:
            return self.drop(item.id, TOO_RECENT, f"{max(observed, 0.0):.0f} days")
        return item


class _LaterFix(NamedTuple):
    """A fix, when it landed (seconds since 1970), and whether it reverts the commit as a whole."""

    fix: str
    landed: float
    is_revert: bool = False


@dataclass
class _Look:
    """One repository up to its commit `tip`, and the fixes in it by the commits that they blame.

    `until` is the date of that commit in seconds since 1970. `reverted` has ids as messages give them, cut or whole.
    `dated` counts the fixes of which it is known when the issue that they close was opened.
    """

    repository: Repository
    tip: str
    until: float
    blames: defaultdict[str, list[_LaterFix]] = field(default_factory=lambda: defaultdict(list))
    reverted: dict[str, _LaterFix] = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)
    dated: int = 0

    def read_fixes(self, memory: HistoryMemory, settings: SzzSettings, opened: Mapping[str, datetime]) -> None:
        """Trace the fixes of the history, each once. Raises UserError where git fails.

        `opened`: when the issue that a fix closes was opened, by the commit as which the fix landed; what was written
        later is not blamed.
        """
        fixes: dict[str, float] = {}
        for change in read_changes(self.repository, self.tip):
            memory.context.progress("reading changes", len(fixes))
            if isinstance(change, Drop):
                continue
            signs, commit, landed = classify_message(change), change.commit.id, change.commit.committed.timestamp()
            if signs.is_revert and signs.reverts:
                for short in signs.reverts:
                    self.reverted.setdefault(short, _LaterFix(commit, landed, is_revert=True))
                self.outcomes["reverts a change that it names"] += 1
            elif signs.kind is FixKind.YES:
                fixes[commit] = landed
        wanted = [Fix(fix, opened.get(fix)) for fix in fixes]
        self.dated = sum(fix.opened is not None for fix in wanted)
        for trace in memory.traces(wanted, settings):
            for commit in trace.commits:
                self.blames[commit].append(_LaterFix(trace.fix, fixes[trace.fix]))
            why = trace.skipped[-1].reason if trace.skipped else "nothing to blame"
            self.outcomes["leads to earlier commits" if trace.inducing else why] += 1

    def fixes_of(self, commits: set[str]) -> list[_LaterFix]:
        """The fixes of any of the commits that are not among them, earliest first."""
        found = [later for commit in commits for later in self.blames.get(commit, [])]
        found += [later for short, later in self.reverted.items() if any(c.startswith(short) for c in commits)]
        return sorted((one for one in found if one.fix not in commits), key=lambda one: (one.landed, one.fix))

    def section(self) -> CardSection:
        """The section for the card."""
        return CardSection(
            by="drop_buggy",
            title=f"Fixes of {self.repository.name}",
            text=(
                f"{len(self.blames):,} commits are blamed by a fix, {len(self.reverted):,} were reverted. Of"
                f" {self.dated:,} fixes it is known when the issue that they close was opened: they blame nothing that"
                " was written later."
            ),
            columns=("outcome of a fix", "fixes"),
            rows=tuple(sorted(self.outcomes.items(), key=lambda item: (-item[1], item[0]))),
        )

    def landed(self, item: Candidate) -> tuple[float, set[str]] | None:
        """When the change landed in the history, and its commits there; None when it did not."""
        change, pull = item.case.change, item.pull
        merged = pull.merge_commit if pull is not None else None
        at = next((c for c in (merged, change.head) if c and self._contains(c)), None)
        found = _history(self.repository, at, 1) if at is not None else []
        if not found:
            return None
        last = found[0]
        commits = {last.id}
        if len(last.parents) > 1:
            commits |= {commit.id for commit in _history(self.repository, last.id, without=last.parents[0])}
        elif pull is not None and len(pull.commits) > 1:
            # a rebase made these of the branch: back from the last, as long as the subjects are the branch's
            subjects = {commit.message.strip().partition("\n")[0].strip() for commit in pull.commits}
            branch = _history(self.repository, last.id, len(subjects))
            commits |= {commit.id for commit in takewhile(lambda commit: commit.subject in subjects, branch)}
        if change.base and change.head:
            commits |= {commit.id for commit in _history(self.repository, change.head, without=change.base)}
        merged_at = pull.merged_at if pull is not None else None
        return (merged_at or last.committed).timestamp(), commits

    def _contains(self, commit: str) -> bool:
        try:
            self.repository.run("merge-base", "--is-ancestor", "--end-of-options", commit, self.tip)
        except UserError:
            return False
        return True


def _history(repository: Repository, name: str, most: int = _MOST_COMMITS, *, without: str = "") -> list[Commit]:
    """The commits that `name` reaches along first parents, or all of them that `without` does not; newest first.

    None when a name is not a commit that is here.
    """
    past = [without] if without else []
    try:
        return list(read_history(repository, [name], without=past, first_parent=not past, most=most))
    except UserError:
        return []


def _folder(item: Candidate) -> str:
    """The git directory of the change; empty where there is none."""
    folder = item.case.change.git or (item.pull.git if item.pull is not None else None)
    return folder if folder and Path(folder).is_dir() else ""


def _issue_dates(items: Iterable[Candidate]) -> dict[str, dict[str, datetime]]:
    """By git directory and merge commit, when the issue that the pull request closes was opened; of several the last.

    The issues are those that the forge says it closes, or that follow a closing word in its description.
    """
    found: dict[str, dict[str, datetime]] = {}
    for item in items:
        pull, folder = item.pull, _folder(item)
        if not folder or pull is None or not pull.merge_commit:
            continue
        closes = pull.extra.get("closes")
        closed = {str(name).lower() for name in closes} if isinstance(closes, list) else set()
        closed |= {f"{repo}#{number}" for (repo, number), closing in references(pull.body, pull.repo) if closing}
        issues = (one for one in pull.issues if f"{one.repo}#{one.issue.number}".lower() in closed)
        dates = [one.created for one in issues if one.created is not None and not one.is_pull]
        if dates:
            found.setdefault(folder, {})[pull.merge_commit] = max(dates)
    return found


def _newest_merges(items: Iterable[Candidate]) -> dict[str, str]:
    """By git directory the merge commit of the pull request that was merged last."""
    merges = (
        (pull.merged_at, _folder(item), pull.merge_commit)
        for item in items
        if (pull := item.pull) is not None and pull.merge_commit and pull.merged_at is not None
    )
    return {folder: commit for _, folder, commit in sorted(merges) if folder}
