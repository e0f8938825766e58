"""Claims and implications by a chat model.

Source: CRScore (arXiv:2409.19801), 3.2: claims about a change on two levels, low-level changes and implications. The
paper does not print the prompt that it gave GPT-4, so the words are ours. The change is fenced.
"""

from __future__ import annotations

from reviewgauge.claims.listed_claims import read_claims
from reviewgauge.core.records import Change, ChangedFile, Claim
from reviewgauge.models.chat.ask import ask_for
from reviewgauge.models.chat.client import chat_model
from reviewgauge.models.request.messages import FENCE_NOTE, Message, Prompt, fence, load_prompt


def claims_prompt() -> Prompt:
    """The prompt that asks for claims."""
    return load_prompt("reviewgauge.claims", "claims")


def ask_claims(change: Change, language: str, model: str) -> tuple[Claim, ...]:
    """What a model says that the change does and implies; the source is the model. None without a patch, unasked.

    An answer that is not two lists is asked for again twice. Raises Failed.
    """
    diff = "\n".join(map(_diff, (file for file in change.files if file.patch)))
    if not diff.strip():
        return ()
    found = ask_for(chat_model(model), claims_messages(diff, language), read_claims).value
    return tuple(
        Claim(id=str(number), body=body, kind=kind, source=model) for number, (kind, body) in enumerate(found, 1)
    )


def claims_messages(diff: str, language: str) -> tuple[Message, ...]:
    """The prompt about one change."""
    values = {"fence_note": FENCE_NOTE, "language": language.strip() or "software", "diff": fence(diff)}
    return claims_prompt().messages(values)


def _diff(file: ChangedFile) -> str:
    return f"--- {file.old_path or file.path}\n+++ {file.path}\n{file.patch}"
