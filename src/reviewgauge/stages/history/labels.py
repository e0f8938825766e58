"""Reference comments out of fixes: where the lines that a fix had to change stand in the change under review."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial

from reviewgauge.core.errors import UserError
from reviewgauge.core.records import ChangedFile, Comment, Resolution, Side, Span
from reviewgauge.repo.diff.diffs import Hunk, parse_patch
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.landed_changes import LARGEST_FILE, LandedChange, own_text, without_ids
from reviewgauge.repo.szz.records import Inducing
from reviewgauge.stages.history.changes import fix_text
from reviewgauge.stages.history.fixes import FoundFix, Tracer
from reviewgauge.stages.history.lines import forward, new_text, normal, not_product, runs, texts, trivial
from reviewgauge.stages.history.tokens import brought_what_was_mended, held_against_deleted, touched_at, words_changed

_LONGEST_EVIDENCE = 4000  # characters of a fix's hunks
_LONGEST_SNIPPET = 2000
_LONGEST_BODY = 2000
_CORE = 0.06  # of the words that a fix changes: less of them in a change's lines is an aside
_PART = 0.25  # of the words that a fix takes out: less of them in a change's lines is an aside
_SHORT = 8  # characters of a line, without blanks, from which on "only moved" can be told
_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Spot:
    """Some lines at the head of a change that a fix had to change, with the lines that say so."""

    span: Span
    lines: tuple[Inducing, ...]


@dataclass
class Labeller:
    """Makes the references of one change after the other; `placed` counts blamed lines that are in one, `skipped` those
    that did not make it, and why.
    """

    repository: Repository
    tracer: Tracer
    fixes: Sequence[FoundFix]
    most_places: int
    strict: bool = True
    skipped: Counter[str] = field(default_factory=Counter)
    placed: int = 0

    def __post_init__(self) -> None:
        """Remember the diffs that several lines ask for."""
        self._diff = lru_cache(maxsize=64)(partial(self.repository.changed_files, largest_file=LARGEST_FILE))

    def references(
        self, change: LandedChange, number: int, files: Sequence[ChangedFile], by: Sequence[int]
    ) -> tuple[Comment, ...]:
        """The findings that the fixes `by` (numbers in `fixes`) make on `change`, whose diff is `files`."""
        found: list[Comment] = []
        for index in by:
            fix = self.fixes[index]
            if fix.takes_back:
                found.append(self._taken_back(change, fix))
                continue
            spots = self._spots(change, number, files, fix)
            if spots:
                found += self._comments(change, fix, spots)
        return tuple(found)

    def _spots(
        self, change: LandedChange, number: int, files: Sequence[ChangedFile], fix: FoundFix
    ) -> tuple[Spot, ...]:
        trace = self.tracer.recall(fix.landed)
        gone = texts(files, "-")
        placed: dict[str, dict[int, Inducing]] = {}
        hits = 0  # may be more than places: two blamed lines can stand in one
        for line, owner, reason in self.tracer.lines(trace, fix):
            if owner != number or reason:
                continue
            if line.commit == change.landed != change.head:
                self.skipped["written in the merge itself"] += 1
                continue
            at = self._at_head(change, line)
            text = None if at is None else new_text(files, *at)
            if at is None:
                self.skipped["changed again before the head of its branch"] += 1
            elif text is None:
                self.skipped["not among the lines that the change adds"] += 1
            elif normal(text) in gone and len(normal(text)) >= _SHORT:
                self.skipped["only moved by the change"] += 1
            elif why := self._not_its_words(files, at, line):
                self.skipped[why] += 1
            else:
                placed.setdefault(at[0], {})[at[1]] = line
                hits += 1
        if why := self._aside(fix, [line for lines in placed.values() for line in lines.values()]):
            self.skipped[why] += hits
            return ()
        spots = [
            Spot(
                Span(path=path, start=first, end=last),
                tuple(line for at, line in sorted(lines.items()) if first <= at <= last),
            )
            for path, lines in sorted(placed.items())
            for first, last in runs(list(lines))
        ]
        if len(spots) > self.most_places:
            self.skipped[f"of a fix that touches more than {self.most_places} places of one change"] += hits
            return ()
        self.placed += hits
        return tuple(spots)

    def _not_its_words(self, files: Sequence[ChangedFile], at: tuple[str, int], line: Inducing) -> str:
        """Why the fix changed in this line what others had written; empty where it changed what the change wrote."""
        fix = self._diff(f"{line.fix}^", line.fix)
        if len(normal(line.text)) >= _SHORT and normal(line.text) in texts(fix, "+"):
            return "only moved by the fix"
        mended = touched_at(fix, line.fix_path, line.fix_line, Side.OLD)
        brought = touched_at(files, *at, Side.NEW)
        if mended is None or brought is None:
            return ""
        return brought_what_was_mended(held_against_deleted(brought, files), mended)

    def _aside(self, fix: FoundFix, lines: Sequence[Inducing]) -> str:
        """Why the lines of one change are too small a part of what a fix does for its text to be about them."""
        files = self._diff(f"{fix.landed}^", fix.landed)
        out, into = words_changed(files, lambda path, text: not not_product(path) and not trivial(text))
        touched = [touched_at(files, line.fix_path, line.fix_line, Side.OLD) for line in lines]
        taken = sum(len(one.changed) for one in touched if one is not None)
        given = sum(one.inserted for one in touched if one is not None)
        if not self.strict or not lines or not out + into:
            return ""
        if taken + given < _CORE * (out + into):
            return "beside what the fix does: nearly all of it is elsewhere, or new lines"
        return "beside what the fix does: most of what it takes out is elsewhere" if taken < _PART * out else ""

    def _at_head(self, change: LandedChange, line: Inducing) -> tuple[str, int] | None:
        """Where the line stands at the head: its commit's own number, carried through what the branch did after it."""
        if line.commit == change.head:
            return line.path, line.line
        try:
            return forward(self._diff(line.commit, change.head), line.path, line.line)
        except UserError:
            return None

    def _comments(self, change: LandedChange, fix: FoundFix, spots: Sequence[Spot]) -> list[Comment]:
        mended = self.tracer.store.get(fix.number)
        first = f"fix-{fix.landed[:12]}"
        made: list[Comment] = []
        for count, spot in enumerate(spots, 1):
            evidence, after = self._evidence(mended, spot)
            made.append(
                Comment(
                    id=first if count == 1 else f"{first}-{count}",
                    body=self._body(mended),
                    span=spot.span,
                    category="defect",
                    created=mended.landed_at,
                    same_as=None if count == 1 else first,
                    resolution=Resolution(commit=fix.landed, snippet=after or None),
                    extra={
                        "fix": fix.landed,
                        "fix_diff": evidence,
                        "days": _days(change, fix),
                        "szz": sorted({line.reason for line in spot.lines}),
                    },
                )
            )
        return made

    def _taken_back(self, change: LandedChange, fix: FoundFix) -> Comment:
        mended = self.tracer.store.get(fix.number)
        return Comment(
            id=f"fix-{fix.landed[:12]}",
            body=self._body(mended),
            category="defect",
            created=mended.landed_at,
            resolution=Resolution(commit=fix.landed),
            extra={"fix": fix.landed, "days": _days(change, fix), "szz": ["the fix takes back the change as a whole"]},
        )

    def _body(self, mended: LandedChange) -> str:
        return without_ids(own_text(fix_text(mended)))[:_LONGEST_BODY]

    def _evidence(self, mended: LandedChange, spot: Spot) -> tuple[str, str]:
        """(the fix's hunks that change these lines, the lines after it)."""
        try:
            files = self._diff(self.tracer.recall(mended.landed).parent, mended.landed)
        except UserError:
            return "", ""
        wanted = {(line.fix_path, line.fix_line) for line in spot.lines}
        hunks = [
            (file.path, hunk)
            for file in files
            if file.patch
            for hunk in parse_patch(file.patch)
            if any(
                (file.old_path or file.path) == path and hunk.old_start <= at < hunk.old_start + hunk.old_count
                for path, at in wanted
            )
        ]
        evidence = "\n".join(f"{path}\n{_text(hunk)}" for path, hunk in hunks)
        after = "\n".join(one.text for _, hunk in hunks for one in hunk.lines if one.kind != "-")
        return evidence[:_LONGEST_EVIDENCE], after[:_LONGEST_SNIPPET]


def _text(hunk: Hunk) -> str:
    head = f"@@ -{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@"
    return "\n".join([head, *(one.kind + one.text for one in hunk.lines)])


def _days(change: LandedChange, fix: FoundFix) -> float:
    return max(0.0, round((fix.landed_at - change.landed_at).total_seconds() / _DAY, 1))
