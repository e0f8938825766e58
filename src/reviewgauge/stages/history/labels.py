"""Labels: reference comments made from fixes, on the lines of the change under review that a fix had to change.

How likely a label holds: a logistic model of five signs, which `benchmarks/labels.py` fits to labels read by hand.

A fix mends what it changes; whether the change under review brought that is another question. It mostly did where the
fix is small, comes soon, changes tests and no line that yet another change brought, and where the code around stayed as
it was until the fix (nobody else broke it).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from typing import NamedTuple

from reviewgauge.core.errors import UserError
from reviewgauge.core.records import ChangedFile, Comment, Origin, Resolution, Side, Span, Tier
from reviewgauge.repo.diff.diffs import Hunk, line_runs, normal, parse_patch
from reviewgauge.repo.history.fix_messages import FixKind
from reviewgauge.repo.history.landed_changes import LandedChange, own_text, without_ids
from reviewgauge.repo.syntax.languages import is_test, not_product
from reviewgauge.repo.szz.skipping import BESIDE, INSIDE
from reviewgauge.repo.szz.trace import Inducing
from reviewgauge.stages.history.fixes import FixTracer, FoundFix, fix_text
from reviewgauge.stages.history.lines import (
    adds_option,
    as_edit_of_deleted,
    forward,
    new_text,
    origin_problem,
    respells,
    says_the_same,
    texts,
    touched_at,
)

_LONGEST_EVIDENCE = 4000  # characters of a fix's hunks
_LONGEST_SNIPPET = 2000
_LONGEST_BODY = 2000
MAY_BE = "may_be_a_fix"  # in `Comment.extra`: the message of the fix does not say so surely
_SHORT = 8  # characters of a line, without blanks, from which on a moved line is recognised


_AROUND = 10  # lines before and after a labelled one


class LabelFeatures(NamedTuple):
    """What speaks for a label and against it.

    `changed`: the logarithm of the lines of product code that the fix adds and takes away, plus one. `stayed`: the
    share of the lines around that the file still had just before the fix. `others`: the logarithm of the number of
    other changes that brought lines which the fix changes, plus one. `tests`: 1 where the fix changes tests. `days`:
    the logarithm of the days from the change to the fix, plus one.
    """

    changed: float
    stayed: float
    others: float
    tests: float
    days: float


class LabelledPlace(NamedTuple):
    """A labelled line: its number at the head of the change, its file there and just before the fix."""

    at: int
    head: str
    fixed: str


INTERCEPT = 1.048
WEIGHTS = LabelFeatures(changed=-0.398, stayed=1.567, others=-1.395, tests=0.495, days=-0.216)


def probability(signs: LabelFeatures) -> float:
    """How likely a person who reads change, lines and fix says that a label with such signs holds."""
    return 1 / (1 + math.exp(-INTERCEPT - sum(weight * sign for weight, sign in zip(WEIGHTS, signs, strict=True))))


def label_features(
    fix: Sequence[ChangedFile], places: Sequence[LabelledPlace], others: int, days: float
) -> LabelFeatures:
    """The features of a label: `fix` is the diff of a fix `days` after the change.

    `others` counts the other changes that brought what the fix changes.
    """
    product = [line for file in fix if not not_product(file.path) for kind in "-+" for line in _lines(file, kind)]
    return LabelFeatures(
        math.log1p(len(product)),
        sum(map(_stayed, places)) / len(places),
        math.log1p(others),
        float(any(is_test(file.path) for file in fix)),
        math.log1p(max(0.0, days)),
    )


def _lines(file: ChangedFile, kind: str) -> list[str]:
    return [line.text for hunk in parse_patch(file.patch or "") for line in hunk.lines if line.kind == kind]


def _stayed(place: LabelledPlace) -> float:
    lines, later = place.head.split("\n"), {normal(line) for line in place.fixed.split("\n")}
    around = [text for line in lines[max(0, place.at - 1 - _AROUND) : place.at + _AROUND] if (text := normal(line))]
    return sum(text in later for text in around) / max(1, len(around))


@dataclass(frozen=True, slots=True)
class DiffedChange:
    """A change with its diff. `number` is its number in the store, `fixes` are indexes of the fixes of it."""

    number: int
    change: LandedChange
    files: tuple[ChangedFile, ...]
    fixes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelledLines:
    """Some lines at the head of a change that a fix had to change, with the lines that say so.

    `signs` are those of the label that they are a part of; `beside`: its fix only adds lines beside or around them.
    """

    span: Span
    lines: tuple[Inducing, ...]
    signs: LabelFeatures
    beside: bool


class OfferedLabel(NamedTuple):
    """A label that one certainty or another lets in: the number and the year of its change, how likely it holds."""

    change: int
    year: int
    holds: float


@dataclass
class Labeller:
    """Makes the references of one change after the other.

    A label that holds with a probability below `certainty` is left out; `offered` are those, too. `placed` counts the
    blamed lines that are in a label, `skipped` the others by reason.
    """

    tracer: FixTracer
    fixes: Sequence[FoundFix]
    most_places: int
    certainty: float = 0.0
    skipped: Counter[str] = field(default_factory=Counter)
    offered: list[OfferedLabel] = field(default_factory=list)
    placed: int = 0

    def __post_init__(self) -> None:
        """Remember the diffs that several lines ask for."""
        self._diff = lru_cache(maxsize=64)(self.tracer.memory.files)

    def references(self, found: DiffedChange) -> tuple[Comment, ...]:
        """The findings of the fixes of a change. Raises UserError where code cannot be read."""
        references: dict[object, list[Comment]] = {}
        for fix in (self.fixes[index] for index in found.fixes):
            groups = [None] if fix.is_revert else self._groups(found, fix)
            made = [self._comment(found.change, fix, group, number) for number, group in enumerate(groups, 1)]
            if made:  # the same fix may land twice: in a branch and with its merge, or on two lines of development
                references.setdefault(_what_was_mended(made) or fix.commit.id, made)
        return tuple(one for made in references.values() for one in made)

    def _groups(self, found: DiffedChange, fix: FoundFix) -> list[LabelledLines]:
        """The lines of the change that the fix had to change, neighbours together; none where they say too little."""
        placed = self._place(found, fix)
        by_path: dict[str, dict[int, Inducing]] = {}
        for path, at, line in placed:
            by_path.setdefault(path, {})[at] = line
        why = self._aside(found, fix, [line for lines in by_path.values() for line in lines.values()])
        if why or not placed:
            self.skipped[why] += len(placed)
            return []
        signs = self._signs(found, fix, placed)
        beside = all(line.reason in (BESIDE, INSIDE) for _, _, line in placed)
        groups = [
            LabelledLines(
                Span(path=path, start=first, end=last),
                tuple(line for at, line in sorted(lines.items()) if first <= at <= last),
                signs,
                beside,
            )
            for path, lines in sorted(by_path.items())
            for first, last in line_runs(lines, gap=2)
        ]
        if len(groups) > self.most_places:
            self.skipped[f"of a fix that touches more than {self.most_places} places of one change"] += len(placed)
            return []
        if fix.kind is FixKind.YES and not beside:
            self.offered.append(OfferedLabel(found.number, found.change.commit.committed.year, probability(signs)))
        if probability(signs) < self.certainty:
            self.skipped["of a label that is too likely to be wrong"] += len(placed)
            return []
        self.placed += len(placed)
        return groups

    def _place(self, found: DiffedChange, fix: FoundFix) -> list[tuple[str, int, Inducing]]:
        """(path, line at the head, blamed line) of each blamed line that the change wrote; a place may occur twice."""
        change, files = found.change, found.files
        gone = texts(files, "-")
        placed: list[tuple[str, int, Inducing]] = []
        for line, owner, reason in self._blamed(fix):
            if owner != found.number or reason:
                continue
            if line.commit == change.commit.id != change.head:
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
                placed.append((*at, line))
        return placed

    def _not_its_words(self, files: Sequence[ChangedFile], at: tuple[str, int], line: Inducing) -> str:
        """Why the fix changed in this line what others had written; empty where it changed what the change wrote."""
        fix = self._diff(f"{line.fix}^", line.fix)
        if len(normal(line.text)) >= _SHORT and normal(line.text) in texts(fix, "+"):
            return "only moved by the fix"
        fixed = touched_at(fix, line.fix_path, line.fix_line, Side.OLD)
        brought = touched_at(files, *at, Side.NEW)
        if fixed is None or brought is None:
            return ""
        if respells(line.text, fixed):
            return "the fix only spells a text in another way"
        if says_the_same(line.text, fix, line.fix_path, line.fix_line):
            return "the fix only gives a part of the line a name"
        words = {fixed.tokens[at] for at in fixed.changed or fixed.beside}
        if line.through and words.isdisjoint(brought.tokens):
            return "what the fix changed came into the line later"
        return origin_problem(as_edit_of_deleted(brought, files), fixed)

    def _aside(self, found: DiffedChange, fix: FoundFix, lines: Sequence[Inducing]) -> str:
        """Why the lines of one change are too small a part of what a fix does for its text to be about them."""
        files = self._diff(f"{fix.commit.id}^", fix.commit.id)
        product = [file for file in files if not not_product(file.path)]
        if fix.bare and adds_option(product):
            return "of a fix that only closes an issue and adds an option: a feature request"
        if lines and self._core_lost(found, fix, files, lines):
            return "the line that the fix changes most is not among them"
        if lines and not self.tracer.beside and all(line.reason == INSIDE for line in lines):
            return "the fix only adds lines beside them"
        return ""

    def _blamed(self, fix: FoundFix) -> Iterator[tuple[Inducing, int | None, str]]:
        return self.tracer.lines(self.tracer.recall(fix.commit.id), fix)

    def _core_lost(
        self, found: DiffedChange, fix: FoundFix, files: Sequence[ChangedFile], lines: Sequence[Inducing]
    ) -> bool:
        """Whether the line in which the fix changes most is not in the label: it was refused, or others wrote it.

        What is left then is beside the point: a label on it would be in the wrong place. Of what others wrote, only
        twice as much counts.
        """
        best = max(sum(_weight(files, line)) for line in lines)
        for line, owner, reason in self._blamed(fix):
            weight = sum(_weight(files, line))
            if not reason and weight > (best if owner == found.number else 2 * best):
                return True
        return False

    def _signs(self, found: DiffedChange, fix: FoundFix, placed: Sequence[tuple[str, int, Inducing]]) -> LabelFeatures:
        """What says how likely a label on these lines holds."""
        before, text_at = f"{fix.commit.id}^", self.tracer.memory.text
        places = [
            LabelledPlace(at, text_at(found.change.head, path), text_at(before, line.fix_path))
            for path, at, line in placed
        ]
        owners = {owner for _, owner, reason in self._blamed(fix) if not reason}
        return label_features(
            self._diff(before, fix.commit.id),
            places,
            len(owners - {found.number, *fix.reverted}),
            _days(found.change, fix),
        )

    def _text(self, fix: FoundFix) -> str:
        """What the fix says, for people."""
        return own_text(fix_text(self.tracer.store.get(fix.number)))

    def _at_head(self, change: LandedChange, line: Inducing) -> tuple[str, int] | None:
        """The place of the line at the head: that in its commit, carried through the later commits of the branch."""
        if line.commit == change.head:
            return line.path, line.line
        try:
            return forward(self._diff(line.commit, change.head), line.path, line.line)
        except UserError:
            return None

    def _comment(
        self, change: LandedChange, fix: FoundFix, group: LabelledLines | None = None, number: int = 1
    ) -> Comment:
        """The finding of a fix at one of its places, counted from 1; without a place it is the whole change."""
        commit, first = fix.commit, f"fix-{fix.commit.id[:12]}"
        evidence, after = self._evidence(fix, group) if group else ("", "")
        perhaps = fix.kind is FixKind.PERHAPS and not fix.is_revert
        why = sorted({line.reason for line in group.lines}) if group else ["the fix takes back the change as a whole"]
        return Comment(
            id=first if number == 1 else f"{first}-{number}",
            body=without_ids(self._text(fix))[:_LONGEST_BODY],
            span=group.span if group else None,
            category="defect",
            created=commit.committed,
            same_as=None if number == 1 else first,
            origin=Origin.FIX,
            tier=Tier.BESIDE if group and group.beside else Tier.TRACED,
            resolution=Resolution(commit=commit.id, snippet=after or None, diff=evidence or None),
            extra={
                "fix": commit.id,
                "days": round(_days(change, fix), 1),
                "szz": [*why],
                **({"signs": [round(sign, 3) for sign in group.signs]} if group else {}),
                **({"holds": round(probability(group.signs), 2)} if group and not perhaps and not group.beside else {}),
                **({MAY_BE: True} if perhaps else {}),
            },
        )

    def _evidence(self, fix: FoundFix, group: LabelledLines) -> tuple[str, str]:
        """(the fix's hunks that change these lines, the lines after it)."""
        try:
            files = self._diff(self.tracer.recall(fix.commit.id).parent, fix.commit.id)
        except UserError:
            return "", ""
        wanted = {(line.fix_path, line.fix_line) for line in group.lines}
        hunks = [
            (file.path, hunk)
            for file in files
            for hunk in parse_patch(file.patch or "")
            if any((file.old_path or file.path, at) in wanted for at in hunk.numbers(Side.OLD))
        ]
        evidence = "\n".join(f"{path}\n{_text(hunk)}" for path, hunk in hunks)
        after = "\n".join(one.text for _, hunk in hunks for one in hunk.lines if one.kind != "-")
        return evidence[:_LONGEST_EVIDENCE], after[:_LONGEST_SNIPPET]


def _days(change: LandedChange, fix: FoundFix) -> float:
    return max(0.0, (fix.commit.committed - change.commit.committed) / timedelta(days=1))


def _what_was_mended(comments: Sequence[Comment]) -> tuple[tuple[Span, str], ...]:
    """The places of a label with the lines that the fix changed there; empty where it has none."""
    return tuple(
        (one.span, "\n".join(line for line in one.resolution.diff.split("\n") if line[:1] in ("+", "-")))
        for one in comments
        if one.span is not None and one.resolution is not None and one.resolution.diff
    )


def _weight(files: Sequence[ChangedFile], line: Inducing) -> tuple[int, int]:
    """How many words a fix takes out of a line, and how many it puts between its words."""
    touched = touched_at(files, line.fix_path, line.fix_line, Side.OLD)
    return (0, 0) if touched is None else (len(touched.changed), touched.inserted)


def _text(hunk: Hunk) -> str:
    return "\n".join([hunk.header, *(one.kind + one.text for one in hunk.lines)])
