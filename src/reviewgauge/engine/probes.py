"""Reviews whose quality is known, with which `reviewgauge doctor` tests a metric.

Probes see the answers, so they are functions of a Case and never plug-ins (design decision 1). Each is deterministic.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path

from reviewgauge.core.records import Anchoring, Case, Change, Comment, Origin, Review, Side, Span, findings
from reviewgauge.repo.diff.diffs import parse_patch

Probe = Callable[[Case], Review]
PARROT = "Please double-check this part: consider adding tests, handling errors and improving readability."
PADDING = "is wrong: the behaviour differs from what callers expect, and nobody will notice until production."
LONG = 3_000  # characters of the lines that are told back
FAR = 1000  # lines below the last line that anything is known about


def as_comment(name: str, reference: Comment, **changes: object) -> Comment:
    """The reference as a reviewer's comment, with an id that does not give it away."""
    kept = {
        field: getattr(reference, field)
        for field in ("body", "span", "quote", "category", "severity", "needs", "suggestion")
    }
    place = Anchoring.NONE if reference.span is None else Anchoring.UNCHECKED
    return Comment.model_validate({"id": name, "anchoring": place, **kept, **changes})


def review_of(case: Case, system: str, comments: Sequence[Comment]) -> Review:
    """A review with these comments."""
    return Review(case=case.id, system=system, comments=tuple(comments))


def oracle(case: Case) -> Review:
    """Each finding once, in the words of its first phrasing."""
    return review_of(case, "oracle", [as_comment(f"o{n}", reference) for n, reference in enumerate(_first(case))])


def oracle_all(case: Case) -> Review:
    """Each finding in every phrasing: all but one of a group are repetitions."""
    return review_of(
        case, "oracle_all", [as_comment(f"o{n}", reference) for n, reference in enumerate(case.references)]
    )


def silent(case: Case) -> Review:
    """No comment."""
    return review_of(case, "silent", [])


def parrot(case: Case) -> Review:
    """The same empty words on every hunk of the change; once, without a place, where no diff is at hand."""
    places = _hunk_places(case.change) or [None]
    return review_of(case, "parrot", [_place_comment(f"p{n}", PARROT, place) for n, place in enumerate(places)])


def greeting(case: Case) -> Review:
    """A comment that says nothing, and not where."""
    return review_of(case, "greeting", [_place_comment("g0", "Hi!", None)])


def restating(case: Case) -> Review:
    """What the change holds, told back: title and names, its lines, and the same on its largest hunk, with padding.

    Nothing says what is wrong.
    """
    change = case.change
    hunks = [(file.path, hunk) for file in change.files for hunk in parse_patch(file.patch or "")]
    added = [(path, lines) for path, hunk in hunks if (lines := [line for line in hunk.lines if line.kind == "+"])]
    text = "\n".join(line.text for _, lines in added for line in lines)
    names = " ".join(name for name, _ in Counter(re.findall(r"[A-Za-z_]\w{2,}", text)).most_common(12))
    about = Path(change.files[0].path).stem if change.files else "change"
    told = [_place_comment("t0", f"fix({about}): fixed {change.title} {names}", None)]
    if added:
        path, lines = max(added, key=lambda one: sum(len(line.text) for line in one[1]))
        place = Span(path=path, start=lines[0].new, end=lines[:3][-1].new)
        told.append(_place_comment("t1", text[:LONG], None))
        told.append(_place_comment("t2", f"{change.title} {names} {PADDING}", place))
    return review_of(case, "restating", told)


def wrong_line(case: Case) -> Review:
    """The oracle's words in the right files, far below every line that is known of."""
    known = (*case.references, *case.neutral, *case.rejected)
    last = max((c.span.end for c in known if c.span is not None and c.span.end is not None), default=0)
    comments = []
    for comment in oracle(case).comments:
        span = comment.span
        if span is not None and span.start is not None and span.end is not None:
            moved = {"start": span.start + last + FAR, "end": span.end + last + FAR}
            span = span.model_copy(update=moved)
        comments.append(comment.model_copy(update={"span": span}))
    return review_of(case, "wrong_line", comments)


def shuffled(cases: Sequence[Case]) -> Probe:
    """The findings of another change, places and all."""
    donors = _donors(cases)

    def probe(case: Case) -> Review:
        comments = oracle(donors[case.id]).comments if case.id in donors else ()
        return review_of(case, "shuffled", comments)

    return probe


def shuffled_in_place(cases: Sequence[Case]) -> Probe:
    """The words of another change's findings on the places of this change's: only a reader of words can tell."""
    donors = _donors(cases)

    def probe(case: Case) -> Review:
        if case.id not in donors:
            return review_of(case, "shuffled_in_place", [])
        words = [finding.body for finding in _first(donors[case.id])]
        mine = oracle(case).comments
        comments = [_place_comment(f"s{n}", words[n % len(words)], comment.span) for n, comment in enumerate(mine)]
        return review_of(case, "shuffled_in_place", comments)

    return probe


def wordless(case: Case) -> Review:
    """The same empty words on the lines of each finding: only the place is right."""
    placed = [one.span for one in _first(case) if one.span is not None and one.span.start is not None]
    return review_of(case, "wordless", [_place_comment(f"e{n}", PARROT, span) for n, span in enumerate(placed)])


def suggesting(case: Case) -> Review:
    """What the fix behind each finding put in, as a reviewer would propose it there, and nothing of its message."""
    comments = []
    for n, finding in enumerate(_first(case)):
        diff = (finding.resolution.diff if finding.resolution else None) or ""
        lines = [line[1:].strip() for line in diff.split("\n") if line[:1] == "+"]
        if lines and finding.origin in (Origin.FIX, Origin.INJECTED):
            comments.append(_place_comment(f"g{n}", f"This should rather be: {' '.join(lines)}", finding.span))
    return review_of(case, "suggesting", comments)


def mixed(cases: Sequence[Case]) -> Probe:
    """A middling reviewer: every other finding of the change, and as many of another change."""
    donors = _donors(cases)

    def probe(case: Case) -> Review:
        right = _first(case)[::2]
        wrong = _first(donors[case.id]) if case.id in donors else []
        comments = [as_comment(f"m{n}", reference) for n, reference in enumerate(right)]
        comments += [as_comment(f"w{n}", reference) for n, reference in enumerate(wrong[: max(1, len(right))])]
        return review_of(case, "mixed", comments)

    return probe


def mixed_spam(cases: Sequence[Case], times: int = 5) -> Probe:
    """The middling reviewer, who repeats what was right (and only that) `times` times: bait for a careless metric."""
    middling = mixed(cases)

    def probe(case: Case) -> Review:
        comments: list[Comment] = []
        for comment in middling(case).comments:
            comments.append(comment)
            if comment.id.startswith("m"):
                comments += [comment.model_copy(update={"id": f"{comment.id}-{k}"}) for k in range(1, times)]
        return review_of(case, "mixed_spam", comments)

    return probe


def reworded(case: Case) -> tuple[Case, Review] | None:
    """The findings that the data holds in two phrasings: the second is predicted, the others are the references.

    None where no finding has another phrasing. The case keeps only the findings in question, so that its recall is
    the share of them that was recognised in other words.
    """
    references: list[Comment] = []
    comments: list[Comment] = []
    for group in findings(case.references):
        other = next((member for member in group[1:] if member.body != group[0].body), None)
        if other is None:
            continue
        rest = [member for member in group if member.id != other.id and member.body != other.body]
        references.append(rest[0].model_copy(update={"same_as": None}))
        references += [member.model_copy(update={"same_as": rest[0].id}) for member in rest[1:]]
        comments.append(as_comment(f"r{len(comments)}", other))
    if not comments:
        return None
    return case.model_copy(update={"references": tuple(references)}), review_of(case, "reworded", comments)


def _first(case: Case) -> list[Comment]:
    """The first phrasing of each finding."""
    return [group[0] for group in findings(case.references)]


def _place_comment(name: str, body: str, place: Span | None) -> Comment:
    anchoring = Anchoring.NONE if place is None else Anchoring.UNCHECKED
    return Comment(id=name, body=body, span=place, anchoring=anchoring)


def _hunk_places(change: Change) -> list[Span | None]:
    places: list[Span | None] = []
    for file in change.files:
        for hunk in parse_patch(file.patch or ""):
            if hunk.new_count:
                places.append(Span(path=file.path, start=max(1, hunk.new_start)))
            else:
                old = file.old_path or file.path
                places.append(Span(path=old, start=max(1, hunk.old_start), side=Side.OLD))
    return places


def _donors(cases: Sequence[Case]) -> dict[str, Case]:
    """For each case with references another such case, of another repository where there is one.

    The order is drawn from a hash of the ids, so neighbours in the data set are not neighbours here.
    """
    with_references = [case for case in cases if case.references]
    drawn = sorted(with_references, key=lambda case: hashlib.sha256(case.id.encode()).digest())
    donors: dict[str, Case] = {}
    for at, case in enumerate(drawn):
        others = (drawn[(at + step) % len(drawn)] for step in range(1, len(drawn)))
        first = next(others, None)
        if first is not None:
            here = case.change.repo
            donors[case.id] = next((other for other in chain((first,), others) if other.change.repo != here), first)
    return donors
