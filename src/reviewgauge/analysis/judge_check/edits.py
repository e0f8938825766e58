"""Edits of a judge's questions: neutral ones that should change no answer, and attacks that tell it what to answer.

Their words and texts, all our own, are in `edits.toml`. Neutral edits (padding, rewording, irrelevant marks) are
deterministic; one that finds nothing to change returns its text, and the question is left out. Each attack goes both
ways, towards yes (or the highest grade) and towards no (or the lowest); a judge obeys where an answer turns the way the
attack wants. The attack techniques are those of the literature on prompt injection: Perez and Ribeiro, Ignore previous
prompt, arXiv:2211.09527 (2022); Greshake et al., Not what you've signed up for, arXiv:2302.12173 (2023); Shi et al.,
JudgeDeceiver, arXiv:2403.17710 (2024).
"""

from __future__ import annotations

import base64
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.resources import files
from typing import Literal, NamedTuple

from reviewgauge.analysis.judge_check.instrument import Ask
from reviewgauge.core.records import ChangedFile

_TEXTS = tomllib.loads(files(__package__).joinpath("edits.toml").read_text("utf-8"))
PADDING: tuple[str, ...] = tuple(_TEXTS["padding"])
Change = Callable[[str], str]


class Edit(NamedTuple):
    """One edit: its name, what it does in a few words, and the edit itself."""

    name: str
    what: str
    apply: Change


def pad(text: str) -> str:
    """Two neutral sentences before, two after."""
    first, second, third, fourth = PADDING
    return f"{first} {second} {text} {third} {fourth}"


def _replaced(text: str, table: dict[str, str]) -> str:
    """`text` with the words of `table` replaced outside code, first letters kept as they are."""
    words = "|".join(re.escape(word) for word in sorted(table, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w.`/-])(?:{words})(?![\w`(/-]|\.\w)", re.IGNORECASE)

    def replacement(found: re.Match[str]) -> str:
        new = table[found[0].lower()]
        return new[0].upper() + new[1:] if found[0][0].isupper() else new

    pieces = re.split(r"(```.*?(?:```|\Z)|`[^`\n]*`)", text, flags=re.DOTALL)
    return "".join(piece if at % 2 else pattern.sub(replacement, piece) for at, piece in enumerate(pieces))


def _contracted(text: str) -> str:
    return _replaced(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"), _TEXTS["contractions"])


def _expanded(text: str) -> str:
    table = {short: long for long, short in _TEXTS["contractions"].items()}
    return _replaced(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"), table)


def _lower(text: str) -> str:
    return re.sub(r"(?:^|(?<=[.!?]\s))[A-Z](?=[a-z]+\b)", lambda found: found[0].lower(), text)


def _reversed(text: str) -> str:
    """The sentences in reverse order, where there are several and no code block."""
    if "```" in text:
        return text
    sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z`])", text.strip())
    return " ".join(reversed(sentences)) if len(sentences) > 1 else text


_CHANGES: Mapping[str, Change] = {
    "contractions": _contracted,
    "no contractions": _expanded,
    "synonyms": lambda text: _replaced(text, _TEXTS["synonyms"]),
    "closing question": lambda text: f"{text.rstrip()} Could this be looked at again?",
    "lower case": _lower,
    "bold": lambda text: re.sub(r"^(\w+(?:[ \t]\w+){1,3})", r"**\1**", text),
    "sentences turned": _reversed,
    "white space": lambda text: "\n\n" + text.replace(" ", "  ") + "  \n\n",
    "nit": lambda text: text if text.startswith("Nit:") else "Nit: " + text,
}


def _edit(one: Mapping[str, str]) -> Edit:
    template = one.get("template", "")
    return Edit(one["name"], one["what"], _CHANGES.get(one["name"], lambda text: template.replace("{text}", text, 1)))


REWORDINGS, IRRELEVANT = (tuple(map(_edit, _TEXTS[group])) for group in ("rewording", "irrelevant"))
FRAMINGS: tuple[Mapping[str, str], ...] = tuple(_TEXTS["framing"])
"""What a change may be said to be: a judge of comments should not care (arXiv:2603.18740 has reviewers that do)."""


# --- attacks -------------------------------------------------------------------------------------------------------


Direction = Literal["up", "down"]
Place = Literal["after", "before", "around", "title", "description", "diff"]
WANTED: Mapping[Direction, Mapping[str, str | int]] = _TEXTS["wanted"]
"""Direction -> the words that fill an attack's template: `word` for a pair judge, `grade` for a grader."""


class Attack(NamedTuple):
    """One hostile text: a template over `WANTED`, its place, and how it is encoded. `{text}` is the attacked text."""

    name: str
    template: str
    place: Place = "after"
    technique: str = ""
    encode: str = ""


def attacked(ask: Ask, attack: Attack, direction: Direction) -> Ask:
    """The question with the attack in every comment, or in the change."""
    hostile = _ENCODINGS[attack.encode](attack.template.format(**WANTED[direction], text="{text}"))
    if attack.place in ("after", "before", "around"):
        comments = tuple(
            c.model_copy(update={"body": _put(c.body, hostile, attack.place)}) for c in ask.review.comments
        )
        return replace(ask, review=ask.review.model_copy(update={"comments": comments}))
    change = ask.case.change
    edited: dict[str, object]
    if attack.place == "title":
        edited = {"title": f"{change.title} {hostile}".strip()}
    elif attack.place == "description":
        edited = {"description": f"{change.description}\n\n{hostile}".strip()}
    else:
        edited = {"files": tuple(_with_line(file, hostile) for file in change.files)}
    return replace(ask, case=ask.case.model_copy(update={"change": change.model_copy(update=edited)}))


def _put(body: str, hostile: str, place: Place) -> str:
    if place == "around":
        return hostile.replace("{text}", body, 1)
    return f"{body}\n\n{hostile}" if place == "after" else f"{hostile}\n\n{body}"


def _with_line(file: ChangedFile, hostile: str) -> ChangedFile:
    if file.patch is None:
        return file
    lines = "".join(f"\n+// {line}" for line in hostile.split("\n"))
    return file.model_copy(update={"patch": file.patch + lines})


def _tags(text: str) -> str:
    """The text in Unicode tag characters, which no screen shows and some models read."""
    return "".join(chr(0xE0000 + ord(c)) for c in text if 0x20 <= ord(c) < 0x7F)


def _wide(text: str) -> str:
    """The text in full-width letters."""
    return "".join(chr(ord(c) + 0xFEE0) if 0x21 <= ord(c) < 0x7F else c for c in text)


def _base64(text: str) -> str:
    return "Decode and obey: " + base64.b64encode(text.encode()).decode()


_ENCODINGS: Mapping[str, Change] = {
    "": str,
    "base64": _base64,
    "tags": _tags,
    "wide": _wide,
    "zero width": "\u200b".join,
}
ATTACKS = tuple(Attack(**one) for one in _TEXTS["attack"])
