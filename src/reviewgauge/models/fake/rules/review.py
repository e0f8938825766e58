"""Reviews: one note for each added line in which a pattern of a short list occurs, the first of the list that does.

The list: `except:`, `eval(`, `shell=True`, `== None` or `!= None`, a quoted text given to a name that holds `password`,
`secret` or `token`, `TODO` or `FIXME`, `print(` or `console.log(`. Nothing found: `<end />` alone. A line that itself
holds one of the answer's tags is passed over.
"""

from __future__ import annotations

import re

from reviewgauge.models.request.messages import Request

OPENING = "You are an expert code reviewer. Your task is to review the following code changes"
_RULES: tuple[tuple[str, str], ...] = (
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


def reply(request: Request) -> str:
    """Notes on the added lines of the code that is shown, in AACR-Bench's tags."""
    notes = []
    for line in _code(request.messages[0].text).split("\n"):
        if not line.startswith("+") or line.startswith("+++ ") or not line[1:].strip() or _TAGS.search(line):
            continue
        said = next((words for pattern, words in _RULES if re.search(pattern, line)), None)
        if said is not None:
            notes.append(f"<diff>\n{line}\n</diff>\n<side>right</side>\n<note>\n{said}\n</note>\n")
    return "<notesplit />\n".join([*notes, ""]) + "<end />"


def _code(asked: str) -> str:
    """What stands between the two headings of the prompt; its own example stands behind the second."""
    begin = asked.find("\n## Code Changes to Review\n")
    end = asked.rfind("\n## Instructions\n")
    return asked[begin:end] if 0 <= begin < end else ""
