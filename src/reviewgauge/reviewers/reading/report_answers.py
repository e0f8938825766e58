"""Reports and plain reviews as comments, read strictly: an unclear answer is Unreadable, never a guess.

A report is a JSON object with a list `findings` of objects with `file`, `code` and `comment`, and in a ranked report
`severity` and `area`. A plain review is one comment as text.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BeforeValidator, ValidationError

from reviewgauge.core.errors import one_line
from reviewgauge.core.parsing import first_problem
from reviewgauge.core.records import Comment, Location, Severity
from reviewgauge.models.answers.json_values import storable
from reviewgauge.models.answers.prose import is_refusal
from reviewgauge.models.answers.readers import Unreadable
from reviewgauge.models.answers.records import AnswerRecord, Text, Word, read_record
from reviewgauge.models.answers.text import plain
from reviewgauge.models.request.messages import Prompt

T = TypeVar("T")
SEVERITIES = ("critical", "high", "medium", "low")
MOST_FINDINGS = 200
_LONGEST_NOTE = 400  # characters of what a report says about tests or security
_FORBIDDEN = ("<<<DATA ", "<<<END ")
MaybeText = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]


def _few(found: list[T]) -> list[T]:
    if len(found) > MOST_FINDINGS:
        raise ValueError(f"has {len(found):,} entries, over {MOST_FINDINGS}")
    return found


def _note(text: str) -> str:
    return one_line(text, _LONGEST_NOTE)


class Finding(AnswerRecord):
    """One finding of a report: the file, a piece of its code, and what is wrong there."""

    file: MaybeText = ""
    code: MaybeText = ""
    comment: Text


class Report(AnswerRecord):
    """A list of findings."""

    findings: Annotated[list[Finding], AfterValidator(_few)]


class RankedFinding(AnswerRecord):
    """A finding with its area and severity; an area but "other" becomes the category."""

    area: Word[Literal["tests", "security", "other"]]
    severity: Word[Literal["critical", "high", "medium", "low"]]
    file: MaybeText = ""
    code: MaybeText = ""
    comment: Text


class RankedReport(AnswerRecord):
    """Findings with areas and severities, and what the report says about tests and security."""

    tests: Annotated[str, AfterValidator(_note)]
    security: Annotated[str, AfterValidator(_note)]
    findings: Annotated[list[RankedFinding], AfterValidator(_few)]


def read_report(text: str, prompt: Prompt) -> tuple[Comment, ...]:
    """The findings of a report.

    Raises Unreadable: no such JSON object, a finding without comment, a refusal, or the words of the question in place
    of a finding.
    """
    found = read_record(text, Report, prompt).findings
    return tuple(_comment(one, number) for number, one in enumerate(found, 1))


def read_ranked_report(text: str, prompt: Prompt) -> tuple[tuple[Comment, ...], RankedReport]:
    """(the findings, the most severe first; the whole report). Raises Unreadable as `read_report`."""
    report = read_record(text, RankedReport, prompt)
    ranked = sorted(enumerate(report.findings, 1), key=lambda item: SEVERITIES.index(item[1].severity))
    found = []
    for number, one in ranked:
        kind = {"category": None if one.area == "other" else one.area, "severity": Severity(one.severity)}
        found.append(_comment(one, number).model_copy(update=kind))
    return tuple(found), report


def _comment(found: Finding | RankedFinding, number: int) -> Comment:
    claimed = Location(path=found.file.strip() or None, hunk=found.code.strip("\n") or None)
    return storable_comment(found.comment, claimed=claimed).model_copy(update={"id": f"finding-{number}"})


def storable_comment(body: str, **fields: Any) -> Comment:
    """A comment with a model's words. Raises Unreadable for words that a record cannot hold."""
    try:
        return Comment(id="comment", body=body.strip(), **fields)
    except ValidationError as error:
        raise Unreadable(f"it cannot be stored: {' '.join(first_problem(error))}") from None


def read_plain_review(text: str, prompt: Prompt) -> Comment:
    """The whole answer as one comment. Raises Unreadable for a refusal, an echo of the question, or no words."""
    body = storable(plain(text))
    if is_refusal(body):
        raise Unreadable("it is a refusal")
    if prompt.is_repeated_by(body) or any(mark in body for mark in _FORBIDDEN):
        raise Unreadable("it repeats the question or one of its examples")
    if not any(char.isalpha() for char in body):
        raise Unreadable("it has no words")
    return storable_comment(body)
