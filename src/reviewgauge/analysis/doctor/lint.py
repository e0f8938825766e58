"""Lint of the data, independent of any metric: ids, ranges, duplicates, texts, locations, facts."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

from reviewgauge.core.errors import one_line
from reviewgauge.core.records import Case, Change, Comment, Side, Span
from reviewgauge.core.reports.leaderboard import LintFinding
from reviewgauge.repo.diff.diffs import parse_patch

Level = Literal["error", "warning", "note"]
LONG_BODY = 5_000  # characters
LONG_RANGE = 500  # lines
MANY_CASES = 3  # one text as a reference of so many cases is generic
_SHORT_WORDS = 12  # characters; short texts such as "Nit." recur in good data
_COUNTER = re.compile(r"\D{0,12}\d{1,4}")
_MOJIBAKE = re.compile(
    "Ã[\u0080-\u00bf]|Â[\u0080-\u00bf]|â€[\u0098-\u00a6™œ\u009d\u0093\u0094]|ï»¿|â\u0080[\u0090-\u00bf]"
)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LEVELS: tuple[Level, ...] = ("error", "warning", "note")


def lint(cases: Sequence[Case]) -> list[LintFinding]:
    """Findings in these cases, errors first. The documentation of doctor describes each rule."""
    found = list(_case_ids(cases))
    for case in cases:
        found += _same_as(case)
        found += _repeated(case)
        found += _contradictory(case)
        found += _patches(case)
        found += _places(case)
        found += _verdict(case)
        for comment in _known(case):
            found += _texts(case, comment)
            found += _range(case, comment)
    found += _repeated_everywhere(cases)
    found += _facts(cases)
    return sorted(found, key=lambda finding: _LEVELS.index(finding.level))


def _finding(level: Level, rule: str, case: str, message: str, item: str = "") -> LintFinding:
    return LintFinding(level=level, rule=rule, case=one_line(case), item=one_line(item), message=one_line(message))


def _known(case: Case) -> tuple[Comment, ...]:
    return (*case.references, *case.neutral, *case.rejected)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


# --- ids and facts -------------------------------------------------------------------------------------------------


def _case_ids(cases: Sequence[Case]) -> Iterator[LintFinding]:
    for name, count in Counter(case.id for case in cases).items():
        if count > 1:
            yield _finding("error", "duplicate_id", name, f"{count} cases have this id")
    counted = [comment.id for case in cases for comment in _known(case) if _COUNTER.fullmatch(comment.id)]
    total = sum(len(_known(case)) for case in cases)
    if total and counted:
        first = next(case for case in cases for comment in _known(case) if comment.id == counted[0])
        yield _finding(
            "note",
            "unstable_id",
            first.id,
            f"{len(counted):,} of {total:,} comment ids are counters, which change when a comment is added before them",
            counted[0],
        )


def _facts(cases: Sequence[Case]) -> Iterator[LintFinding]:
    """Facts that only some cases have, or with values of several types: slices by them are incomplete."""
    for fact in sorted({fact for case in cases for fact in case.facts}):
        without = [case.id for case in cases if fact not in case.facts]
        if without:
            yield _finding(
                "warning", "missing_fact", without[0], f"{len(without):,} of {len(cases):,} cases lack it", fact
            )
        kinds = {type(case.facts[fact]).__name__ for case in cases if fact in case.facts}
        if len(kinds) > 1:
            first = next(case.id for case in cases if fact in case.facts)
            yield _finding("warning", "mixed_fact", first, f"is of several types: {', '.join(sorted(kinds))}", fact)


def _verdict(case: Case) -> Iterator[LintFinding]:
    if case.verdict is True and case.references:
        yield _finding(
            "note",
            "verdict",
            case.id,
            f"can be merged as it is, but has {len(case.references)} references",
        )
    if case.verdict is None and not case.references:
        yield _finding(
            "note", "nothing_known", case.id, "no references, and not known to be clean: it cannot be scored"
        )


# --- texts ---------------------------------------------------------------------------------------------------------


def _texts(case: Case, comment: Comment) -> Iterator[LintFinding]:
    body = comment.body
    if not body.strip():
        yield _finding("error", "empty_body", case.id, "is empty", comment.id)
    if len(body) > LONG_BODY:
        yield _finding("warning", "long_body", case.id, f"is {len(body):,} characters long", comment.id)
    if _SURROGATE.search(body):
        yield _finding("error", "encoding", case.id, "has half a surrogate pair, which cannot be stored", comment.id)
    if "\ufffd" in body:
        yield _finding(
            "warning",
            "encoding",
            case.id,
            f"has U+FFFD: {body.count(chr(0xFFFD))} characters are lost",
            comment.id,
        )
    if found := _MOJIBAKE.search(body):
        yield _finding(
            "warning", "encoding", case.id, f"has {found[0]!r}: UTF-8 decoded as another encoding", comment.id
        )
    if found := _CONTROL.search(body):
        yield _finding("warning", "encoding", case.id, f"has the control character U+{ord(found[0]):04X}", comment.id)


def _repeated(case: Case) -> Iterator[LintFinding]:
    """The same text at the same location twice: no review can distinguish the two findings."""
    for kind, comments in (("references", case.references), ("rejected", case.rejected), ("neutral", case.neutral)):
        seen: dict[tuple[str, Span | None], Comment] = {}
        for comment in comments:
            first = seen.setdefault((_plain(comment.body), comment.span), comment)
            if first is not comment and first.id not in (comment.same_as, comment.id):
                yield _finding(
                    "warning", "duplicate", case.id, f"repeats {first.id} at the same location ({kind})", comment.id
                )


def _repeated_everywhere(cases: Sequence[Case]) -> Iterator[LintFinding]:
    where: dict[str, list[tuple[str, Comment]]] = defaultdict(list)
    for case in cases:
        for body, comment in {_plain(comment.body): comment for comment in case.references}.items():
            where[body].append((case.id, comment))
    for body, places in where.items():
        if len(places) >= MANY_CASES and len(body) > _SHORT_WORDS:
            name, comment = places[0]
            message = f'"{one_line(body, 80)}" is a reference of {len(places)} cases'
            yield _finding("warning", "duplicate_everywhere", name, message, comment.id)


def _contradictory(case: Case) -> Iterator[LintFinding]:
    """One text as a reference and as a rejected comment: an error at the same location, else a warning."""
    wrong: dict[str, list[Comment]] = defaultdict(list)
    for comment in case.rejected:
        wrong[_plain(comment.body)].append(comment)
    for reference in case.references:
        for other in wrong.get(_plain(reference.body), ()):
            same = other.span == reference.span
            yield _finding(
                "error" if same else "warning",
                "contradictory",
                case.id,
                f"is a reference, and rejected as {other.id}" + ("" if same else " at another location"),
                reference.id,
            )


def _same_as(case: Case) -> Iterator[LintFinding]:
    """Circles of `same_as`, which should lead to a first phrasing. A circle still counts as one finding."""
    names = {reference.id: reference.same_as for reference in case.references}
    settled: set[str] = set()
    for start in names:
        path: list[str] = []
        at: str | None = start
        while at is not None and at not in settled and at not in path:
            path.append(at)
            at = names.get(at)
        if at is not None and at in path:
            circle = path[path.index(at) :]
            yield _finding("warning", "same_as_cycle", case.id, " -> ".join([*circle, at]), at)
        settled.update(path)


# --- locations-----------------------------------------------------------------------------------------------------


def _range(case: Case, comment: Comment) -> Iterator[LintFinding]:
    span = comment.span
    if span is not None and span.start is not None and span.end is not None and span.end - span.start >= LONG_RANGE:
        yield _finding(
            "warning", "long_range", case.id, f"spans {span.end - span.start + 1:,} lines of {span.path}", comment.id
        )


def _patches(case: Case) -> Iterator[LintFinding]:
    """Patches without a hunk: the file looks unchanged in the diff. Pure renames have no patch."""
    for file in case.change.files:
        if file.patch and file.patch.strip() and not parse_patch(file.patch):
            yield _finding("warning", "patch_without_hunk", case.id, f"the patch of {file.path} has no hunk")


def _places(case: Case) -> Iterator[LintFinding]:
    """References on files and lines outside the diff, where no reader of the diff can find them."""
    if not case.change.files:
        return
    paths = {path for file in case.change.files for path in (file.path, file.old_path) if path}
    for reference in case.references:
        span = reference.span
        if span is None:
            continue
        if span.path not in paths:
            yield _finding("warning", "path_not_in_change", case.id, f"{span.path} is not changed", reference.id)
        elif span.start is not None and span.end is not None:
            ranges = _shown_lines(case.change, span.path, span.side)
            if ranges is not None and not any(span.start <= end and start <= span.end for start, end in ranges):
                where = f"{span.path}:{span.start}-{span.end} ({span.side} side)"
                yield _finding("warning", "outside_diff", case.id, f"{where} is outside all hunks", reference.id)


@lru_cache(maxsize=256)
def _ranges_of(patch: str, side: Side) -> tuple[tuple[int, int], ...]:
    hunks = parse_patch(patch)
    if side is Side.OLD:
        return tuple((hunk.old_start, hunk.old_start + max(0, hunk.old_count - 1)) for hunk in hunks)
    return tuple((hunk.new_start, hunk.new_start + max(0, hunk.new_count - 1)) for hunk in hunks)


def _shown_lines(change: Change, path: str, side: Side) -> list[tuple[int, int]] | None:
    """The line ranges of a file in the diff on one side; None without its patch."""
    files = [file for file in change.files if path in (file.path, file.old_path)]
    if not files or any(file.patch is None for file in files):
        return None
    return [pair for file in files for pair in _ranges_of(file.patch or "", side)]
