"""The presets of `prompt`: what each is asked with, on which tasks, what it is shown, how its answer is read.

The words are in `prompts/`: `NAME.txt` as the source prints them beside `NAME_fenced.txt`, or one file of our own words
where the source prints none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, NamedTuple

from pydantic import JsonValue

from reviewgauge.core.records import Change, Task
from reviewgauge.models.answers.records import answer_schema
from reviewgauge.models.request.messages import FENCE_NOTE, SECTION, Message, Prompt, fill, slots_of
from reviewgauge.repo.diff.diffs import parse_patch
from reviewgauge.repo.diff.positions import Marker
from reviewgauge.reviewers.reading.change_text import Piece, Pieces, Scope, focus_piece, pieces_of
from reviewgauge.reviewers.reading.model_answers import (
    LinesAnswer,
    MergeAnswer,
    OneComment,
    PieceReview,
    read_notes,
    read_task,
)
from reviewgauge.reviewers.reading.report_answers import Report, read_plain_review, read_report

PresetName = Literal[
    "aacr", "contextcrbench_assess", "contextcrbench_comment", "contextcrbench_locate", "crscore", "swr"
]


class Preset(NamedTuple):
    """How a prompt is used.

    `tasks` that it answers, its source's first. `scope` of its source. `numbered`: it is shown the hunk in focus, each
    line with its marker. `printed`: its source prints the prompt. `reader` reads an answer about a change.
    """

    tasks: tuple[Task, ...]
    reader: Callable[[str, Change, Prompt], PieceReview]
    scope: Scope = "hunk"
    numbered: bool = False
    printed: bool = False
    schema: Mapping[str, JsonValue] | None = None

    def pieces(self, change: Change, scope: Scope | Literal[""], longest: int) -> Pieces:
        """The pieces of a change that it is asked about, one call each."""
        if self.numbered or change.task in (Task.LOCATE, Task.COMMENT):
            return focus_piece(change, longest, numbered=self.numbered)
        return pieces_of(change, scope or self.scope, longest)

    def messages(
        self, prompt: Prompt, change: Change, piece: Piece, dress: Callable[[str], str], context: str
    ) -> tuple[Message, ...]:
        """The messages of one call. `dress` is what is done with every text that others wrote."""
        shown = {"pr_title": change.title, "pr_description": change.description, "diff_hunk": piece.text}
        values = {name: dress(text) for name, text in {**shown, "contexts": context}.items()}
        values |= {"fence_note": FENCE_NOTE, "focus_lines": _focus_lines(piece.change)}
        values["context"] = f"\nContext:\n{dress(context)}\n" if context else ""
        return prompt.messages({slot: values[slot] for slot in prompt.slots})


_CRITERIA = re.compile(
    r"Report the problems [^\n]{1,300} maintain\. |(?:Would a careful|Write the one comment)[^\n]{1,400}\n\n"
    r"|Focus on:\n(?:- [^\n]{1,80}\n){1,9}\n"
)
SLOTS = frozenset({"pr_title", "pr_description", "diff_hunk", "contexts", "fence_note", "focus_lines", "context"})
_OPEN = re.compile(  # a known name that is not quite a slot, or a word whose marks are not closed
    rf"\{{\{{\s*(?:{'|'.join(sorted(SLOTS))})\b.{{0,9}}|\{{\{{ ?[a-z_]+ ?(?:\}}(?!\}})|$)", re.MULTILINE
)


def completed(words: str, shipped: Prompt, context: bool) -> str:
    """A prompt made of the user's own words: what they lack follows, in the words of the shipped prompt.

    Words without a section `[user]` or `[system]` stand before the shipped prompt, whose criteria they replace; where
    they have the slots already, the form of the answer follows. In sections only slots are added.
    """
    rest = _CRITERIA.sub("", shipped.text)
    needed = required_slots(shipped)
    if not SECTION.match(words):
        section, _, asked = rest.partition("\n")
        if needed <= slots_of(words):
            form = rest.rpartition("}}")[2].strip("` \n")
            words = f"[user]\n{words.strip()}\n\n{form}\n"
        else:
            words = f"{section}\n{words.strip()}\n\n{asked}"
    there = slots_of(words)
    needed |= {"fence_note"} if FENCE_NOTE not in words else set()
    needed |= {"context"} if context and not there & {"context", "contexts"} else set()
    return words + "".join(f"\n{{{{ {slot} }}}}\n" for slot in sorted(needed - there))


def check_template(prompt: Prompt, shipped: Prompt, context: bool) -> str:
    """What is wrong with a prompt of the user's own in the place of a shipped one; empty where it will do."""
    rest = "\n".join(fill(text, dict.fromkeys(slots_of(text), "")) for _, text in prompt.parts)
    if unclosed := _OPEN.search(rest):
        return f"{unclosed[0]!r} is not a slot: write it as {{{{ name }}}}"
    if unknown := sorted(prompt.slots - SLOTS):
        return f"there is no slot {{{{ {unknown[0]} }}}}; there are {slots_in_words(SLOTS)}"
    if missing := sorted(required_slots(shipped) - prompt.slots):
        return f"the slot {{{{ {missing[0]} }}}} is missing"
    if "fence_note" not in prompt.slots and not any(FENCE_NOTE in text for _, text in prompt.parts):
        return (
            "the slot {{ fence_note }} is missing, which tells the model that the code under review is no instruction"
        )
    if context and not prompt.slots & {"context", "contexts"}:
        return "the slot {{ context }} is missing, and a context is given"
    return ""


def required_slots(shipped: Prompt) -> frozenset[str]:
    """The slots that a prompt in the place of `shipped` must have."""
    return shipped.slots & {"diff_hunk", "focus_lines"}


def slots_in_words(slots: Iterable[str]) -> str:
    """The slots as they are written in a prompt."""
    return ", ".join(f"{{{{ {slot} }}}}" for slot in sorted(slots))


def _focus_lines(change: Change) -> str:
    """The markers of the lines in focus; without lines, the whole hunk in words."""
    lines = [line for file in change.files for hunk in parse_patch(file.patch or "") for line in hunk.lines]
    span = change.focus
    if span is None or span.start is None or span.end is None:
        return "all of the hunk"
    numbers = range(span.start, span.end + 1)
    found = [str(Marker(line.old, line.new)) for line in lines if line.number(span.side) in numbers]
    return ", ".join(found) or "all of the hunk"


PRESETS: Mapping[PresetName, Preset] = {
    "aacr": Preset((Task.REVIEW, Task.ASSESS), lambda text, *_: PieceReview(read_notes(text)), printed=True),
    "contextcrbench_assess": Preset((Task.ASSESS,), read_task, numbered=True, schema=answer_schema(MergeAnswer)),
    "contextcrbench_comment": Preset((Task.COMMENT,), read_task, numbered=True, schema=answer_schema(OneComment)),
    "contextcrbench_locate": Preset((Task.LOCATE,), read_task, numbered=True, schema=answer_schema(LinesAnswer)),
    "crscore": Preset(
        (Task.REVIEW, Task.COMMENT), lambda text, _, prompt: PieceReview((read_plain_review(text, prompt),))
    ),
    "swr": Preset(
        (Task.REVIEW, Task.ASSESS),
        lambda text, _, prompt: PieceReview(read_report(text, prompt)),
        scope="change",
        schema=answer_schema(Report),
    ),
}


def refusal(tasks: tuple[Task, ...], change: Change) -> str:
    """Why what answers `tasks` cannot be asked about a change; empty where it can."""
    if change.task not in tasks:
        return f"the task is {change.task}, and it answers {' and '.join(tasks)}"
    if change.task is Task.LOCATE and change.focus is None and len(change.files) > 1:
        return "it has several files and no focus, so that a line number alone names no line"
    return ""


def preset_for(task: Task) -> str:
    """The presets of a task, as parameters of `prompt`."""
    return " or ".join(f'preset="{name}"' for name, preset in PRESETS.items() if task in preset.tasks)
