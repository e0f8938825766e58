"""ContextCRBench: hunks with issue, pull request and surrounding function, for three tasks.

Source: Hu et al., "Benchmarking LLMs for Fine-Grained Code Review with Enriched Context in Practice", arXiv:2511.07017,
2025. The paper samples only unmerged entries for the second and third task, and so does this reader.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from typing_extensions import override

from reviewgauge.core.data_card import Card
from reviewgauge.core.json_reader import Node, build
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, FileStatus, Issue, Side, Snippet, Span, Task
from reviewgauge.datasets.files.cards import read_card
from reviewgauge.datasets.files.local_files import (
    EntryDataset,
    change_facts,
    moment,
    name_of,
    text_of,
    without_emails,
)
from reviewgauge.repo.diff.diffs import Hunk, parse_patch
from reviewgauge.repo.diff.positions import Marker, markers, parse_marker

REMEDY = "take its files from the authors' repository and give the file or folder with --from"


@dataclass(frozen=True)
class ContextCrbench(EntryDataset):
    """The official entries, one case per hunk, read lazily.

    `task`: `assess` (may the hunk be merged? the verdict is `merged`), `locate` (rank the lines that deserve a
    comment), `comment` (write the comment for the line in `focus`). The change holds the whole hunk, the issue, title
    and description, and as snippets the function before and after.
    """

    task: Literal["assess", "locate", "comment"] = "assess"

    @property
    @override
    def card(self) -> Card:
        card = read_card("context_crbench")
        return card if self.task == "assess" else card.model_copy(update={"expected": {}})

    def cases(self) -> Iterator[Case]:
        """One case per entry. Raises BadInput for a missing field."""
        for _, entry in self.entries("*", REMEDY):
            case = self._case(entry)
            if isinstance(case, Case):
                yield case
            else:
                self.note(name_of(entry, "id"), case)

    def _case(self, shape: Node) -> Case | str:
        """The case of one entry, or the reason to leave it out."""
        merged = shape["merged"].as_flag()
        if merged and self.task != "assess":
            return "it was merged: not part of this task"
        patch = _whole_hunk(shape)
        cut = patch is None
        if patch is None:
            patch = shape["diff_hunk"].as_text()
        hunks = parse_patch(patch)
        if len(hunks) != 1 or not hunks[0].lines:
            return "its hunk cannot be read"
        if cut and self.task == "locate":
            return "its hunk ends with the line that was commented on, which would give the answer away"
        commented = _commented(shape, hunks[0])
        if commented is None and self.task != "assess":
            return "the line that was commented on is not in its hunk"
        if self.task != "assess" and not next(map(_body, shape["review_comment"].items()), "").strip():
            return "its comment is empty"
        file = _file(shape, patch)
        place = _span(file.path, commented) if commented else None
        places = _runs(file.path, commented) if commented and self.task == "locate" else [place]
        change = build(
            Change,
            shape,
            repo=shape["full_name"].as_text(),
            head=text_of(shape, "original_commit_id") or text_of(shape, "commit_id") or None,
            title=text_of(shape, "pr_title"),
            description=text_of(shape, "pr_body"),
            files=(file,),
            issues=_issues(shape),
            snippets=tuple(_snippets(shape, file)),
            task=Task(self.task),
            focus=place if self.task == "comment" else hunks[0].span(file.path),
        )
        facts = change_facts(change, moment(shape, "created_at"), text_of(shape, "lang")) | {
            "hunk": "cut" if cut else "whole"
        }
        return build(
            Case,
            shape,
            id=name_of(shape, "id"),
            change=change,
            references=() if merged else _references(shape, places if self.task == "locate" else places[:1]),
            verdict=merged if self.task == "assess" else None,
            facts=facts,
        )


def _file(shape: Node, patch: str) -> ChangedFile:
    path, before, after = shape["path"].as_text(), text_of(shape, "file_path_before"), text_of(shape, "file_path_after")
    path = after or path
    status = FileStatus.RENAMED if before and after and before != after else FileStatus.MODIFIED
    old_path = before if before and before != path else None
    return build(ChangedFile, shape, path=path, old_path=old_path, status=status, patch=patch)


def _whole_hunk(shape: Node) -> str | None:
    """The hunk with its header; None where the entry only has GitHub's, which ends at the commented line."""
    head, content = shape.get("diff_hunk_head"), shape.get("diff_hunk_content")
    if head is None or content is None or not head.as_text().startswith("@@"):
        return None
    body = content.as_text()
    return body if body.startswith("@@") else f"{head.as_text().rstrip()}\n{body}"


def _commented(shape: Node, hunk: Hunk) -> list[Marker] | None:
    """The commented lines of the hunk, by markers or by GitHub's line numbers; None where they are not in it."""
    there = {parse_marker(text) for text in markers(hunk)}
    listed = shape.get("comment_lines")
    found = [parse_marker(item.as_text()) for item in listed.items() if isinstance(item.value, str)] if listed else []
    named = [marker for marker in found if marker is not None and marker in there]
    if named:
        return named
    side_name = shape.get("original_side") or shape.get("side") or shape.get("start_side")
    side = Side.OLD if side_name and side_name.as_text() == "LEFT" else Side.NEW
    end = shape.get("original_line") or shape.get("line")
    if end is None:
        return None
    start = shape.get("original_start_line") or end
    wanted = range(min(start.as_integer(), end.as_integer()), end.as_integer() + 1)
    rows = [Marker(row.old, row.new) for row in hunk.lines if row.number(side) in wanted]
    return rows or None


def _span(path: str, lines: Sequence[Marker]) -> Span:
    """The span from the first to the last marker, on the new side if the first line is there."""
    side = Side.OLD if lines[0].new is None else Side.NEW
    numbers = [number for line in lines if (number := line.old if side is Side.OLD else line.new) is not None]
    return Span(path=path, start=min(numbers), end=max(numbers), side=side)


def _runs(path: str, lines: Sequence[Marker]) -> list[Span]:
    """The fewest spans that cover the markers: deleted lines by old numbers, others by new ones."""
    found: list[Span] = []
    for line in lines:
        side = Side.OLD if line.new is None else Side.NEW
        number = line.old if line.new is None else line.new
        last = found[-1] if found else None
        if last is not None and last.side is side and last.end is not None and number in (last.end, last.end + 1):
            found[-1] = last.model_copy(update={"end": number})
        else:
            found.append(Span(path=path, start=number, end=number, side=side))
    return found


def _issues(shape: Node) -> tuple[Issue, ...]:
    number = shape.get("issue_number")
    if number is None:
        return ()
    title = text_of(shape, "issue_tilte") or text_of(shape, "issue_title")  # the official files spell it so
    return (build(Issue, shape, number=number.as_integer(), title=title, body=text_of(shape, "issue_body")),)


def _references(shape: Node, places: Sequence[Span | None]) -> tuple[Comment, ...]:
    """The comment that opened the thread, once per place; replies are in `extra`."""
    bodies = [_body(item) for item in shape["review_comment"].items()]
    if not bodies or not bodies[0].strip():
        return ()
    replies = {"replies": bodies[1:]}
    return tuple(
        build(
            Comment,
            shape,
            id="comment" if n == 1 else f"comment-{n}",
            body=bodies[0],
            span=place,
            same_as=None if n == 1 else "comment",
            extra=replies,
        )
        for n, place in enumerate(places, 1)
    )


def _body(item: Node) -> str:
    body = item.get("body") if isinstance(item.value, dict) else item
    return without_emails(body.as_text()) if body else ""


def _snippets(shape: Node, file: ChangedFile) -> Iterator[Snippet]:
    for name, side in (("before", Side.OLD), ("after", Side.NEW)):
        text, start, end = (shape.get(f"snippet{part}_{name}") for part in ("", "_start_line", "_end_line"))
        if text is not None and text.as_text().strip() and start is not None and end is not None:
            path = (file.old_path or file.path) if side is Side.OLD else file.path
            yield build(
                Snippet,
                shape,
                path=path,
                side=side,
                start=start.as_integer(),
                end=end.as_integer(),
                text=text.as_text(),
                kind="function",
            )
