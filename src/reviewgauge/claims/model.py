"""Claims and implications by a chat model.

Source: CRScore (arXiv:2409.19801), 3.2: claims about a change on two levels, low-level changes and implications. The
paper does not print the prompt that it gave GPT-4, so the words are ours. The change is fenced.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from reviewgauge.core.records import Change, Claim
from reviewgauge.models.answers.json_values import storable
from reviewgauge.models.answers.prose import is_refusal
from reviewgauge.models.answers.records import AnswerRecord, Line, answer_schema, read_record
from reviewgauge.models.answers.text import Unreadable
from reviewgauge.models.chat.ask import ask_for
from reviewgauge.models.chat.client import chat_model
from reviewgauge.models.request.messages import FENCE_NOTE, Message, Prompt, fence, load_prompt

CLAIM, IMPLICATION = "claim", "implication"
_Items = Annotated[list[Annotated[Line, Field(max_length=1000)]], Field(max_length=60)]


class _Lists(AnswerRecord):
    claims: _Items
    implications: _Items


def claims_prompt() -> Prompt:
    """The prompt that asks for claims."""
    return load_prompt("reviewgauge.claims", "claims")


def ask_claims(change: Change, language: str, model: str) -> tuple[Claim, ...]:
    """What a model says that the change does and implies; the source is the model. None without a patch, unasked.

    An answer that is not two lists is asked for again twice. Raises Failed.
    """
    asked = claims_messages(change, language)
    if not asked:
        return ()
    found = ask_for(chat_model(model), asked, read_claims, schema=answer_schema(_Lists)).value
    return tuple(
        Claim(id=str(number), body=body, kind=kind, source=model) for number, (kind, body) in enumerate(found, 1)
    )


def claims_messages(change: Change, language: str) -> tuple[Message, ...]:
    """The prompt about a change; empty where it has no patch."""
    diff = "\n".join(
        f"--- {file.old_path or file.path}\n+++ {file.path}\n{file.patch}" for file in change.files if file.patch
    )
    if not diff.strip():
        return ()
    values = {"fence_note": FENCE_NOTE, "language": language.strip() or "software", "diff": fence(diff)}
    return claims_prompt().messages(values)


def read_claims(text: str) -> tuple[tuple[str, str], ...]:
    """(kind, sentence) of each item, in order; none where both lists are empty. Raises Unreadable."""
    lists = read_record(text, _Lists)
    found = [(CLAIM, item) for item in lists.claims] + [(IMPLICATION, item) for item in lists.implications]
    if any(is_refusal(item) for _, item in found):
        raise Unreadable("an item is a refusal")
    return tuple((kind, storable(item)) for kind, item in found)


def written_claims(found: Iterable[tuple[str, str]]) -> str:
    """An answer with these items, as `read_claims` reads it."""
    items = list(found)
    return _Lists.model_construct(
        claims=[body for kind, body in items if kind == CLAIM],
        implications=[body for kind, body in items if kind == IMPLICATION],
    ).model_dump_json()
