"""Sorting comments and changes into classes: one question with one word for an answer, and a vote over several.

Sources: AACR-Bench (arXiv:2601.19494) prints the prompts for its nine problem domains (Figure 5) and its four issue
categories (Figure 20). SWR-Bench's types (arXiv:2509.01494, Table I) and the context that a finding needs (AACR-Bench's
diff, file and repository level) are asked in our own words: the papers print no prompt for them.

SWR-Bench speaks of 11 types where it defines them (two groups of leaves), and of 13 where it asks a model: E.1 and E.3
among them. All are read; a type is reported as it was given.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

from pydantic import JsonValue

from reviewgauge.core.errors import UserError
from reviewgauge.core.records import RequiredContext
from reviewgauge.core.results import Failed, FailureKind, Vote
from reviewgauge.models.answers.json_values import storable
from reviewgauge.models.answers.readers import choice, one_answer
from reviewgauge.models.chat.ask import ask_for_each
from reviewgauge.models.chat.client import chat_model
from reviewgauge.models.request.messages import FENCE_NOTE, Message, Prompt, fence, load_prompt, system
from reviewgauge.models.request.model_spec import parse_model

What = Literal["category", "domain", "type", "context"]
PromptKind = Literal["published", "fenced", "own"]
NO_HUNK = "(not at hand)"
MOST_VOTES = 99


class ChangeType(NamedTuple):
    """A type's name and what it covers, in the words of Table I."""

    name: str
    covers: str


TYPES: Mapping[str, ChangeType] = {
    "E.1": ChangeType("Documentation", "Modifying in-code information for better human understanding."),
    "E.1.1": ChangeType("Textual", "Changing textual code elements (comments, names)."),
    "E.1.2": ChangeType("Language Supported", "Using language features for documentation purposes."),
    "E.2": ChangeType("Visual Representation", "Modifying code layout for better style and readability."),
    "E.3": ChangeType("Structure", "Altering the project's organization or architecture."),
    "E.3.1": ChangeType("Organization", "Reorganizing code by moving or removing parts."),
    "E.3.2": ChangeType(
        "Solution Approach", "Altering implementation methods or adding maintainability elements (e.g., tests)."
    ),
    "F.1": ChangeType("Interface", "Modifying interactions between codebase parts."),
    "F.2": ChangeType("Logic", "Changing the code's logical operations or algorithms."),
    "F.3": ChangeType("Resource", "Altering how variables or resources are managed."),
    "F.4": ChangeType("Check", "Modifying checks for unhandled states/conditions."),
    "F.5": ChangeType("Support", "Adjusting interactions with external support systems or libraries."),
    "F.6": ChangeType("Larger Defects", "Fixing major, extensive functional issues or missing features."),
}
GROUPS = ("E.1", "E.3")  # what is not a leaf
_CODE = re.compile(r"([EF](?:\.\d){1,2})\.?(?:[\s:,(–—-]++(.*))?", re.IGNORECASE | re.DOTALL)


def change_type(text: str | None) -> str | None:
    """The code of the type that `text` names: "F.2", "F.2 Logic", "f.2: Logic". None where it names none.

    A name beside the code must fit it: "F.2 Check" names two types, so none.
    """
    found = _CODE.fullmatch((text or "").strip())
    if found is None or (code := found[1].upper()) not in TYPES:
        return None
    words = re.findall(r"[a-z]+", (found[2] or "").lower())
    return code if not words or TYPES[code].name.split()[0].lower() in words else None


def functional(code: str | None) -> bool:
    """Whether a type is a functional one."""
    return code is not None and code.startswith("F")


def listing(*, groups: bool = True) -> str:
    """The types for a prompt, one a line; without `groups` the leaves alone."""
    lines = [f"- {code} {kind.name}: {kind.covers}" for code, kind in TYPES.items() if groups or code not in GROUPS]
    return "\n".join(lines)


class Question(NamedTuple):
    """One way to sort. `options` maps the word that a model answers with to the word that is stored.

    `published`: the prompt is printed in its paper. `of_changes`: what is sorted are changes, by title and description.
    """

    dimension: str
    prompt: str
    options: Mapping[str, str]
    synonyms: Mapping[str, str]
    published: bool
    of_changes: bool = False
    needs_hunk: bool = True


_DOMAINS = {  # code: the data set's word, and other words for it
    "BF": ("Bug Fix", "Bug Fixes"),
    "NFA": ("New Feature Additions", "New Feature Addition"),
    "CA": ("Code Refactoring / Architectural Improvement", "Code Refactoring"),
    "DU": ("Documentation Update",),
    "TC": ("Test Suite / CI Enhancements",),
    "PO": ("Performance Optimizations", "Performance Optimization"),
    "SV": ("Security Patches / Vulnerability Fixes", "Security Patch / Vulnerability Fix", "Security Patches"),
    "DE": ("Dependency Updates & Environment Compatibility", "Dependency Update / Environment Compatibility"),
    "CLF": ("Code Style, Linting, Formatting Fixes", "Code Style / Linting / Formatting Fix"),
}
QUESTIONS: Mapping[What, Question] = {
    "category": Question(
        "category",
        "class_category",
        {
            "Security Vulnerability": "security",
            "Code Defect": "defect",
            "Maintainability and Readability": "maintainability",
            "Performance": "performance",
        },
        {"Maintainability & Readability": "Maintainability and Readability", "Performance Issue": "Performance"},
        published=True,
    ),
    "domain": Question(
        "domain",
        "class_domain",
        {code: words[0] for code, words in _DOMAINS.items()},
        {word: code for code, words in _DOMAINS.items() for word in words},
        published=True,
        of_changes=True,
        needs_hunk=False,
    ),
    "type": Question(
        "swr_type",
        "class_type",
        {code: f"{code} {kind.name}" for code, kind in TYPES.items()},
        {f"{code}{joint}{kind.name}": code for code, kind in TYPES.items() for joint in (" ", ": ")},
        published=False,
        needs_hunk=False,
    ),
    "context": Question(
        "needs",
        "class_context",
        {str(need): str(need) for need in RequiredContext},
        {"Diff Level": "diff", "File Level": "file", "Repo Level": "repo", "repository": "repo"},
        published=False,
    ),
}


class Decision(NamedTuple):
    """The class that most votes name, the share of the votes that do, and all of them with their raw answers."""

    value: str
    share: float
    votes: tuple[Vote, ...]

    @property
    def reason(self) -> str:
        """The votes as JSON: trial, value and raw answer of each."""
        rows = [{"trial": at, "value": vote.value, "raw": vote.reason} for at, vote in enumerate(self.votes, 1)]
        return json.dumps(rows, ensure_ascii=False)


@dataclass(frozen=True)
class Classifier:
    """One question to one model, `votes` times. More than half of the votes decide; without that, nothing does.

    `prompt`: "published" sends the paper's bytes, "fenced" the same words with what is judged marked as data; where no
    prompt is printed there is only "own", which is fenced.
    """

    model: str
    what: What
    votes: int = 1
    prompt: PromptKind = "fenced"

    def __post_init__(self) -> None:
        if self.what not in QUESTIONS:
            raise UserError(f"{self.what!r} is not a classification", remedy=f"there are: {', '.join(QUESTIONS)}")
        parse_model(self.model)
        if not 1 <= self.votes <= MOST_VOTES:
            raise UserError(f"votes must be from 1 to {MOST_VOTES}, got {self.votes}")
        if self.prompt == "published" and not self.question.published:
            raise UserError(
                f"no paper prints a prompt for the {self.what} of a comment", remedy="leave prompt out: it is our own"
            )

    @property
    def question(self) -> Question:
        """The question."""
        return QUESTIONS[self.what]

    @property
    def kind(self) -> PromptKind:
        """Where the prompt is from."""
        return self.prompt if self.question.published else "own"

    @property
    def words(self) -> Prompt:
        """The prompt."""
        return load_prompt("reviewgauge.judges", self.question.prompt)

    @property
    def setting(self) -> str:
        """The part of the setting, besides the model, that comparable labels share."""
        digest = self.words.digest if self.kind == "published" else self.words.fenced_digest
        return f"{self.kind} prompt {digest}, {self.votes} vote{'' if self.votes == 1 else 's'}"

    def messages(self, texts: Mapping[str, str]) -> tuple[Message, ...]:
        """The prompt, filled with the texts of its slots."""
        if self.kind == "published":
            return self.words.messages(texts)
        values = {name: text if text == NO_HUNK else fence(text) for name, text in texts.items()}
        if self.kind == "own":
            extra = {"fence_note": FENCE_NOTE, "types": listing()}
            values |= {name: text for name, text in extra.items() if name in self.words.slots}
            return self.words.messages(values)
        return (system(FENCE_NOTE), *self.words.messages(values))

    @property
    def answer_schema(self) -> Mapping[str, JsonValue] | None:
        """One of the options and nothing else, except where the published call is made as it was."""
        return None if self.kind == "published" else one_answer(list(self.question.options))

    def decide(self, texts: Mapping[str, str]) -> Decision:
        """Ask, and count the votes. Raises Failed, also where no class has more than half of the votes."""
        read = partial(read_class, self.question)
        messages = self.messages(texts)
        trials = list(range(1, self.votes + 1))
        answers = ask_for_each(
            chat_model(self.model), [messages] * self.votes, read, trials=trials, schema=self.answer_schema
        )
        readings = [answer for answer in answers if not isinstance(answer, Failed)]
        votes = tuple(Vote(rater=self.model, value=one.value, reason=storable(one.raw)) for one in readings)
        return decided(self.votes, votes, [answer for answer in answers if isinstance(answer, Failed)])


def decided(asked: int, votes: Sequence[Vote], failed: Sequence[Failed]) -> Decision:
    """The decision of the votes. Raises Failed where no class has more than half of those asked."""
    counts = Counter(str(vote.value) for vote in votes)
    value, most = max(counts.items(), key=lambda item: item[1], default=("", 0))
    if most * 2 > asked:
        return Decision(value, most / asked, tuple(votes))
    if failed:
        raise failed[0]
    summary = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    raise Failed(
        FailureKind.UNREADABLE,
        f"undecided: {summary}",
        remedy="an odd number of votes, or a surer model",
        raw="\n".join(vote.reason or "" for vote in votes),
    )


def read_class(question: Question, text: str) -> str:
    """The stored word of the one class that an answer names. Raises Unreadable."""
    return question.options[choice(text, list(question.options), question.synonyms)]
