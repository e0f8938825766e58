"""What a review says besides comments, as the report shows it: its verdict, its ranking, and which claims it covers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from reviewgauge.core.records import Case, Claim, Comment, Review, Span
from reviewgauge.core.results import Coverage, Link, Parts
from reviewgauge.repo.diff.positions import find_row, hunk_rows
from reviewgauge.views import figures
from reviewgauge.views.report.diff_views import Remark

Pairing = Literal["", "paired", "taken", "left"]
MOST_RANKED = 20  # ranked lines of one review


@dataclass(frozen=True)
class SaidView(Remark):
    """A comment, a verdict or one line of a ranking (`name`), and why it counts as it does."""

    index: int  # of its system
    system: str
    name: str
    text: str
    comment: Comment | None = None
    place: str = ""
    reasons: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()  # (anchor, id) of its findings


@dataclass(frozen=True)
class NearestClaim:
    """What a sentence or a claim is closest to; `covered` is None where no threshold says so.

    `pairing`, where each counts in one pair at most: `paired` if this is its pair, else `taken` or `left`, whether
    or not this is in another pair.
    """

    anchor: str
    name: str
    similarity: float
    covered: bool | None
    pairing: Pairing = ""


@dataclass(frozen=True)
class SentenceView:
    """One sentence of a review, and the claim that it is paired with or closest to."""

    text: str
    nearest: NearestClaim | None


@dataclass
class ClaimView:
    """One claim on the change, and how close each system's review comes to it."""

    anchor: str
    number: int
    claim: Claim
    nearest: list[NearestClaim] = field(default_factory=list)


def outcome_words(verdict: bool | None) -> str:
    """What a verdict says of a change; empty without one."""
    return "" if verdict is None else f"It {'can' if verdict else 'cannot'} be merged as it is."


def answers(case: Case, review: Review, anchor: str, index: int, system: str) -> Iterator[SaidView]:
    """The verdict of the review, then the first lines of its ranking: right, wrong, or unscored where nobody knows."""
    if review.verdict is not None:
        right = None if case.verdict is None else review.verdict == case.verdict
        words = outcome_words(review.verdict)
        yield SaidView(f"{anchor}v", _state(right), (), index, system, "verdict", words)
    if not review.ranked_lines:
        return
    wanted = {row for reference in case.references if reference.span for row in hunk_rows(case.change, reference.span)}
    for rank, span in enumerate(review.ranked_lines[:MOST_RANKED], 1):
        row = find_row(case.change, span, repair=False)
        state = _state(row in wanted if wanted else None)
        words = "The diff does not show this line." if row is None else ""
        yield SaidView(f"{anchor}l{rank}", state, (span,), index, system, f"#{rank}", words, place=place_of(span))


def place_of(span: Span | None, comment: Comment | None = None) -> str:
    """`src/a.py:12-14`, with `(old)` for lines before the change."""
    if span is None:
        claimed = comment.claimed if comment else None
        if claimed is None or not claimed.path:
            return ""
        return f"claimed {claimed.path}" + (f":{claimed.start}" if claimed.start else "")
    lines = ""
    if span.start is not None:
        lines = f":{span.start}" if span.start == span.end else f":{span.start}-{span.end}"
    return f"{span.path}{lines}{' (old)' if span.side == 'old' else ''}"


def _state(right: bool | None) -> str:
    return {True: "right", False: "wrong", None: "unscored"}[right]


def sentence_views(coverage: Coverage, claims: Sequence[ClaimView]) -> list[SentenceView]:
    """The sentences of a review; `claims` are those of the change."""
    taken = {link.claim for link in coverage.links if link.paired}
    shown = []
    for at, sentence in enumerate(coverage.sentences):
        link = _best(coverage, (link for link in coverage.links if link.sentence == at))
        nearest = None
        if link is not None and link.claim < len(claims):
            claim = claims[link.claim]
            nearest = _nearest(claim.anchor, f"claim {claim.number}", coverage, link, taken=link.claim in taken)
        shown.append(SentenceView(sentence, nearest))
    return shown


def add_nearest(claims: Sequence[ClaimView], coverage: Coverage, system: str, anchor: str) -> None:
    """Add to each claim how close the review of `system` comes to it."""
    taken = {link.sentence for link in coverage.links if link.paired}
    for at, claim in enumerate(claims):
        link = _best(coverage, (link for link in coverage.links if link.claim == at))
        if link is not None:
            claim.nearest.append(_nearest(anchor, system, coverage, link, taken=link.sentence in taken))


def numbers(coverage: Coverage, parts: Parts) -> str:
    """What a review that is held against claims got: `con .25 (.75 / 3 sentences) · rel .30`."""
    over = {"con": (len(coverage.sentences), "sentence"), "comp": (len(coverage.claims), "claim")}
    shown = []
    for name, value in parts.items():
        n, unit = over.get(name, (0, ""))
        total = value * n
        whole = figures.count(round(total)) if coverage.threshold is not None else figures.number(total)
        of = f" ({whole} / {figures.count(n)} {unit}{'s' if n != 1 else ''})" if n else ""
        shown.append(f"{name} {figures.number(value)}{of}")
    return " · ".join(shown)


def _nearest(anchor: str, name: str, coverage: Coverage, link: Link, *, taken: bool) -> NearestClaim:
    covered = None if coverage.threshold is None else link.similarity > coverage.threshold
    state: Pairing = ""
    if any(one.paired for one in coverage.links):
        state = "paired" if link.paired else "taken" if taken else "left"
    return NearestClaim(anchor, name, link.similarity, covered, state)


def _best(coverage: Coverage, links: Iterator[Link]) -> Link | None:
    """The pair that counts, else the highest similarity; without a threshold None where there is none above 0."""
    told = (link for link in links if link.similarity > 0 or coverage.threshold is not None)
    return max(told, key=lambda link: (link.paired, link.similarity), default=None)
