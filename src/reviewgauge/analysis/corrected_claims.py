"""The claims about changes as people corrected them: without those that are not right, and with those they missed.

Source: CRScore (arXiv:2409.19801), 4.1: the raters of reviews saw the correct claims and those that were added.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reviewgauge.analysis.claim_shares import claim_verdicts
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import JUDGED_CLAIM, MISSING_CLAIM, Label, SubjectKind
from reviewgauge.core.records import Case, Claim

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
