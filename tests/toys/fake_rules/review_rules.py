"""Rules of the fake model that review code: one note for each added line that matches a pattern of a short list."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from fake_rules.request_text import FENCED, prompt_of
from reviewgauge.models.request.messages import Request, Role
from reviewgauge.models.text.lexical import profile

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


def review(request: Request) -> str:
    """Reviews: one note for each added line that matches a pattern of a short list, the first that does."""
    return as_notes((line, note) for line, note in judged_lines(request) if note is not None)


def judged_lines(request: Request) -> Iterator[tuple[str, str | None]]:
    """Each added line of the change that the rule `review` looks at, with its note."""
    for line in _code(request.messages[0].text).split("\n"):
        if line.startswith("+") and not line.startswith("+++ ") and line[1:].strip() and not _TAGS.search(line):
            yield line, _note(line)


def as_notes(found: Iterable[tuple[str, str]]) -> str:
    """Lines and what is said about each, as an answer to the prompt."""
    notes = [f"<diff>\n{line}\n</diff>\n<side>right</side>\n<note>\n{note}\n</note>\n" for line, note in found]
    return "<notesplit />\n".join([*notes, ""]) + "<end />"


def _code(prompt: str) -> str:
    """The text between the two headings of the prompt; the prompt's own example follows the second."""
    begin = prompt.find("\n## Code Changes to Review\n")
    end = prompt.rfind("\n## Instructions\n")
    context = prompt.find("\n## Relevant Code Context\n", begin)
    end = context if begin < context < end else end
    return prompt[begin:end] if 0 <= begin < end else ""


def _note(line: str) -> str | None:
    """The note on one line of a diff, None where it is not added or no pattern matches it."""
    if not line.startswith("+") or not line[1:].strip():
        return None
    return next((words for pattern, words in _NOTES if re.search(pattern, line)), None)


# --- the three small tasks -----------------------------------------------------------------------------------------

_MOST_LINES = 10
_NUMBERED = re.compile(f"a deleted one no new number\\.\n{FENCED.format('code')}", re.DOTALL)
_ROW = re.compile(r"^(\[\d*\]\[\d*\]) ([-+ ].*)$", re.MULTILINE)
_FOCUS = re.compile(r"The comment is about these lines:\n(.*)$", re.MULTILINE)


def _rows(request: Request) -> list[tuple[str, str]]:
    """(marker, line of the diff) of the hunk that is shown."""
    found = _NUMBERED.search(prompt_of(request))
    return _ROW.findall(found["code_text"]) if found else []


def merge(request: Request) -> str:
    """Can a hunk be merged? No where the rule `review` has a note on one of its lines, else yes."""
    note = next((note for _, line in _rows(request) if (note := _note(line))), None)
    answer = {"is_merged": note is None, "reason": note or "No added line matches the list.", "context_analysis": ""}
    return json.dumps(answer)


def locate(request: Request) -> str:
    """The lines that the rule `review` has a note on, then other added, then deleted, then unchanged ones."""
    rows = _rows(request)
    ranked = sorted(rows, key=lambda row: (_note(row[1]) is None, "+- ".index(row[1][0])))
    return json.dumps({"lines": [marker for marker, _ in ranked[:_MOST_LINES]], "reason": "notes come first"})


def comment(request: Request) -> str:
    """The note of the rule `review` on the first of the given lines that has one; else a question for its purpose."""
    rows = _rows(request)
    about = _FOCUS.search(prompt_of(request))
    given = [line for marker, line in rows if about and marker in about[1].split(", ")] or [line for _, line in rows]
    note = next((note for line in given if (note := _note(line))), None)
    return json.dumps({"comment": note or "What is this line for? Its purpose is not clear from the change."})


# --- reviews as text and as reports --------------------------------------------------------------------------------

_CHANGE = re.compile(rf"^Code change:\n{FENCED.format('code')}$", re.MULTILINE | re.DOTALL)
_DIFF = re.compile(rf"^(?:Diff|The change as one diff, [^\n]*):\n{FENCED.format('code')}$", re.MULTILINE | re.DOTALL)
_MOST = re.compile(r"Report at most (\d+) problems")
DANGERS = ("eval runs", "shell=True", "A secret")


def plain_review(request: Request) -> str:
    """The note of the rule `review` on the first added line that has one; else a question for a test."""
    shown = [found["code_text"] for message in request.messages for found in _CHANGE.finditer(message.text)]
    lines = shown[-1].split("\n") if shown else []
    return next((note for line in lines if (note := _note(line))), None) or "Is this change covered by a test?"


def report(request: Request) -> str:
    """A report with the notes of the rule `review`, one finding each."""
    findings = [{"file": path, "code": line, "comment": note} for path, line, note in noted_lines(request)]
    return json.dumps({"findings": findings})


def ranked_report(request: Request) -> str:
    """A report with as many notes of the rule `review` as are asked for, dangerous ones first."""
    most = _MOST.search("\n".join(message.text for message in request.messages))
    findings: list[dict[str, str]] = []
    for path, line, note in noted_lines(request):
        danger = any(word in note for word in DANGERS)
        kind = {"area": "security" if danger else "other", "severity": "high" if danger else "medium"}
        findings.append({**kind, "file": path, "code": line, "comment": note})
    ranked = sorted(findings, key=lambda finding: finding["severity"] != "high")
    about = {"tests": "The fake model does not look at tests.", "security": "Dangerous lines come first."}
    return json.dumps({**about, "findings": ranked[: int(most[1]) if most else None]})


def noted_lines(request: Request) -> Iterator[tuple[str, str, str]]:
    """(path, line, note) of each added line of the diff that has one."""
    found = _DIFF.search(prompt_of(request))
    path = ""
    for line in found["code_text"].split("\n") if found else ():
        if line.startswith("+++ "):
            path = line[4:].removeprefix("b/")
        elif note := _note(line):
            yield path, line, note


# --- prompts that name what to look for ------------------------------------------------------------------------------

NAMED_FROM = 0.5  # the share of a note's content words that a prompt has which names it
_WHOLE = re.compile(r"^<<<DATA (\w+)>>>\n.*?\n<<<END \1>>>$", re.DOTALL | re.MULTILINE)


def named_report(request: Request) -> str:
    """The rule `report`, without the notes that the prompt does not name in words of its own."""
    asked = "\n".join(
        _WHOLE.sub("", message.text) for message in request.messages if message.role is not Role.ASSISTANT
    )
    words = profile(asked).content
    found = []
    for path, line, note in noted_lines(request):
        own = profile(note).content
        if len(own & words) >= NAMED_FROM * len(own):
            found.append({"file": path, "code": line, "comment": note})
    return json.dumps({"findings": found})
