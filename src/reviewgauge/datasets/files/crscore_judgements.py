"""The judgements of the CRScore study.

Phase 1: is each generated claim about a change correct, and which were missing? The codes are 1 correct, 0 incorrect,
-1 unverifiable, -2 incomplete, 2 undecided; Table 1 rests on 1, 0 and -1 alone. Phase 2: ten reviews per change, their
ratings, and the claims that each addresses. The list of claims is independent of the review in the same row; `claims
addressed` names claims by their position in that list, from 1.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from reviewgauge.core.json_reader import build
from reviewgauge.core.labels import MISSING_CLAIM, Label, Subject, SubjectKind
from reviewgauge.core.records import Case, Change, ChangedFile, Claim, Comment, Review
from reviewgauge.core.results import Drop
from reviewgauge.datasets.files.crscore_tables import CrscoreRow, Language, Pair

HUMAN = "msg"  # the comment that a person wrote: the reference
DIMENSIONS = {"Con (P)": "con", "Comp (R)": "comp", "Rel (F)": "rel"}
ADDRESSED, NECESSARY = "addressed", "necessary"
AGREEMENT_ROUND = "agreement"
# The reliability test: rows of the files of both raters. The paper's alphas are those of the first range.
AGREEMENT_ROWS = (range(800, 900), range(900, 1000))
_LINKS = re.compile(r"\d{1,4}(\s*,\s*\d{1,4})*")
_AT_LINE = re.compile(r"line (\d{1,6})\b")


class Notes:
    """What was left out or corrected, by reason."""

    def __init__(self) -> None:
        self._items: dict[str, list[str]] = {}

    def add(self, item: str, reason: str) -> None:
        """Add one item."""
        self._items.setdefault(reason, []).append(item)

    def drops(self) -> Iterator[Drop]:
        """One note per reason, with the first items."""
        for reason, items in self._items.items():
            more = f" and {len(items) - 4} more" if len(items) > 4 else ""
            counted = f"{len(items)}: " if len(items) > 1 else ""
            yield Drop(item=f"{counted}{', '.join(items[:4])}{more}", by="crscore_study", reason=reason)


class Block(NamedTuple):
    """One change: its rows, its diff, and its claims in the order that links refer to."""

    id: str
    change: str
    pairs: tuple[Pair, ...]
    diff: str
    claims: tuple[Claim, ...]


def blocks(
    language: Language,
    pairs: Sequence[Pair],
    generated: Mapping[str, Sequence[Claim]],
    added: Mapping[str, set[str]],
    notes: Notes,
) -> Iterator[Block]:
    """The changes of one language. `generated` and `added` are the claims of phase 1 by index of the change."""
    by_case: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_case[pair.row.case].append(pair)
    for index, own in by_case.items():
        diff = own[0].row.text("diff")
        if not diff.startswith("@@"):
            raise own[0].row.error("diff", "does not begin with a hunk header")
        name, known = f"{language.code}-{index}", {claim.body: claim for claim in generated.get(index, ())}
        claims = _claims(name, [pair.row for pair in own], known, added.get(index, set()), notes)
        yield Block(name, index, tuple(own), diff, tuple(claims))


def _claims(
    case: str, rows: Iterable[CrscoreRow], made: Mapping[str, Claim], added: set[str], notes: Notes
) -> Iterator[Claim]:
    listed = [row for row in rows if row.text("claim")]
    for number, row in enumerate(listed, 1):
        body, kind = row.text("claim"), row.word("type")
        if not kind:
            notes.add(f"{case}, claim {number}", "the type is blank: taken as a claim")
        status, source = None, ""
        if known := made.get(body):
            status, source = known.status, known.source
        elif body.strip() in added:
            status, source = "added", "annotator"
        elif kind == "issue":
            source = "analyser"
        else:
            reason = "a claim that phase 1 neither generated nor added: an analyser's issue in a wrong row"
            notes.add(f"{case}, claim {number}", reason)
        at_line = _AT_LINE.match(body)
        line = int(at_line[1]) if at_line and int(at_line[1]) else None
        kind = kind or "claim"
        yield build(Claim, row.at, id=str(number), body=body, kind=kind, source=source, status=status, line=line)


def case_of(language: Language, block: Block, claims: Sequence[Claim]) -> Case:
    """The case of one change: one hunk, with the person's comment as reference."""
    row = block.pairs[0].row
    path = f"test{block.change}.{language.code}"
    references = [
        build(Comment, pair.row.at, id=HUMAN, body=pair.row.text("review"))
        for pair in block.pairs
        if pair.row.word("system") == HUMAN and pair.row.text("review")
    ]
    change = build(Change, row.at, repo="crscore_study", files=(ChangedFile(path=path, patch=block.diff),))
    return build(
        Case,
        row.at,
        id=block.id,
        change=change,
        references=tuple(references),
        claims=tuple(claims),
        facts={"language": language.name},
    )


def reviews_of(block: Block, notes: Notes) -> Iterator[tuple[str, CrscoreRow, Review]]:
    """(rater, row, review) for each review of a change; a blank one has no comments."""
    seen: set[str] = set()
    for pair in block.pairs:
        row = pair.row
        system = row.word("system").removesuffix("_pred")
        if not system:
            continue  # a row with a claim only
        if system in seen:
            raise row.error("system", f"{system!r} reviewed {block.id} twice")
        seen.add(system)
        body = row.text("review")
        if not body:
            notes.add(f"{block.id} by {system}", "the review is blank: a review without comments")
        comments = (build(Comment, row.at, id="comment", body=body),) if body else ()
        yield pair.rater, row, build(Review, row.at, case=block.id, system=system, comments=comments)


def rating_labels(rater: str, row: CrscoreRow, review: Review, batch: str | None = None) -> list[Label]:
    """The scores of one review, 1 to 5; empty where it was not rated."""
    subject = Subject(kind=SubjectKind.REVIEW, case=review.case, system=review.system)
    scores = {dimension: row.whole(column, 1, 5) for column, dimension in DIMENSIONS.items()}
    return [_label(subject, rater, name, value, batch) for name, value in scores.items() if value is not None]


def link_labels(
    rater: str, row: CrscoreRow, review: Review, claims: Sequence[str], notes: Notes, *, batch: str | None = None
) -> Iterator[Label]:
    """Whether the review addresses each of `claims` (ids): 1, 0, or 0.5 for partly where the table has that column."""
    where = f"{review.case} by {review.system} ({rater})"
    chosen = _numbers(row, "claims addressed", len(claims), where, notes)
    if chosen is None:
        return
    partly = set() if "partial" not in row.cells else _numbers(row, "partial", len(claims), where, notes) or set()
    for number, claim in enumerate(claims, start=1):
        value = 1 if number in chosen else 0.5 if number in partly else 0
        subject = Subject(kind=SubjectKind.LINK, case=review.case, system=review.system, claim=claim)
        yield _label(subject, rater, ADDRESSED, value, batch)


def _numbers(row: CrscoreRow, column: str, claims: int, where: str, notes: Notes) -> set[int] | None:
    """The numbers of the claims in a cell; None where the cell is blank or unreadable."""
    word = row.word(column)
    if word == "-":
        return set()
    if not word:
        return None
    if not _LINKS.fullmatch(word):
        notes.add(where, f"the claims addressed read {word!r:.20}: unreadable, no links")
        return None
    found = {int(number) for number in word.split(",")}
    if outside := sorted(number for number in found if not 1 <= number <= claims):
        notes.add(f"{where}: {', '.join(map(str, outside))} of {claims}", "addresses a claim that is not in the list")
    return found - set(outside)


def necessary_labels(block: Block) -> Iterator[Label]:
    """Whether the rater found each claim necessary: 1 or 0."""
    listed = [pair for pair in block.pairs if pair.row.text("claim")]
    for number, pair in enumerate(listed, 1):
        value = pair.row.whole("necessary?", 0, 1)
        if value is not None:
            subject = Subject(kind=SubjectKind.CLAIM, case=block.id, claim=str(number))
            yield _label(subject, pair.rater, NECESSARY, value)


def agreement_labels(pairs: Sequence[Pair], known: Mapping[str, Block], notes: Notes) -> Iterator[Label]:
    """Both raters' scores and links in the reliability test: round `agreement`, the rows as batch.

    Some of its lists of claims are older than the study's: a claim that is not in the study's list has the id aN, its
    position in the older list.
    """
    claims: dict[str, list[str]] = {}
    for pair in pairs:
        body, block = pair.row.text("claim"), known.get(pair.row.case)
        if not body or block is None:
            continue
        own = claims.setdefault(pair.row.case, [])
        same = next((claim.id for claim in block.claims if claim.body.strip() == body.strip()), None)
        own.append(same or f"a{len(own) + 1}")
    for pair in pairs:
        system = pair.row.word("system").removesuffix("_pred")
        block = known.get(pair.row.case)
        rows = next((rows for rows in AGREEMENT_ROWS if pair.row.number in rows), None)
        if not system or block is None or rows is None:
            continue
        review = Review(case=block.id, system=system)
        batch = f"{rows[0]}-{rows[-1]}"
        for rater, row in pair.copies():
            rated = rating_labels(rater, row, review, batch)
            yield from rated
            if rated:
                yield from link_labels(rater, row, review, claims.get(pair.row.case, []), notes, batch=batch)


def _label(subject: Subject, rater: str, dimension: str, value: float, batch: str | None = None) -> Label:
    agreement = AGREEMENT_ROUND if batch else None
    return Label(subject=subject, rater=rater, dimension=dimension, value=value, batch=batch, round=agreement)


def count_unrated(rated: Counter[str], every: Iterable[Block], systems: Mapping[str, int], notes: Notes) -> None:
    """Note the reviews without a rating, whole changes (dropped from the study) separately."""
    for block in every:
        missing = systems[block.id] - rated[block.id]
        if missing == systems[block.id]:
            notes.add(block.id, "none of its reviews was rated: the paper discards mislabelled changes")
        elif missing:
            notes.add(f"{block.id} ({missing} of {systems[block.id]} reviews)", "not rated")


ACCURACY, ERROR, ERROR_COLUMN = "accuracy", "error", "error type"
_ERROR_NAMES = {"context": "over-generalization"}  # what the paper calls it
WORDS = {1: "correct", 0: "incorrect", -1: "unverifiable", -2: "incomplete", 2: "ambiguous"}
# The rows behind the paper's Cohen's kappa: the last 100 of the 115 that both raters coded.
KAPPA_ROWS = {"py": range(395, 495)}


def claim_counts(pairs: Sequence[Pair]) -> Counter[str]:
    """A language's row of the paper's Table 1, by the rater whose copy counts: claims by WORDS, `uncoded` and `added`.

    Its rates are shares of the correct, incorrect and unverifiable claims.
    """
    codes = (_code(pair, pair.rater) for pair in pairs)
    counts = Counter("uncoded" if code is None else WORDS[code] for code in codes)
    counts["added"] = sum(bool(pair.row.word("additional claims")) for pair in pairs)
    return counts


def coded_claims(pairs: Sequence[Pair]) -> int:
    """How many claims have a code of either rater."""
    return sum(any(_code(pair, rater) is not None for rater, _ in pair.copies()) for pair in pairs)


def generated_claims(pairs: Sequence[Pair]) -> dict[str, list[Claim]]:
    """The generated claims with their status, by index of the change; ids are g1, g2 ..."""
    found: defaultdict[str, list[Claim]] = defaultdict(list)
    for pair in pairs:
        if body := pair.row.text("claim"):
            own, code = found[pair.row.case], _code(pair, pair.rater)
            status = None if code is None else WORDS[code]
            own.append(build(Claim, pair.row.at, id=f"g{len(own) + 1}", body=body, source="model", status=status))
    return found


def accuracy_labels(language: Language, pairs: Sequence[Pair]) -> Iterator[Label]:
    """Codes of the claims that Table 1 counts, by either rater; claims that raters added; kinds of errors.

    Where both coded a claim the labels are independent, and that of Table 1 is the first. Values are words, since the
    numeric codes have no order: they allow neither a mean nor a weighted kappa. Kinds of errors are those of Table 12.
    """
    counted: Counter[str] = Counter()
    batch = KAPPA_ROWS.get(language.code, range(0))
    for pair in pairs:
        case = f"{language.code}-{pair.row.case}"
        if body := pair.row.text("additional claims").strip():
            subject = Subject(kind=SubjectKind.CLAIM, case=case, claim=f"row {pair.row.number}")
            yield Label(subject=subject, rater=pair.rater, dimension=ACCURACY, value=MISSING_CLAIM, reason=body)
        if not pair.row.text("claim"):
            continue
        counted[pair.row.case] += 1
        if _code(pair, pair.rater) is None:
            continue
        subject = Subject(kind=SubjectKind.CLAIM, case=case, claim=f"g{counted[pair.row.case]}")
        rows = f"{batch[0]}-{batch[-1]}" if pair.row.number in batch else None
        for rater, row in sorted(pair.copies(), key=lambda copy: copy[0] != pair.rater):
            if (code := _code(pair, rater)) is not None:
                yield Label(subject=subject, rater=rater, dimension=ACCURACY, value=WORDS[code], batch=rows)
            if kinds := _error_kinds(row):
                yield Label(subject=subject, rater=rater, dimension=ERROR, value=kinds)


def _error_kinds(row: CrscoreRow) -> str:
    """The kinds of error in a cell that only some files have, with commas between; empty for none."""
    if not row.cells.get(ERROR_COLUMN, "").strip():
        return ""
    kinds = [kind.strip().removesuffix(" error") for kind in row.word(ERROR_COLUMN).split(",")]
    return ", ".join(_ERROR_NAMES.get(kind, kind) for kind in kinds if kind)


def _code(pair: Pair, rater: str) -> int | None:
    row = dict(pair.copies())[rater]
    return row.whole("Correctness", -2, 2)
