"""Changes as the report shows them: references and comments once, with their results, beside the marked diff lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from reviewgauge.core.records import Anchoring, Case, ChangedFile, Comment, Side, Span, findings
from reviewgauge.core.results import CommentState, GroupOutcome, Matching, Outcome, Pair, Score
from reviewgauge.repo.diff.diffs import DiffLine, Hunk, parse_patch
from reviewgauge.views.terminal import figures

AROUND = 4  # lines shown before and after a marked line
LONGEST = 400  # characters of a code line before it is cut


@dataclass(frozen=True)
class Mark:
    """A reference (with an excerpt) or a system's comment at a location."""

    span: Span
    state: str
    anchor: str
    name: str
    excerpt: str


@dataclass
class LineView:
    """One line of a diff, or (kind `gap`) omitted lines."""

    kind: str
    old: int | None
    new: int | None
    text: str
    marks: list[Mark] = field(default_factory=list)


@dataclass
class FileView:
    """The shown lines of one file."""

    path: str
    old_path: str | None
    marks: list[Mark]  # about the file as a whole
    lines: list[LineView]


def show_files(files: Sequence[ChangedFile], marks: Iterable[Mark]) -> tuple[list[FileView], int]:
    """(the files and lines with marks, the number of hunks without one)."""
    by_path: dict[str, list[Mark]] = {}
    for mark in marks:
        by_path.setdefault(mark.span.path, []).append(mark)
    views: list[FileView] = []
    hidden = 0
    for file in files:
        if file.patch is None:
            continue
        about = by_path.get(file.path, [])
        if file.old_path and file.old_path != file.path:
            about = [*about, *(m for m in by_path.get(file.old_path, []) if m.span.side == Side.OLD)]
        hunks = parse_patch(file.patch)
        lines: list[LineView] = []
        for hunk in hunks:
            shown = list(_show_hunk(hunk, about))
            hidden += not shown
            lines += shown
        whole = [m for m in about if m.span.start is None]
        if lines or whole:
            views.append(FileView(file.path, file.old_path, whole, lines))
    return views, hidden


def _show_hunk(hunk: Hunk, about: Sequence[Mark]) -> Iterator[LineView]:
    placed: dict[int, list[Mark]] = {}
    for mark in about:
        at = _last_line(hunk.lines, mark.span)
        if at is not None:
            placed.setdefault(at, []).append(mark)
    if not placed:
        return
    keep = {line for at, marks in placed.items() for line in _window(hunk.lines, at, marks)}
    yield LineView("head", None, None, f"@@ -{hunk.old_start} +{hunk.new_start} @@ {hunk.heading}".rstrip())
    skipped = 0
    for at, line in enumerate(hunk.lines):
        if at not in keep:
            skipped += 1
            continue
        if skipped:
            yield LineView("gap", None, None, f"{skipped} lines")
            skipped = 0
        text = line.text if len(line.text) <= LONGEST else line.text[:LONGEST] + "…"
        yield LineView(line.kind, line.old, line.new, text, placed.get(at, []))
    if skipped:
        yield LineView("gap", None, None, f"{skipped} lines")


def _last_line(lines: Sequence[DiffLine], span: Span) -> int | None:
    """The last line of the hunk that the span covers; None if it covers none."""
    if span.start is None or span.end is None:
        return None
    found = None
    for at, line in enumerate(lines):
        number = line.old if span.side == Side.OLD else line.new
        if number is not None and span.start <= number <= span.end:
            found = at
    return found


def _window(lines: Sequence[DiffLine], at: int, marks: Sequence[Mark]) -> range:
    longest = max((m.span.end or 0) - (m.span.start or 0) for m in marks)
    return range(max(0, at - min(longest, 20) - AROUND), min(len(lines), at + AROUND + 1))


ORDER = {state: at for at, state in enumerate((*CommentState, "rejected", "unscored"))}
EXCERPT = 110  # shown characters of a reference beside its diff line


@dataclass(frozen=True)
class CommentView:
    """One comment in its system's column."""

    anchor: str
    comment: Comment
    place: str
    state: str
    reason: str
    evidence: str
    links: tuple[tuple[str, str], ...]  # (anchor, id) of its findings


@dataclass(frozen=True)
class MissView:
    """One finding that a review missed."""

    anchor: str
    group_anchor: str
    group: str
    reason: str
    evidence: str
    nearest: tuple[str, str] | None  # (anchor, id) of the closest comment


@dataclass
class ColumnView:
    """One system's review of one change in one attempt."""

    index: int  # of the system, counted over the report
    system: str
    attempt: int
    anchor: str
    fake: bool = False
    trouble: str = ""
    note: str = ""
    usage: str = ""
    policy: str = ""
    comments: list[CommentView] = field(default_factory=list)
    misses: list[MissView] = field(default_factory=list)
    hits: dict[str, str] = field(default_factory=dict)  # group -> anchor of the credited comment

    @property
    def counts(self) -> Counter[str]:
        """The number of comments in each state; `missed` counts findings."""
        counts = Counter(c.state for c in self.comments)
        counts["missed"] = len(self.misses)
        return +counts


@dataclass
class GroupView:
    """One finding in all its phrasings, and which systems hit it."""

    id: str
    anchor: str
    members: list[tuple[str, str, Comment, str]]  # (anchor, id, reference, place)
    hit: list[tuple[str, str]] = field(default_factory=list)  # (system, anchor)
    missed: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class ChangeView:
    """One change with its references and all reviews."""

    anchor: str
    case: Case
    url: str | None
    groups: list[GroupView]
    columns: list[ColumnView]
    files: list[FileView]
    others: list[tuple[str, Comment, str]]  # (neutral or rejected, comment, place)
    hidden_hunks: int = 0

    @property
    def states(self) -> Counter[str]:
        """States of all comments and findings of all systems."""
        return sum((column.counts for column in self.columns), Counter())


def place_of(span: Span | None, comment: Comment | None = None) -> str:
    """`src/a.py:12-14`, with `(old)` for lines before the change."""
    if span is None:
        claimed = comment.claimed if comment else None
        if claimed is None or not claimed.path:
            return ""
        where = claimed.path + (f":{claimed.start}" if claimed.start else "")
        return f"claimed {where}"
    lines = ""
    if span.start is not None:
        lines = f":{span.start}" if span.start == span.end else f":{span.start}-{span.end}"
    return f"{span.path}{lines}{' (old)' if span.side == 'old' else ''}"


def view_changes(
    cases: Sequence[Case], outcomes: Sequence[Outcome], scores: Sequence[Score], systems: Sequence[str], metric: str
) -> Iterator[ChangeView]:
    """One view for each case, in their order; only scores of `metric` are shown."""
    by_case: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_case.setdefault(outcome.case, []).append(outcome)
    scored = {(s.case, s.system, s.attempt): s for s in scores if s.metric == metric}
    index = {system: at for at, system in enumerate(systems)}
    used: set[str] = set()
    for number, case in enumerate(cases, 1):
        rows = sorted(by_case.get(case.id, []), key=lambda o: (index.get(o.system, len(index)), o.attempt))
        builder = _Builder(number, _slug(case.id, used), case, index)
        yield builder.build(rows, scored)


def _slug(case_id: str, used: set[str]) -> str:
    base = slug = "case-" + (re.sub(r"[^A-Za-z0-9_.-]+", "-", case_id).strip("-") or "x")
    again = 1
    while slug in used:
        again += 1
        slug = f"{base}~{again}"
    used.add(slug)
    return slug


class _Builder:
    """Builds the view of one case."""

    def __init__(self, number: int, anchor: str, case: Case, index: Mapping[str, int]) -> None:
        self.prefix, self.anchor, self.case, self.index = f"k{number}", anchor, case, index
        self.groups: list[GroupView] = []
        self.group_of: dict[str, GroupView] = {}
        at = 0
        for members in findings(case.references):
            rows = []
            for member in members:
                at += 1
                rows.append((f"{self.prefix}r{at}", member.id, member, place_of(member.span, member)))
            group = GroupView(members[0].id, rows[0][0], rows)
            self.groups.append(group)
            self.group_of |= {member.id: group for member in members}

    def build(self, outcomes: Sequence[Outcome], scored: Mapping[tuple[str, str, int], Score]) -> ChangeView:
        columns = []
        for at, outcome in enumerate(outcomes, 1):
            score = scored.get((outcome.case, outcome.system, outcome.attempt))
            column = self._column(f"{self.prefix}s{at}", outcome, score)
            columns.append(column)
            self._note_hits(column)
        files, hidden = show_files(self.case.change.files, self._marks(columns))
        others = [(kind, c, place_of(c.span, c)) for kind in ("neutral", "rejected") for c in getattr(self.case, kind)]
        url = figures.web_url(self.case.change.url)
        return ChangeView(self.anchor, self.case, url, self.groups, columns, files, others, hidden)

    def _column(self, anchor: str, outcome: Outcome, score: Score | None) -> ColumnView:
        index = self.index.get(outcome.system, len(self.index))
        column = ColumnView(index, outcome.system, outcome.attempt, anchor)
        review = outcome.review
        if outcome.failure is not None:
            column.trouble = f"The review failed ({outcome.failure.kind}): {outcome.failure.message}"
        if score is not None and score.failure is not None:
            column.trouble = f"Scoring failed ({score.failure.kind}): {score.failure.message}"
        if review is None:
            return column
        column.fake = review.fake or bool(score and score.fake)
        column.usage = _usage(outcome)
        matching = score.matching if score else None
        if matching is None and not column.trouble:
            column.note = (score.reason if score else "") or "Not scored."
        elif score and score.reason:
            column.note = score.reason
        comments = list(_by_outcome(review.comments, matching))
        anchors = {comment.id: f"{anchor}c{at}" for at, comment in enumerate(comments, 1)}
        column.policy = matching.policy if matching else ""
        column.comments = list(self._comments(comments, matching, anchors))
        column.comments.sort(key=lambda view: ORDER[view.state])
        if matching:
            column.misses, column.hits = self._findings(anchor, matching, anchors)
        return column

    def _comments(
        self, comments: Iterable[Comment], matching: Matching | None, anchors: Mapping[str, str]
    ) -> Iterator[CommentView]:
        states = {o.comment: o for o in matching.comments} if matching else {}
        credited: dict[str, list[str]] = {}
        for outcome in matching.groups if matching else ():
            for comment_id in outcome.comments:
                credited.setdefault(comment_id, []).append(outcome.group)
        pairs = {(p.comment, p.reference): p for p in matching.pairs} if matching else {}
        for comment in comments:
            found = states.get(comment.id)
            groups = credited.get(comment.id, []) if found and found.state == CommentState.MATCHED else []
            if found and found.group is not None and found.group not in groups:
                groups = [*groups, found.group]
            state = "unscored" if found is None else "rejected" if found.rejected else str(found.state)
            yield CommentView(
                anchors[comment.id],
                comment,
                place_of(comment.span, comment),
                state,
                found.reason if found else "",
                "; ".join(filter(None, (self._evidence(pairs, comment.id, g) for g in groups))),
                tuple((self.group_of[g].anchor, self.group_of[g].id) for g in groups if g in self.group_of),
            )

    def _evidence(self, pairs: Mapping[tuple[str, str], Pair], comment: str, group: str) -> str:
        members = [row[1] for row in self.group_of[group].members] if group in self.group_of else [group]
        known = [pairs[comment, member] for member in members if (comment, member) in pairs]
        best = max(known, key=lambda p: p.verdict.probability if p.verdict else -1, default=None)
        return _evidence(best) if best else ""

    def _findings(
        self, anchor: str, matching: Matching, anchors: Mapping[str, str]
    ) -> tuple[list[MissView], dict[str, str]]:
        pairs = {(p.comment, p.reference): p for p in matching.pairs}
        misses, hits = [], {}
        for at, outcome in enumerate(matching.groups, 1):
            group = self.group_of.get(outcome.group)
            if outcome.hit:
                hits[outcome.group] = next((anchors[c] for c in outcome.comments if c in anchors), anchor)
                continue
            misses.append(self._miss(f"{anchor}m{at}", outcome, group, pairs, anchors))
        return misses, hits

    def _miss(
        self,
        anchor: str,
        outcome: GroupOutcome,
        group: GroupView | None,
        pairs: Mapping[tuple[str, str], Pair],
        anchors: Mapping[str, str],
    ) -> MissView:
        near = outcome.nearest
        nearest = (anchors[near], near) if near is not None and near in anchors else None
        evidence = self._evidence(pairs, near, outcome.group) if near is not None else ""
        shown = group.id if group else outcome.group
        return MissView(anchor, group.anchor if group else anchor, shown, outcome.reason, evidence, nearest)

    def _note_hits(self, column: ColumnView) -> None:
        name = column.system + (f" #{column.attempt}" if column.attempt > 1 else "")
        for group_id, anchor in column.hits.items():
            if group_id in self.group_of:
                self.group_of[group_id].hit.append((name, anchor))
        for miss in column.misses:
            if miss.group in self.group_of:
                self.group_of[miss.group].missed.append((name, miss.anchor))

    def _marks(self, columns: Sequence[ColumnView]) -> Iterator[Mark]:
        for group in self.groups:
            for anchor, name, reference, _ in group.members:
                if reference.span is not None:
                    excerpt = " ".join(reference.body.split())
                    excerpt = excerpt if len(excerpt) <= EXCERPT else excerpt[: EXCERPT - 1] + "…"
                    yield Mark(reference.span, "reference", anchor, name, excerpt)
        for column in columns:
            name = column.system + (f" #{column.attempt}" if column.attempt > 1 else "")
            for view in column.comments:
                if view.comment.span is not None:
                    yield Mark(view.comment.span, view.state, view.anchor, name, "")


def _by_outcome(comments: Sequence[Comment], matching: Matching | None) -> Iterator[Comment]:
    """The comments; one with several counted points (`comment#1`, `comment#2`) once for each point."""
    known = {comment.id for comment in comments}
    points: dict[str, list[str]] = {}
    for outcome in matching.comments if matching else ():
        if outcome.comment not in known:
            points.setdefault(outcome.comment.rpartition("#")[0], []).append(outcome.comment)
    for comment in comments:
        if own := points.get(comment.id):
            yield from (comment.model_copy(update={"id": name}) for name in own)
        else:
            yield comment


def _evidence(pair: Pair) -> str:
    parts = []
    if pair.verdict is not None:
        parts.append(
            f"probability {figures.number(pair.verdict.probability)}{' (unsure)' if pair.verdict.unsure else ''}"
        )
        if pair.verdict.reason:
            parts.append(pair.verdict.reason)
        parts += [f"{vote.rater}: {_vote(vote.value)}" for vote in pair.verdict.votes]
    if pair.distance is not None:
        plural = "" if pair.distance == 1 else "s"
        parts.append("same lines" if pair.distance == 0 else f"{pair.distance} line{plural} apart")
    elif pair.same_path is False:
        parts.append("another file")
    return ", ".join(parts)


def _vote(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _usage(outcome: Outcome) -> str:
    usage = outcome.review.usage if outcome.review else None
    if usage is None:
        return ""
    parts = []
    if usage.tokens_in or usage.tokens_out:
        parts.append(f"{usage.tokens_in + usage.tokens_out:,} tokens")
    if usage.dollars is not None:
        parts.append(f"${usage.dollars:.4f}")
    if usage.seconds:
        parts.append(f"{usage.seconds:.1f} s")
    return " · ".join(parts)


def anchoring_words(comment: Comment) -> str:
    """A note on an unusual location of the comment; empty for a usual one."""
    words = {
        Anchoring.INVALID: "its location does not exist in the change",
        Anchoring.OUTSIDE: "its location is outside the changed lines",
        Anchoring.RENAMED: "placed through the file's other name",
        Anchoring.DIFF_LINE: "its number counted lines of the diff",
        Anchoring.QUOTE: "placed by its quote",
    }
    return words.get(comment.anchoring, "") if comment.anchoring else ""
