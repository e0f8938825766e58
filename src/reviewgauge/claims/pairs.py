"""Training data for a small claim model: the prompt about a change, and the claims that a strong model wrote on it.

Source: CRScore (arXiv:2409.19801), 3.2 and Figure 3: Magicoder-S-DS-6.7B learns from GPT-4's claims about 1,000 changes
of CodeReviewer's validation set, none of which is in the test set.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from reviewgauge.claims.model import CLAIM, IMPLICATION, claims_messages, read_claims
from reviewgauge.core.records import Case, Claim
from reviewgauge.models.answers.text import Unreadable
from reviewgauge.models.request.messages import Message, assistant
from reviewgauge.repo.syntax.languages import case_language


class ClaimPair(NamedTuple):
    """A conversation that ends with the answer, and the model that wrote the claims in it."""

    model: str
    messages: tuple[Message, ...]


def claim_pair(case: Case) -> ClaimPair | str:
    """The pair of one case, or the reason why it has none.

    The answer has the form that the prompt asks for, whatever the model wrote around it, and is read back as a check.
    """
    by_model: dict[str, list[tuple[str, str]]] = {}
    for claim in case.claims:
        if claim.kind in (CLAIM, IMPLICATION) and (model := _model_of(claim)):
            by_model.setdefault(model, []).append((claim.kind, claim.body))
    if not by_model:
        return "no claim by a model"
    if len(by_model) > 1:
        return "claims of several models"
    ((model, found),) = by_model.items()
    asked = claims_messages(case.change, case_language(case))
    if not asked:
        return "no diff"
    found.sort(key=lambda one: one[0] == IMPLICATION)
    answer = _written(found)
    try:
        same = list(read_claims(answer)) == found
    except Unreadable:
        same = False
    return ClaimPair(model, (*asked, assistant(answer))) if same else "claims that cannot be read back as two lists"


def _model_of(claim: Claim) -> str:
    """The model behind a claim, by its source (`openai:gpt-5`); empty for other sources."""
    return next((source for source in claim.source.split("+") if ":" in source), "")


def _written(found: Iterable[tuple[str, str]]) -> str:
    lists: dict[str, list[str]] = {CLAIM: [], IMPLICATION: []}
    for kind, body in found:
        lists[kind].append(f"- {body}")
    claims, implications = ("\n".join(lines) or "None" for lines in lists.values())
    return f"Claims:\n{claims}\n\nImplications:\n{implications}"
