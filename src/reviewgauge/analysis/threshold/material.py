"""The reviews that a threshold is fitted on: their sentences, the claims on their changes, and what people say of them.

Source of the choices: CRScore, arXiv:2409.19801, section 3.3 (the best system's reviews, without annotated changes) and
scripts/evaluate_sts_quality.py of github.com/atharva-naik/CRScore (links: the reviews that address any claim).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from reviewgauge.analysis.stats.bootstrap import FEW_CLUSTERS
from reviewgauge.analysis.validity.human_values import HumanValues, Key
from reviewgauge.analysis.validity.review_table import ReviewTable
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind, SubjectKind
from reviewgauge.core.records import Case, Claim
from reviewgauge.metrics.coverage.sentences import sentences
from reviewgauge.metrics.crscore import MOST_PAIRS, Crscore

NO_OWN = "the change has no claims of its own, and others have"
ADDRESSES = 0.5  # the mean of people's labels from which on a review addresses a claim


@dataclass(frozen=True)
class Material:
    """`claims` by case, `said` (sentences) by review, `links` by review and claim; `rows` are those that are fitted on.

    `human` are the values that correlations are made with. `rows` are positions in the `bench`.
    """

    bench: ReviewTable
    claims: Mapping[str, tuple[Claim, ...]]
    said: tuple[tuple[str, ...], ...]
    human: HumanValues | None
    links: Mapping[Key, Mapping[str, bool]]
    system: str
    chosen: str
    rows: tuple[int, ...]
    warnings: tuple[str, ...]

    @property
    def texts(self) -> Iterator[str]:
        """Every text that is compared: claims, sentences, and the linked reviews as a whole."""
        for claims in self.claims.values():
            yield from (claim.body for claim in claims)
        for place, (key, said) in enumerate(zip(self.bench.keys, self.said, strict=True)):
            yield from said
            if key in self.links:
                yield self.bench.hypothesis[place]

    def claims_of(self, place: int) -> tuple[Claim, ...]:
        """The claims that a review is compared with; none where there are none, or more pairs than the metric takes."""
        return _compared(self.claims.get(self.bench.keys[place][0], ()), self.said[place])


def gather(
    cases: Sequence[Case],
    bench: ReviewTable,
    labels: Sequence[Label],
    human: HumanValues | None,
    *,
    metric: Crscore,
    system: str = "",
) -> Material:
    """What a threshold is fitted on. `system` is by default the one whose reviews people value most.

    Raises UserError where there is no such system, or no sentence of it that has a claim to compare with.
    """
    given = metric.claims == "auto" and any(case.claims for case in cases)  # made ones depend on what is installed
    found = {case.id: NO_OWN if given and not case.claims else metric.claims_of(case) for case in cases}
    claims = {case: own for case, own in found.items() if isinstance(own, tuple)}
    missing = Counter(why if isinstance(why, str) else "failed" for why in found.values() if not isinstance(why, tuple))
    warnings = [f"{n:,} changes are left out: {why}" for why, n in missing.most_common(3)]
    if not claims:
        why = missing.most_common(1)[0][0].partition(";")[0] if missing else "there are none"
        raise UserError(f"no change has claims: {why}", remedy="--claims references takes the reference comments")
    system, chosen = _system(bench, human, system)
    said = tuple(sentences(text) for text in bench.hypothesis)
    rows = [
        at
        for at, key in enumerate(bench.keys)
        if key[1] == system and said[at] and _compared(claims.get(key[0], ()), said[at])
    ]
    if not rows:
        raise UserError(f"no review of {system} has a sentence and a change with claims", remedy="; ".join(warnings))
    rows, overlap = _without_annotated(bench, human, rows)
    if (changes := len({bench.keys[at][0] for at in rows})) < FEW_CLUSTERS:
        warnings.insert(0, f"only {changes} changes: on others the threshold may be far from it")
    known = {key: {claim.id for claim in claims.get(key[0], ())} for key in bench.keys if key[1] not in bench.people}
    links = {
        key: {claim: yes for claim, yes in own.items() if claim in known[key]}
        for key, own in _links(labels).items()
        if key in known
    }
    return Material(
        bench=bench,
        claims=claims,
        said=said,
        human=human,
        links={key: own for key, own in links.items() if any(own.values())},
        system=system,
        chosen=chosen,
        rows=tuple(rows),
        warnings=(*overlap, *warnings),
    )


def _compared(claims: tuple[Claim, ...], said: Sequence[str]) -> tuple[Claim, ...]:
    return claims if len(claims) * len(said) <= MOST_PAIRS else ()


def _system(bench: ReviewTable, human: HumanValues | None, wanted: str) -> tuple[str, str]:
    """(the system whose reviews the threshold is fitted on, why this one)."""
    systems = sorted({system for _, system, _ in bench.keys})
    if wanted:
        if wanted not in systems:
            raise UserError(f"no review is by {wanted!r}", remedy=f"there are: {', '.join(systems)}")
        return wanted, "by --system"
    values: defaultdict[str, list[float]] = defaultdict(list)
    for key in bench.keys if human is not None else ():
        if human is not None and key in human.of and key[1] not in bench.people:
            values[key[1]].append(human.of[key])
    if not values or human is None:
        if len(systems) == 1:
            return systems[0], "the only one"
        remedy = f"name one with --system: {', '.join(systems)}" if systems else ""
        raise UserError("people's values do not say which system is best", remedy=remedy)
    means = {system: sum(own) / len(own) for system, own in sorted(values.items())}
    best = max(means, key=lambda system: means[system])
    top = f"{means[best]:.2f} of {human.scale.high:g}, n = {len(values[best]):,}"
    return best, f"people's highest mean of {human.dimension}, {top}"


def _without_annotated(
    bench: ReviewTable, human: HumanValues | None, rows: list[int]
) -> tuple[list[int], tuple[str, ...]]:
    """The rows on changes that nobody judged a review of, where they are enough; else all, with a warning."""
    annotated = {case for case, _, _ in human.of} if human is not None else set()
    other = [at for at in rows if bench.keys[at][0] not in annotated]
    if len({bench.keys[at][0] for at in other}) >= FEW_CLUSTERS or len(other) == len(rows):
        return other, ()
    few = f"only {len(other):,} of the {len(rows):,} reviews are on others" if other else "all of them are"
    return rows, (
        f"annotated changes were not left out, since {few}: "
        "the threshold has seen the changes that it is compared on, though not people's values",
    )


def _links(labels: Iterable[Label]) -> dict[Key, dict[str, bool]]:
    """Whether people say that a review addresses a claim, by review and claim; of several rounds the first counts."""
    found: dict[Key, dict[str, dict[str, list[float]]]] = {}
    for label in labels:
        subject = label.subject
        by_people = label.rater_kind is RaterKind.HUMAN and not isinstance(label.value, str)
        if subject.kind is SubjectKind.LINK and by_people and subject.system and subject.claim:
            rounds = found.setdefault((subject.case, subject.system, subject.attempt), {})
            rounds.setdefault(label.round or "", {}).setdefault(subject.claim, []).append(float(label.value))
    first = {key: rounds.get("") or next(iter(rounds.values())) for key, rounds in found.items()}
    return {
        key: {claim: sum(values) / len(values) >= ADDRESSES for claim, values in own.items()}
        for key, own in first.items()
    }
