"""Answers of models as comments, verdicts and lines, read strictly: an unclear answer is Unreadable, never a guess.

`read_notes` reads AACR-Bench's hunk answers (`<diff>`, `<side>`, `<note>`, `<notesplit />`, and `<end />` at the end),
`read_task` those of ContextCRBench's three tasks (arXiv:2511.07017): `is_merged`, `lines`, `comment`.
"""

from __future__ import annotations

import re
from typing import Annotated, NamedTuple

from pydantic import BeforeValidator

from reviewgauge.core.errors import BadInput
from reviewgauge.core.records import Change, Comment, Side, Span, Task
from reviewgauge.formats.tags import Tags, closing_tag
from reviewgauge.models.answers.prose import is_refusal, obeys
from reviewgauge.models.answers.readers import Unreadable
from reviewgauge.models.answers.records import AnswerRecord, LooseText, Text, read_record
from reviewgauge.models.request.messages import Prompt, load_prompt
from reviewgauge.repo.diff.diffs import parse_patch
from reviewgauge.repo.diff.positions import find_marker, parse_marker
from reviewgauge.reviewers.reading.report_answers import storable_comment

_THOUGHT = re.compile(r"\s*<think(?:ing)?>")
_END_OF_THOUGHT = re.compile(r"</think(?:ing)?>")
_END_MARK = r"<\s*+/?\s*+end\s*+/?\s*+>"
_END = re.compile(_END_MARK + r"\s*+(?:```\s*)?\Z")
_PART = re.compile(r"<(diff|side|note)>|<\s*+/?\s*+(notesplit)\s*+/?\s*+>")
_TAG = re.compile(r"</?\s*(diff|side|note)\s*>")
_LEFTOVER = re.compile(_END_MARK)
_SIDES = ("left", "right", "old", "new")
_NOTHING = "write each finding as <diff>, <side> and <note>, or <end /> alone where there is nothing to report"


def read_notes(text: str) -> tuple[Comment, ...]:
    """The notes of an answer, each with its fragment as `claimed.hunk`; none where it is `<end />` alone.

    Raises Unreadable: no `<end />` at the end (it may be cut off), text after it, a tag that is open or nested, a note
    without code or with two pieces of code, a side that is neither left nor right, prose in place of notes. A side that
    is not given is not a reason: the code tells. Words before and between notes are skipped, and so is a thought.
    """
    thought = _END_OF_THOUGHT.search(text) if _THOUGHT.match(text) else None
    answer = text[thought.end() :] if thought else text
    end = _END.search(answer)
    if end is None:
        raise Unreadable("it does not end with <end />, so it may be cut off")
    body = answer[: end.start()]
    parts, outside = _parts(body)
    if found := _TAG.search(outside):
        raise Unreadable(f"a {found[0]} is not closed or not opened")
    count = _check_parts(parts)
    if _LEFTOVER.search(outside):
        raise Unreadable("it goes on after <end />")
    if not count:
        if outside.replace("```", "").strip() not in ("", "xml", "text"):
            raise Unreadable(f"it holds words but no <note>: {_NOTHING}")
        return ()
    try:
        comments = Tags().read(answer.encode("utf-8", "surrogatepass"), "the answer")[0].comments
    except BadInput as error:
        raise Unreadable(f"it cannot be stored: {error.problem}") from None
    prompt = load_prompt("reviewgauge.reviewers", "aacr")
    for one in comments:
        hunk = one.claimed.hunk if one.claimed else ""
        if is_refusal(one.body) or (prompt.is_repeated_by(one.body) and prompt.is_repeated_by(hunk or "...")):
            raise Unreadable("a note is a refusal, or repeats the example of the question")
    if len(comments) != count:
        raise Unreadable(f"its notes cannot be told apart: {_NOTHING}")
    return comments


def _parts(body: str) -> tuple[list[tuple[str, str]], str]:
    """(name and text of each tag that is closed, and of each split; the text outside of them)."""
    parts, outside, at = [], [], 0
    unclosed: set[str] = set()
    for start in _PART.finditer(body):
        name = start[1] or start[2]
        if start.start() < at or name in unclosed:
            continue
        end = start if start[2] else closing_tag(name).search(body, start.end())
        if end is None:
            unclosed.add(name)
            continue
        parts.append((name, body[start.end() : end.start()]))
        outside.append(body[at : start.start()])
        at = end.end()
    return parts, "".join([*outside, body[at:]])


def _check_parts(parts: list[tuple[str, str]]) -> int:
    """The number of notes, each made sure to have its own code."""
    count = 0
    given: set[str] = set()
    for name, value in parts:
        if name == "notesplit":
            if given:
                raise Unreadable(f"a {_named(given)} has no <note>")
            continue
        if nested := _TAG.search(value):
            raise Unreadable(f"a {nested[0]} is inside <{name}>")
        if name in given:
            raise Unreadable(f"note {count + 1} has two <{name}>")
        if not value.strip():
            raise Unreadable(f"note {count + 1} has an empty <{name}>")
        if name == "side" and value.strip().lower() not in _SIDES:
            raise Unreadable(f"note {count + 1} has the side {value.strip()[:40]!r}, which is neither left nor right")
        given.add(name)
        if name == "note":
            count += 1
            if "diff" not in given:
                raise Unreadable(f"note {count} has no <diff> before it")
            given = set()
    if given:
        raise Unreadable(f"a {_named(given)} has no <note>")
    return count


def _named(given: set[str]) -> str:
    return f"<{min(given)}>"


_NOT_MERGED = re.compile(r"(?:\bnot|\bnever|n['’]t)(?: \w+){0,2} (?:merged?|approved?|accepted?)\b", re.IGNORECASE)
MOST_LINES = 10  # the paper asks for ten
_YES_NO = {"yes": True, "true": True, "merged": True, "no": False, "false": False, "not merged": False}


def _yes_no(value: object) -> object:
    return _YES_NO.get(value.strip().lower(), value) if isinstance(value, str) else value


class MergeAnswer(AnswerRecord):
    """Whether a change can be merged."""

    is_merged: Annotated[bool, BeforeValidator(_yes_no)]
    reason: LooseText = ""
    context_analysis: LooseText = ""


class LinesAnswer(AnswerRecord):
    """Markers of lines, the likeliest first."""

    lines: list[Annotated[str, BeforeValidator(lambda value: value if isinstance(value, str) else "not text")]]
    reason: LooseText = ""


class OneComment(AnswerRecord):
    """One comment."""

    comment: Text


class PieceReview(NamedTuple):
    """What a model said of one piece: comments, or a verdict, or lines; and a remark for the trace."""

    comments: tuple[Comment, ...] = ()
    verdict: bool | None = None
    ranked_lines: tuple[Span, ...] = ()
    remark: str = ""


def read_task(answer: object, change: Change, prompt: Prompt | None = None, *, repair: bool = False) -> PieceReview:
    """The answer to the task of `change`, a text or an object: a verdict, lines, or a comment. Raises Unreadable."""
    if change.task is Task.ASSESS:
        found = read_record(answer, MergeAnswer, prompt)
        if found.is_merged and (_NOT_MERGED.search(found.reason) or obeys(found.reason)):
            raise Unreadable("its reason contradicts is_merged, or follows an order of the code")
        return PieceReview(verdict=found.is_merged, remark=found.reason)
    if change.task is Task.LOCATE:
        return _ranked(read_record(answer, LinesAnswer, prompt).lines, change, repair)
    return PieceReview(comments=(storable_comment(read_record(answer, OneComment, prompt).comment),))


def _ranked(listed: list[str], change: Change, repair: bool) -> PieceReview:
    """The named lines in the order of the answer; the markers that the hunk does not have are the remark.

    Such a marker keeps its rank, and its number where it has one, so that `pass_at_k` counts it as wrong or puts it
    right as published; with two numbers it is a place without a line.
    """
    markers = [parse_marker(item) for item in listed]
    if not any(markers):
        raise Unreadable("none of its lines is a marker [old][new]")
    path = change.focus.path if change.focus else change.files[0].path if change.files else ""
    file = next((file for file in change.files if file.path == path), None)
    hunks = parse_patch(file.patch) if file and file.patch else ()
    spans: list[Span] = []
    unknown: list[str] = []
    for item, marker in zip(listed[:MOST_LINES], markers, strict=False):
        row = find_marker(change, path, marker, repair=repair) if marker else None
        if row is not None:
            line = hunks[row.hunk].lines[row.line]
            old, new = (line.old, None) if line.new is None else (None, line.new)
        else:
            unknown.append(item[:40])
            old, new = marker or (None, None)
        if (old is None) == (new is None):
            spans.append(Span(path=path))
        else:
            spans.append(Span(path=path, start=old or new, side=Side.NEW if old is None else Side.OLD))
    return PieceReview(ranked_lines=tuple(spans), remark=f"not in the hunk: {', '.join(unknown)}" if unknown else "")
