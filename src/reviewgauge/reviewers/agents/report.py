"""The tools by which an agent reports: a comment is checked when it is made, so that the model can mend its place."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from reviewgauge.core.base import Prose, content_id
from reviewgauge.core.records import Comment, Location, Severity, Side
from reviewgauge.repo.diff.anchors import anchor, code_reader
from reviewgauge.reviewers.agents.code import ReviewedCode, Version
from reviewgauge.reviewers.agents.tools import Number, PathText, ToolArguments


class ReportComment(ToolArguments):
    """Report one problem that the change brings, at the lines where it has to be mended. Call it once a problem."""

    tool: ClassVar[str] = "comment"

    path: PathText
    line: Number
    end_line: Annotated[int, Field(ge=0, le=10_000_000, description="0 where it is one line")] = 0
    version: Version = "new"
    text: Annotated[Prose, Field(min_length=1, description="what is wrong, and why")]
    severity: Literal["critical", "high", "medium", "low", "info"]


class FinishReview(ToolArguments):
    """End the review: everything is reported, or there is nothing to report."""

    tool: ClassVar[str] = "finish"


def read_comment(call: ReportComment, code: ReviewedCode) -> Comment | str:
    """The comment that a call makes, or the one line that says what is wrong with it."""
    path = call.path.removeprefix("./")
    rows = code.lines(path, call.version)
    end = call.end_line or call.line
    if isinstance(rows, str):
        return rows
    if not call.line <= end <= len(rows):
        return f"{path} has {len(rows)} lines, none of them {call.line} to {end}"
    if not call.text.strip():
        return "text is empty"
    side = Side.NEW if call.version == "new" else Side.OLD
    comment = Comment(
        id=content_id(path, call.line, end, side, call.text),
        body=call.text,
        severity=Severity(call.severity),
        claimed=Location(path=path, start=call.line, end=end, side=side),
    )
    return anchor(comment, code.change, read=code_reader(code.change))
