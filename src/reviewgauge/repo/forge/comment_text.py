"""The text of review comments: bot noise around them, and suggested code inside them."""

from __future__ import annotations

import re

_TRIGGER = re.compile(
    r"\s*(?:/[a-z][\w-]*(?: [\w-]+){0,4}|@[\w-]+(?:\[bot\])?[ ,:]+(?:please )?(?:full |re-?)?"
    r"(?:review|re-?review|summary|summarize|resolve|pause|resume|help|configuration|rerun|retry|ignore|approve)\b"
    r"[^\n]{0,60}|(?:bugbot|cursor|codex|copilot|greptile) (?:run|review))\s*[.!]?\s*",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"\W*(?:lgtm|looks good(?: to me)?"
    r"|no (?:new |major |further )?(?:issues?|problems?|comments?|bugs?|findings?|suggestions?)"
    r"(?: (?:were )?(?:found|detected|identified|to report))?|nothing to (?:report|add)|all good|approved?)\W*",
    re.IGNORECASE,
)
_STATUS = re.compile(
    r"<!-- (?:this is an auto-generated (?:comment|reply)|walkthrough_start|internal state|tips_start|bugbot_review)"
    r"|^\W*(?:#+ *)?(?:walkthrough|summary by \w+|summary of changes|pull request overview|pr reviewer guide|changelist"
    r"|review (?:skipped|failed|in progress|paused|triggered)|actions performed|rate limit exceeded"
    r"|actionable comments posted|pr summary|reviewed by cursor bugbot|code review by \w+)\b"
    r"|(?:bugbot|copilot|\w+) reviewed (?:your changes|\d+ out of \d+)|didn't find any (?:major )?issues",
    re.IGNORECASE,
)


def is_trigger(body: str) -> bool:
    """Whether `body` only triggers an app: `@bot review`, `/review`."""
    return len(body) <= 120 and _TRIGGER.fullmatch(body) is not None


def bot_noise(body: str, placed: bool) -> str | None:
    """Why `body` is not a review comment, None where it is one. `placed`: it is on lines of a file.

    Summaries and status posts are recognised by their opening, unless they are on a line: such a comment may well
    begin with "Summary".
    """
    if not body.strip():
        return "empty"
    if is_trigger(body):
        return "command trigger"
    if len(body) <= 120 and _NOTHING.fullmatch(body):
        return "says that there is nothing to say"
    if not placed and _STATUS.search(body[:600]):
        return "bot summary or status post"
    return None


_BLOCK = re.compile(r"^(`{3,})suggestion[^\n`]*\n(.*?)\n?^\1\s*\Z", re.DOTALL | re.MULTILINE)


def split_suggestion(body: str) -> tuple[str, str | None]:
    """(text, suggested code) of a comment that ends in a GitHub suggestion block; (body, None) of any other."""
    found = _BLOCK.search(body)
    if found is None:
        return body, None
    return body[: found.start()].rstrip() or body, found[2]
