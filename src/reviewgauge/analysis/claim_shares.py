"""The quality of claims from labels: shares of correct, wrong and unverifiable ones, missing ones, kinds of errors.

Source: CRScore (arXiv:2409.19801), 4.1: accuracy, error and unverifiable rate are shares of the claims with one of
these codes, and the missing rate is the number of claims that raters added divided by the same number. Claims of one
change are not independent, so intervals resample whole changes. The raters of reviews saw the correct claims and those
that were added.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from reviewgauge.analysis.stats.arrays import Integers, Numbers
from reviewgauge.analysis.stats.bootstrap import Resampler, resampled_sums
from reviewgauge.analysis.stats.correlation import figure_of
from reviewgauge.core.document import Value
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import JUDGED_CLAIM, MISSING_CLAIM, Label, RaterKind, Subject, SubjectKind
from reviewgauge.core.records import Case, Claim
from reviewgauge.core.reports.agreement import ClaimShare, ClaimShares
from reviewgauge.core.shares import wilson

MOST_VALUES = 50  # of a dimension


def claim_shares(
    labels: Sequence[Label], languages: Mapping[str, str], *, resamples: int, seed: int
) -> tuple[ClaimShares, ...]:
    """The shares of the values of each dimension that judges claims in words, by language and of all.

    `languages` by case. Where people differ on a claim the value of most counts, of a tie the first one, unless they
    agreed on one together; models decide where no person did. A value with commas names several, such as two kinds of
    error. With more than 50 values a dimension is free text, and left out.
    """
    found: list[ClaimShares] = []
    by_dimension: dict[str, list[Label]] = {}
    for label in labels:
        if label.subject.kind is SubjectKind.CLAIM and isinstance(label.value, str):
            by_dimension.setdefault(label.dimension, []).append(label)
    for dimension, own in by_dimension.items():
        if len({label.value for label in own}) > MOST_VALUES:
            continue
        for language, part in _by_language(own, languages):
            found.append(_shares(dimension, language, part, resamples, seed))
    return tuple(found)


def _by_language(labels: Sequence[Label], languages: Mapping[str, str]) -> Iterator[tuple[str, list[Label]]]:
    by_name: dict[str, list[Label]] = {}
    for label in labels:
        by_name.setdefault(languages.get(label.subject.case, ""), []).append(label)
    if len(by_name) > 1:
        yield from ((name, own) for name, own in by_name.items() if name)
    yield "", list(labels)


def _shares(dimension: str, language: str, labels: Sequence[Label], resamples: int, seed: int) -> ClaimShares:
    said, split = claim_verdicts(labels)
    graded = not {*JUDGED_CLAIM, MISSING_CLAIM}.isdisjoint(said.values())
    verdicts = {claim: (value,) if graded else _parts(value) for claim, value in said.items()}
    names = list(dict.fromkeys(name for own in verdicts.values() for name in own))
    shown = [*JUDGED_CLAIM, MISSING_CLAIM] if graded else names
    counted = {claim: own for claim, own in verdicts.items() if not set(own).isdisjoint(shown)}
    cases: dict[str, int] = {}
    cluster = np.array([cases.setdefault(claim.case, len(cases)) for claim in counted], dtype=np.int64)
    values = np.array([[name in own for name in shown] for own in counted.values()], dtype=np.float64)
    judged = np.array([not graded or own != (MISSING_CLAIM,) for own in counted.values()], dtype=np.float64)
    n = int(judged.sum())
    sums = resampled_sums(np.column_stack([values, judged]), cluster, Resampler(len(cases), resamples, seed))
    with np.errstate(divide="ignore", invalid="ignore"):
        draws = sums[:, :-1] / sums[:, -1:]
    left_out = Counter(name for claim, own in verdicts.items() if claim not in counted for name in own)
    return ClaimShares(
        dimension=dimension,
        language=language,
        claims=n,
        changes=len(cases),
        shares=tuple(
            ClaimShare(value=name, claims=count, share=_figure(count, n, draws[:, at], cluster))
            for at, (name, count) in enumerate(zip(shown, values.sum(axis=0).astype(int).tolist(), strict=True))
        ),
        split=split,
        left_out=dict(left_out),
    )


def _figure(count: int, n: int, draws: Numbers, cluster: Integers) -> Value:
    """The share; where no claim has the value, or each one, Wilson's interval with changes for trials."""
    if not n:
        return Value(value=None, n=0, reason="no claim was judged")
    found = figure_of(count / n, n, draws, cluster)
    if found.low is None or 0 < count < n:
        return found
    changes = int(cluster.max()) + 1
    low, high = wilson(changes if count else 0, changes) or (0.0, 1.0)
    return found.model_copy(update={"low": low, "high": high})


def claim_verdicts(labels: Sequence[Label]) -> tuple[dict[Subject, str], int]:
    """The value of each claim, and the number of claims on which those who decide differ: people before models."""
    by_claim: dict[Subject, list[Label]] = {}
    for label in labels:
        by_claim.setdefault(label.subject, []).append(label)
    found: dict[Subject, str] = {}
    split = 0
    for claim, own in by_claim.items():
        agreed = [label for label in own if label.consensus]
        people = [label for label in own if label.rater_kind is RaterKind.HUMAN]
        votes = Counter(_word(label) for label in agreed or people or own)  # in order of appearance, which breaks ties
        split += len(votes) > 1
        found[claim] = votes.most_common(1)[0][0]
    return found, split


def _word(label: Label) -> str:
    """The value, in the form of the known words."""
    value = str(label.value).strip()
    return value.casefold() if value.casefold() in (*JUDGED_CLAIM, MISSING_CLAIM) else value


def _parts(value: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in value.split(",") if part.strip()))


CORRECT = JUDGED_CLAIM[0]


def corrected_claims(cases: Sequence[Case], labels: Iterable[Label]) -> list[Case]:
    """The cases with the claims that people found correct or did not judge, and those that they added.

    Where they differ most of them decide, or what they agreed on together. Raises UserError for a claim of no case.
    """
    words = (*JUDGED_CLAIM, MISSING_CLAIM, "ambiguous", "incomplete")
    judged = [one for one in labels if one.subject.kind is SubjectKind.CLAIM and one.value in words]
    discussed = {one.subject.case for one in judged if one.consensus}
    judged = [one for one in judged if one.consensus or one.subject.case not in discussed]
    verdicts, _ = claim_verdicts(judged)
    bodies = {one.subject: one.reason or "" for one in judged if one.value == MISSING_CLAIM}
    known = {(case.id, claim.id) for case in cases for claim in case.claims}
    by_case: dict[str, dict[str, str]] = {}
    added: dict[str, dict[str, Claim]] = {}
    for subject, word in verdicts.items():
        name = subject.claim or ""
        if word == MISSING_CLAIM:
            body = bodies.get(subject, "")
            claim = Claim(id=name, body=body, source="annotator", status="added")
            added.setdefault(subject.case, {}).setdefault(" ".join(body.casefold().split()), claim)
        elif (subject.case, name) not in known:
            raise UserError(f"the claim {name!r} of {subject.case!r} is judged, and the data does not have it")
        else:
            by_case.setdefault(subject.case, {})[name] = word
    found = []
    for case in cases:
        said = by_case.get(case.id, {})
        kept = [one.model_copy(update={"status": said.get(one.id, one.status)}) for one in case.claims]
        kept = [one for one in kept if one.id not in said or one.status == CORRECT]
        found.append(case.model_copy(update={"claims": (*kept, *added.get(case.id, {}).values())}))
    return found
