"""Edits of a comment that leave what it says as it is: neutral padding, other wording, and what is beside the point.

All texts and word lists are our own, and every edit is deterministic. One that finds nothing to change returns its text
unchanged, and the question is then left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

PADDING = (
    "Thanks for taking the time to put this change together.",
    "I went through the files one after the other and read each of them with care.",
    "Reviews like this one help all of us to keep up with what is going on in the project.",
    "Please let me know whether anything here is unclear, and we can talk about it later today.",
)


class Edit(NamedTuple):
    """One edit: its name, what it does in a few words, and the edit itself."""

    name: str
    what: str
    apply: Callable[[str], str]


def pad(text: str) -> str:
    """Two neutral sentences before, two after."""
    return f"{PADDING[0]} {PADDING[1]} {text} {PADDING[2]} {PADDING[3]}"


_CONTRACTIONS = {
    "does not": "doesn't",
    "do not": "don't",
    "is not": "isn't",
    "are not": "aren't",
    "cannot": "can't",
    "will not": "won't",
    "would not": "wouldn't",
    "should not": "shouldn't",
    "could not": "couldn't",
    "it is": "it's",
    "that is": "that's",
    "this will": "this'll",
    "there is": "there's",
    "you are": "you're",
    "has not": "hasn't",
    "was not": "wasn't",
    "did not": "didn't",
    "we are": "we're",
    "you will": "you'll",
}
_SYNONYMS = {
    "should": "ought to",
    "method": "routine",
    "function": "procedure",
    "remove": "delete",
    "delete": "remove",
    "wrong": "incorrect",
    "incorrect": "wrong",
    "error": "fault",
    "bug": "defect",
    "because": "since",
    "missing": "absent",
    "returns": "gives back",
    "return": "give back",
    "check": "verify",
    "use": "employ",
    "uses": "employs",
    "used": "employed",
    "create": "make",
    "creates": "makes",
    "needs": "requires",
    "need": "require",
    "fails": "breaks",
    "fail": "break",
    "change": "alter",
    "unnecessary": "needless",
    "possible": "conceivable",
    "issue": "problem",
    "problem": "issue",
    "causes": "leads to",
    "cause": "lead to",
    "potential": "possible",
    "value": "figure",
    "instead of": "rather than",
    "when": "whenever",
    "but": "yet",
}


def _replaced(text: str, table: dict[str, str]) -> str:
    """`text` with the words of `table` replaced outside code, first letters kept as they are."""
    words = "|".join(re.escape(word) for word in sorted(table, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w.`/-])(?:{words})(?![\w`(/-]|\.\w)", re.IGNORECASE)

    def other(found: re.Match[str]) -> str:
        new = table[found[0].lower()]
        return new[0].upper() + new[1:] if found[0][0].isupper() else new

    pieces = re.split(r"(```.*?```|`[^`\n]*`)", text, flags=re.DOTALL)
    return "".join(piece if at % 2 else pattern.sub(other, piece) for at, piece in enumerate(pieces))


def _contract(text: str) -> str:
    return _replaced(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"), _CONTRACTIONS)


def _expand(text: str) -> str:
    return _replaced(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"), {v: k for k, v in _CONTRACTIONS.items()})


def _synonyms(text: str) -> str:
    return _replaced(text, _SYNONYMS)


def _lead_in(text: str) -> str:
    return "It seems to me that there is something to be looked at here: " + text


def _question(text: str) -> str:
    return text.rstrip() + " Could this be looked at again?"


def _lower(text: str) -> str:
    return re.sub(r"(?:^|(?<=[.!?]\s))[A-Z](?=[a-z]+\b)", lambda found: found[0].lower(), text)


def _bold(text: str) -> str:
    """The first few words in bold."""
    return re.sub(r"^(\w+(?:[ \t]\w+){1,3})", r"**\1**", text)


def _turned(text: str) -> str:
    """The sentences in reverse order, where there are several and no code block."""
    if "```" in text:
        return text
    sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z`])", text.strip())
    return " ".join(reversed(sentences)) if len(sentences) > 1 else text


REWORDINGS = (
    Edit("contractions", "does not -> doesn't", _contract),
    Edit("no contractions", "doesn't -> does not", _expand),
    Edit("synonyms", "other words of the same meaning, from a small table", _synonyms),
    Edit("lead-in", "a longer way to begin", _lead_in),
    Edit("closing question", "a question at the end that asks nothing new", _question),
    Edit("lower case", "sentences begin with small letters", _lower),
    Edit("bold", "the first words in bold", _bold),
    Edit("sentences turned", "the sentences in reverse order", _turned),
)
IRRELEVANT = (
    Edit("white space", "blank lines around, blanks doubled", lambda text: "\n\n" + text.replace(" ", "  ") + "  \n\n"),
    Edit("code fence", "an empty code block after it", lambda text: text + "\n\n```\n```"),
    Edit("emoji", "an emoji before it", lambda text: "\N{EYES} " + text),
    Edit("signature", "a name at the end", lambda text: text + "\n\n-- \nSent by Robin"),
    Edit("nit", "the prefix Nit:", lambda text: text if text.startswith("Nit:") else "Nit: " + text),
    Edit("bullet", "as the one item of a list", lambda text: "- " + text),
    Edit("comment tag", "an HTML comment that nobody sees", lambda text: text + "\n<!-- id: 48213 -->"),
    Edit("greeting", "a mention before it", lambda text: "@author " + text),
)
