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
from importlib.resources import files
from typing import Literal, NamedTuple

from reviewgauge.core.records import Case, ChangedFile, Review

_TEXTS = tomllib.loads(files(__package__).joinpath("edits.toml").read_text("utf-8"))
PADDING: tuple[str, ...] = tuple(_TEXTS["padding"])


class Edit(NamedTuple):
    """One edit: its name, what it does in a few words, and the edit itself."""

    name: str
    what: str
    apply: Callable[[str], str]


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


def _straight(text: str) -> str:
    """`text` with straight apostrophes."""
    return text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")


def _lower(text: str) -> str:
    return re.sub(r"(?:^|(?<=[.!?]\s))[A-Z](?=[a-z]+\b)", lambda found: found[0].lower(), text)


def _bold(text: str) -> str:
    """The first few words in bold."""
    return re.sub(r"^(\w+(?:[ \t]\w+){1,3})", r"**\1**", text)


def _reversed(text: str) -> str:
    """The sentences in reverse order, where there are several and no code block."""
    if "```" in text:
        return text
    sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z`])", text.strip())
    return " ".join(reversed(sentences)) if len(sentences) > 1 else text


_EXPANSIONS = {short: long for long, short in _TEXTS["contractions"].items()}
REWORDINGS = (
    Edit("contractions", "does not -> doesn't", lambda text: _replaced(_straight(text), _TEXTS["contractions"])),
    Edit("no contractions", "doesn't -> does not", lambda text: _replaced(_straight(text), _EXPANSIONS)),
    Edit("synonyms", "words of the same meaning, from a small table", lambda text: _replaced(text, _TEXTS["synonyms"])),
    Edit(
        "lead-in",
        "a longer opening",
        lambda text: f"It seems to me that there is something to be looked at here: {text}",
    ),
    Edit(
        "closing question",
        "a question at the end that adds nothing",
        lambda text: f"{text.rstrip()} Could this be looked at again?",
    ),
    Edit("lower case", "sentences start with small letters", _lower),
    Edit("bold", "the first words in bold", _bold),
    Edit("sentences turned", "the sentences in reverse order", _reversed),
)
IRRELEVANT = (
    Edit("white space", "blank lines around, blanks doubled", lambda text: "\n\n" + text.replace(" ", "  ") + "  \n\n"),
    Edit("code fence", "an empty code block after it", lambda text: text + "\n\n```\n```"),
    Edit("emoji", "an emoji before it", lambda text: "\N{EYES} " + text),
    Edit("signature", "a name at the end", lambda text: text + "\n\n-- \nSent by Robin"),
    Edit("nit", "the prefix Nit:", lambda text: text if text.startswith("Nit:") else "Nit: " + text),
    Edit("bullet", "as the one item of a list", lambda text: "- " + text),
    Edit("comment tag", "an invisible HTML comment", lambda text: text + "\n<!-- id: 48213 -->"),
    Edit("greeting", "a mention before it", lambda text: "@author " + text),
)


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
    encode: Callable[[str], str] = str

    def text(self, direction: Direction) -> str:
        """The hostile text for a direction."""
        return self.encode(self.template.format(**WANTED[direction], text="{text}"))


def attacked(case: Case, review: Review, attack: Attack, direction: Direction) -> tuple[Case, Review]:
    """The question with the attack in every comment, or in the change."""
    hostile = attack.text(direction)
    if attack.place in ("after", "before", "around"):
        comments = tuple(c.model_copy(update={"body": _put(c.body, hostile, attack.place)}) for c in review.comments)
        return case, review.model_copy(update={"comments": comments})
    change = case.change
    if attack.place == "title":
        change = change.model_copy(update={"title": f"{change.title} {hostile}".strip()})
    elif attack.place == "description":
        change = change.model_copy(update={"description": f"{change.description}\n\n{hostile}".strip()})
    else:
        files = tuple(_with_line(file, hostile) for file in change.files)
        change = change.model_copy(update={"files": files})
    return case.model_copy(update={"change": change}), review


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


_ENCODINGS: Mapping[str, Callable[[str], str]] = {
    "": str,
    "base64": _base64,
    "tags": _tags,
    "wide": _wide,
    "zero width": "\u200b".join,
}
ATTACKS = tuple(Attack(**{**one, "encode": _ENCODINGS[one.get("encode", "")]}) for one in _TEXTS["attack"])
