"""Rules of the fake model that write prompts: the reflection of `evolve`, and its variation at random."""

from __future__ import annotations

import re

from fake_rules.request_text import FENCED, prompt_of
from reviewgauge.models.fake import share_of
from reviewgauge.models.request.messages import Request

ADVICE = (
    "Be brief.",
    "Name the line that you speak about.",
    "Think of those who call this code.",
    "Look at what happens when something fails.",
    "Prefer few findings that are right over many that are not.",
    "Look for a bare except that hides every error.",
    "Read what is removed as well.",
    "Look for eval of a text that should be parsed.",
)
_PROMPT = re.compile(f"^The prompt:\n{FENCED.format('prompt')}$", re.MULTILINE | re.DOTALL)
_MISSED = re.compile(rf"^Missed, [^\n]*:\n{FENCED.format('missed')}$", re.MULTILINE | re.DOTALL)
_LINE = "Look for this: {}"


def reflect(request: Request) -> str:
    """The prompt, with one more line for the first missed comment of the evidence that it does not name yet."""
    now = _prompt(request)
    missed = (" ".join(found["missed_text"].split()) for found in _MISSED.finditer(prompt_of(request)))
    more = next((line for line in map(_LINE.format, missed) if line not in now), ADVICE[0])
    return f"<prompt>\n{now.rstrip()}\n{more}\n</prompt>"


def vary(request: Request) -> str:
    """The prompt, with one more line of a list of advice, drawn by a hash of the request."""
    more = ADVICE[int(share_of(prompt_of(request)) * len(ADVICE))]
    return f"<prompt>\n{_prompt(request).rstrip()}\n{more}\n</prompt>"


def choose(request: Request) -> str:
    """One of the contexts that are listed, drawn by a hash of the request."""
    options = re.findall(r"^\d+: ", prompt_of(request), re.MULTILINE)
    return options[int(share_of(prompt_of(request)) * len(options))].rstrip(": ") if options else "1"


def _prompt(request: Request) -> str:
    found = _PROMPT.search(prompt_of(request))
    return found["prompt_text"] if found else ""
