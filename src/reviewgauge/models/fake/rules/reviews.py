"""The rules that read or write a review: `review`, `augment` and `low_value`."""

from __future__ import annotations

import json
import re

from reviewgauge.models.fake.rules.prompts import FENCED, last_slot, prompt_of
from reviewgauge.models.request.messages import Request
from reviewgauge.models.text.lexical import profile

REVIEW = "You are an expert code reviewer. Your task is to review the following code changes"
AUGMENT = "You are a senior code reviewer tasked with summarizing code review discussions."
LOW_VALUE = "Is the review comment below of high or of low relevance to its code?"

_NOTES: tuple[tuple[str, str], ...] = (
    (r"\bexcept\s*:", "A bare except also catches KeyboardInterrupt and hides every error. Name the exception."),
    (r"\beval\(", "eval runs whatever the text says. Parse the value instead."),
    (r"\bshell\s*=\s*True\b", "shell=True lets the arguments run commands of their own. Pass a list of arguments."),
    (r"[!=]=\s*None\b", "Comparing with None by equality calls __eq__. Use is or is not."),
    (
        r"(?i)(?:password|secret|token)\w*[\"']?\s*[:=]\s*[\"'][^\"']+[\"']",
        "A secret stands in the code. Read it from the environment.",
    ),
    (r"\b(?:TODO|FIXME)\b", "Unfinished work is merged with this line. Finish it or open an issue for it."),
    (r"\bprint\(|\bconsole\.log\(", "Output for debugging is left in the code. Use the logger or remove it."),
)
_TAGS = re.compile(r"</?\s*(?:diff|side|note|notesplit|end)\b")

NO_ISSUES = "No code issues identified."
SETTLED = ("not an issue", "no issue", "false alarm", "never mind", "by design", "works as intended")
_ROLE = r"(?:author|bot|reviewer(?: \d+)?)"
_FENCED_HUNK = re.compile(rf"{FENCED.format('hunk')}\n\nConversation:\n", re.DOTALL)
_TURN_FENCED = re.compile(rf"^{_ROLE}:\n{FENCED.format('turn')}$", re.MULTILINE | re.DOTALL)
_TURN_BARE = re.compile(rf"^{_ROLE}: (?P<turn_text>.*?)(?=\n\n{_ROLE}: |\Z)", re.MULTILINE | re.DOTALL)
_THREAD_PRAISE = re.compile(r"\s*(?:LGTM|thanks|nice|great|good)\b", re.IGNORECASE)
_ITEM = re.compile(r"^[ \t]*(?:[-*]|\d{1,2}[.)])[ \t]+(.+)$", re.MULTILINE)

MIN_WORDS = 3
_PRAISE = re.compile(r"\s*(?:LGTM|\+1|thanks|thank you|nice|great|done|good)\b", re.IGNORECASE)


def review(request: Request) -> str:
    """Reviews: one note for each added line that matches a pattern of a short list, the first that does.

    The list: `except:`, `eval(`, `shell=True`, `== None` or `!= None`, a quoted text given to a name that holds
    `password`, `secret` or `token`, `TODO` or `FIXME`, `print(` or `console.log(`. Nothing found: `<end />` alone. A
    line that itself holds one of the answer's tags is skipped.
    """
    notes = []
    for line in _code(request.messages[0].text).split("\n"):
        if not line.startswith("+") or line.startswith("+++ ") or not line[1:].strip() or _TAGS.search(line):
            continue
        note = next((words for pattern, words in _NOTES if re.search(pattern, line)), None)
        if note is not None:
            notes.append(f"<diff>\n{line}\n</diff>\n<side>right</side>\n<note>\n{note}\n</note>\n")
    return "<notesplit />\n".join([*notes, ""]) + "<end />"


def _code(prompt: str) -> str:
    """The text between the two headings of the prompt; the prompt's own example follows the second."""
    begin = prompt.find("\n## Code Changes to Review\n")
    end = prompt.rfind("\n## Instructions\n")
    return prompt[begin:end] if 0 <= begin < end else ""


def augment(request: Request) -> str:
    """A review thread as one comment: the words of its first message; as bullet points where it has two list items.

    "No code issues identified." where a later message holds "not an issue", "no issue", "false alarm", "never mind",
    "by design" or "works as intended", and where the first begins with LGTM, thanks, nice, great or good.
    """
    material = prompt_of(request).partition("\nDiff Hunk:\n")[2]
    fenced = _FENCED_HUNK.match(material)
    conversation = material[fenced.end() :] if fenced else material.partition("\n\nConversation:\n")[2]
    pattern = _TURN_FENCED if fenced or "<<<DATA " in conversation else _TURN_BARE
    first, *later = [found["turn_text"] for found in pattern.finditer(conversation)] or [""]
    if not first.strip() or _THREAD_PRAISE.match(first):
        return NO_ISSUES
    if any(words in turn.lower() for turn in later for words in SETTLED):
        return NO_ISSUES
    items = [" ".join(item.split()) for item in _ITEM.findall(first)]
    return "\n".join(f"- {item}" for item in items) if len(items) > 1 else " ".join(first.split())


def low_value(request: Request) -> str:
    """Is a comment of value to its code? Low below three content words, or where it begins with praise; else high.

    Content words are stemmed, without stop words. Praise is LGTM, +1, thanks, thank you, nice, great, done or good.
    """
    comment = last_slot(request, "Review comment:\n", "\n\nAnswer with one JSON object")
    words = len(profile(comment).content)
    low = words < MIN_WORDS or _PRAISE.match(comment) is not None
    return json.dumps({"reasoning": f"{words} content words", "relevance": "low" if low else "high"})
