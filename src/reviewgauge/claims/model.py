"""Claims and implications by a chat model.

Source: CRScore (arXiv:2409.19801), 3.2: claims about a change on two levels, low-level changes and implications. The
paper does not print the prompt that it gave GPT-4, so the words are ours. The change is fenced. The answer is two
headed lists; anything else is unreadable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from reviewgauge.core.records import Change, ChangedFile, Claim
from reviewgauge.models.answers.json_values import storable
from reviewgauge.models.answers.prose import is_refusal
from reviewgauge.models.answers.text import Unreadable, without_reasoning
from reviewgauge.models.chat.ask import ask_for
from reviewgauge.models.chat.client import chat_model
from reviewgauge.models.request.messages import FENCE_NOTE, Message, Prompt, fence, load_prompt

CLAIM, IMPLICATION = "claim", "implication"
MOST_ITEMS = 60  # of a list
LONGEST_ITEM = 1000  # characters
_LONGEST_LEAD = 200  # characters before the first heading
_HEADING = re.compile(
    r"[#*_\s]*(?:(?:section\s+)?(?:\d{1,2}|[AB])[.):]\s*)?[*_]*"
    r"(?P<title>(?:low[- ]level\s+)?(?:code\s+)?(?:claims?|changes?)|(?:high[- ]level\s+)?implications?)"
    r"(?:\s*\([^()\n]{0,80}\))?[\s*_]*(?P<colon>:?)[\s*_]*",
    re.IGNORECASE,
)
_ITEM = re.compile(r"(?P<indent>[ \t]*)(?:[-*+\N{BULLET}]|\(?\d{1,3}[.):])[ \t]+(?P<text>\S.*)")
_NONE = re.compile(r"[-*\s]*\(?(?:none|nothing|n/a|no (?:claims|implications))\b[^.\n]{0,40}[.)]?\s*", re.IGNORECASE)
_ELLIPSIS = re.compile(r"[.\N{HORIZONTAL ELLIPSIS}\s]*")


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
    found = ask_for(chat_model(model), asked, read_claims).value
    return tuple(
        Claim(id=str(number), body=body, kind=kind, source=model) for number, (kind, body) in enumerate(found, 1)
    )


def claims_messages(change: Change, language: str) -> tuple[Message, ...]:
    """The prompt about a change; empty where it has no patch."""
    diff = "\n".join(map(_diff, (file for file in change.files if file.patch)))
    if not diff.strip():
        return ()
    values = {"fence_note": FENCE_NOTE, "language": language.strip() or "software", "diff": fence(diff)}
    return claims_prompt().messages(values)


def _diff(file: ChangedFile) -> str:
    return f"--- {file.old_path or file.path}\n+++ {file.path}\n{file.patch}"


def read_claims(text: str) -> tuple[tuple[str, str], ...]:
    """(kind, sentence) of each item, in order; none where both lists say so. Raises Unreadable."""
    text = without_reasoning(text).strip()
    if not text:
        raise Unreadable("it is empty")
    if is_refusal(text):
        raise Unreadable("it refuses, or asks for something, instead of listing claims")
    sections = _sections(text)
    for kind, name in ((CLAIM, "Claims"), (IMPLICATION, "Implications")):
        if kind not in sections:
            raise Unreadable(f"it has no section {name}")
    found = [(kind, item) for kind, lines in sections.items() for item in _items(lines)]
    if any(is_refusal(item) for _, item in found):
        raise Unreadable("an item is a refusal")
    return tuple(found)


def _sections(text: str) -> dict[str, list[str]]:
    """The lines below each heading."""
    sections: dict[str, list[str]] = {}
    lead: list[str] = []
    current = lead
    for line in text.splitlines():
        heading = _HEADING.fullmatch(line[:LONGEST_ITEM].rstrip())
        if heading is None:
            current.append(line)
            continue
        kind = IMPLICATION if "implication" in heading["title"].lower() else CLAIM
        if kind in sections:
            raise Unreadable(f"it has two sections of {kind}s")
        current = sections[kind] = []
    if len("".join(lead).strip()) > _LONGEST_LEAD or any(_ITEM.fullmatch(line) for line in lead):
        raise Unreadable("it says more than a word of introduction before the first heading")
    return sections


def _items(lines: list[str]) -> Iterator[str]:
    """The items of a list; a nested one, and a line that goes on, belong to the item above."""
    items: list[str] = []
    outer = 0
    blank = False
    for line in lines:
        item = _ITEM.fullmatch(line.rstrip())
        if not line.strip():
            blank = True
        elif item is not None and (not items or len(item["indent"]) <= outer):
            outer = len(item["indent"])
            items.append(item["text"])
            blank = False
        elif items and (item is not None or not blank or line[0].isspace()):
            items[-1] += " " + (item["text"] if item is not None else line.strip())
            blank = False
        elif not items and _NONE.fullmatch(line):
            return
        else:
            raise Unreadable("a section holds text that is not an item of a list")
    if not items:
        raise Unreadable("a section is empty")
    if len(items) > MOST_ITEMS:
        raise Unreadable(f"a section has {len(items)} items, over {MOST_ITEMS}")
    for text in items:
        sentence = storable(" ".join(text.split()))
        if len(sentence) > LONGEST_ITEM:
            raise Unreadable(f"an item has {len(sentence)} characters, over {LONGEST_ITEM}")
        if _ELLIPSIS.fullmatch(sentence):
            raise Unreadable("an item is left blank")
        if not _NONE.fullmatch(sentence):
            yield sentence
