"""SWE-CARE: pull requests with the issues they resolve, at the commit that people commented on.

Source: Guo et al., "CodeFuse-CR-Bench: A Comprehensiveness-aware Benchmark for End-to-End Code Review Evaluation in
Python Projects", arXiv:2509.14856, 2025; https://github.com/inclusionAI/SWE-CARE. The merged patch, the hints and the
comments are hidden from reviewers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from typing_extensions import override

from reviewgauge.core.base import Fact, content_id
from reviewgauge.core.data_card import Card
from reviewgauge.core.json_reader import Node, build
from reviewgauge.core.records import Case, Change, Comment, Issue, Side, Span
from reviewgauge.datasets.files.cards import read_card
from reviewgauge.datasets.files.local_files import (
    EntryDataset,
    change_facts,
    files_of,
    moment,
    name_of,
    text_of,
)

REMEDY = "take its JSON lines from the authors' repository and give the file or folder with --from"
_FACTS = {"problem_domain": "domain", "difficulty": "difficulty", "estimated_review_effort": "effort"}


@dataclass(frozen=True)
class SweCare(EntryDataset):
    """The official JSON lines, one case per pull request; comments are at their `original_line`."""

    @property
    @override
    def card(self) -> Card:
        return read_card("swe_care")

    def cases(self) -> Iterator[Case]:
        """One case per line. Raises BadInput for a missing field."""
        return (self._case(entry) for _, entry in self.entries("*", REMEDY))

    def _case(self, shape: Node) -> Case:
        name, review = shape["instance_id"].as_text(), shape["commit_to_review"]
        change = build(
            Change,
            shape,
            repo=shape["repo"].as_text(),
            base=shape["base_commit"].as_text(),
            head=review["head_commit"].as_text(),
            title=text_of(shape, "title"),
            description=text_of(shape, "body"),
            url=f"https://github.com/{shape['repo'].as_text()}/pull/{name_of(shape, 'pull_number')}",
            files=files_of(review["patch_to_review"], "", review["patch_to_review"].as_text()),
            issues=tuple(
                build(Issue, i, number=i["number"].as_integer(), title=text_of(i, "title"), body=text_of(i, "body"))
                for i in shape["resolved_issues"].items()
            ),
        )
        if not change.files:
            self.note(name, "its patch is empty: no diff")
        comments = tuple(
            c for n, at in enumerate(shape["reference_review_comments"].items(), 1) if (c := self._comment(at, name, n))
        )
        facts = change_facts(change, moment(shape, "created_at"), text_of(shape, "language")) | _metadata(shape)
        return build(
            Case, shape, id=name, change=change, references=comments, verdict=False if comments else None, facts=facts
        )

    def _comment(self, at: Node, name: str, number: int) -> Comment | None:
        body = text_of(at, "text")
        if not body.strip():
            self.note(f"{name}, comment {number}", "it is empty: left out")
            return None
        line, start = _line(at, "original_line", "line"), _line(at, "original_start_line", "start_line")
        if line is None:
            self.note(f"{name}, comment {number}", "it names no line")
        hunk = at.get("diff_hunk")
        last = hunk.as_text().rstrip("\n").rpartition("\n")[2] if hunk else ""
        span = build(
            Span,
            at,
            path=at["path"].as_text(),
            start=None if line is None else min(start or line, line),
            end=None if line is None else max(start or line, line),
            side=Side.OLD if last.startswith("-") else Side.NEW,  # GitHub's hunk ends with the line commented on
        )
        return build(Comment, at, id=content_id(name, number, span.path, line, body), body=body, span=span)


def _line(at: Node, *keys: str) -> int | None:
    found = next((at.get(key) for key in keys if at.get(key) is not None), None)
    return None if found is None else found.as_integer()


def _metadata(shape: Node) -> dict[str, Fact]:
    found = shape.get("metadata")
    facts: dict[str, Fact] = {}
    for key, fact in _FACTS.items():
        value = None if found is None else found.get(key)
        if value is not None and isinstance(value.value, str | int | float):
            facts[fact] = value.value
    return facts
