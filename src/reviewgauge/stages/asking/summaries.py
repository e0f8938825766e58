"""Strict reading of a thread's summary: no issue, one issue, or several as bullet points."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from reviewgauge.models.answers.readers import Unreadable, without_reasoning

NOTHING = "No code issues identified."
LONGEST = 2_000  # characters of one issue; the prompt asks for one or two sentences
MOST = 20
_NOTHING = re.compile(r"[\W_]*no code issues? (?:were |was |have been |are )?identified[\W_]*", re.IGNORECASE)
_SAYS_NOTHING = re.compile(r"no code issues? (?:were |was |have been |are )?identified", re.IGNORECASE)
_BULLET = re.compile(r"[ \t]*(?:[-*•–]|\d{1,2}[.)])[ \t]+(?=\S)")
_HEADING = re.compile(
    r"[ \t]*(?:#{1,6}[ \t]+\S.*|\*\*[^*\n]{1,80}\*\*:?[ \t]*"
    r"|(?:[\w*]+[ \t]+){0,5}\**(?:issues?|summary|feedback|concerns?|background)\**:\**[ \t]*)",
    re.IGNORECASE,
)
_REFUSES = re.compile(
    r"\W*(?:i['’]?m sorry|i am sorry|sorry,|i apologi[sz]e|i can(?:no|['’])t|i(?: am|['’]m) (?:unable|not able)"
    r"|as an? (?:ai|language model)|unfortunately, i)",
    re.IGNORECASE,
)  # fmt: skip
_ASKS_BACK = re.compile(r"\b(?:please (?:provide|share|paste)|could you (?:provide|share|paste))\b[^.\n]{0,60}"
                        r"\b(?:diff|hunk|conversation|discussion|code)\b", re.IGNORECASE)  # fmt: skip


def read_summary(text: str) -> list[str]:
    """The issues of a thread, one text each; an empty list where there is none. Raises Unreadable."""
    answer = _unfenced(without_reasoning(text))
    if _NOTHING.fullmatch(answer):
        return []
    if _SAYS_NOTHING.search(answer):
        raise Unreadable("it says that there are no code issues, and more than that")
    if _REFUSES.match(answer) or _ASKS_BACK.search(answer):
        raise Unreadable("it is not a summary of the conversation")
    issues = _issues(answer)
    if not issues:
        raise Unreadable("it holds no text")
    if len(issues) > MOST:
        raise Unreadable(f"it lists {len(issues)} issues, and no thread has more than {MOST}")
    if (longest := max(map(len, issues))) > LONGEST:
        raise Unreadable(f"one issue has {longest:,} characters, and one or two sentences are asked for")
    if len(set(issues)) < len(issues):
        raise Unreadable("it lists the same issue twice")
    return issues


def _unfenced(answer: str) -> str:
    """Without a code fence around the whole of it."""
    found = re.fullmatch(r"```\w*\n(.*)\n```", answer, re.DOTALL)
    return found[1].strip() if found and "```" not in found[1] else answer


def _issues(answer: str) -> list[str]:
    """The bullet points of the outermost level, where there are two or more; else the whole answer.

    What stands before the first of several bullet points is background to all of them and is put before each.
    """
    lines = [line for line in answer.split("\n") if not _HEADING.fullmatch(line)]
    marked = [(at, len(line) - len(line.lstrip())) for at, line in enumerate(lines) if _BULLET.match(line)]
    outermost = min((indent for _, indent in marked), default=0)
    starts = [at for at, indent in marked if indent == outermost]
    if len(starts) < 2:
        return [text] if (text := _joined(lines)) else []
    background = _joined(lines[: starts[0]])
    bodies = [_joined(lines[a:b]) for a, b in pairwise([*starts, len(lines)])]
    return [f"{background} {body}".strip() for body in bodies if body]


def _joined(lines: Sequence[str]) -> str:
    """The lines as one text, without the mark of a bullet point that it begins with."""
    text = "\n".join(line.rstrip() for line in lines).strip()
    return _BULLET.sub("", text, count=1) if _BULLET.match(text) else text
