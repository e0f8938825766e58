"""Joins claims of several sources: each thing once, numbered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reviewgauge.core.records import Claim
from reviewgauge.models.text.words import raw_words, stem

EXACT = frozenset({"syntax"})  # sources whose sentences differ where what they say differs
ALIKE = 0.8  # Jaccard similarity of the stemmed words from which on two claims are one


def merged(*sources: Sequence[Claim]) -> tuple[Claim, ...]:
    """The claims of all sources in order, with the ids "1", "2" ...

    Of claims with the same words, or nearly the same, the first stays, and its source names the others' too, joined
    with "+". Claims at different lines are different, and those of one exact source are as long as a sign differs.
    """
    kept: list[Claim] = []
    words: list[frozenset[str]] = []
    for claim in (one for source in sources for one in source):
        mine = frozenset(map(stem, raw_words(claim.body)))
        if not claim.body.strip():
            continue
        at = next((i for i, other in enumerate(kept) if _same(claim, other, mine, words[i])), None)
        if at is None:
            kept.append(claim)
            words.append(mine)
        else:
            names = dict.fromkeys([*kept[at].source.split("+"), *claim.source.split("+")])
            kept[at] = kept[at].model_copy(update={"source": "+".join(filter(None, names))})
    return tuple(claim.model_copy(update={"id": str(i)}) for i, claim in enumerate(kept, 1))


def _same(claim: Claim, other: Claim, mine: frozenset[str], theirs: frozenset[str]) -> bool:
    if claim.body == other.body:
        return True
    if claim.line and other.line and claim.line != other.line:
        return False
    if claim.source == other.source in EXACT or min(len(mine), len(theirs)) < ALIKE * max(len(mine), len(theirs), 1):
        return False
    shared = len(mine & theirs)
    return shared > 0 and shared >= ALIKE * (len(mine) + len(theirs) - shared)


def count_by_source(claims: Iterable[Claim]) -> dict[str, int]:
    """How many claims each source has made; a claim of two sources counts for both."""
    found: dict[str, int] = {}
    for claim in claims:
        for source in filter(None, claim.source.split("+")):
            found[source] = found.get(source, 0) + 1
    return found
