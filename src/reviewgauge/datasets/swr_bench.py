"""SWR-Bench: 1,000 whole pull requests of 12 Python projects, half with change-points that review brought, half clean.

Source: Zeng et al., "Benchmarking and Studying the LLM-based Code Review", arXiv:2509.01494, 2025; files
`swr_datasets_*.jsonl`. The outcome of a pull request (timeline, later commits, change-points) is hidden from reviewers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from typing_extensions import override

from reviewgauge.core.base import content_id
from reviewgauge.core.data_card import Card
from reviewgauge.core.json_reader import Node, build
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Location, Resolution
from reviewgauge.datasets.files.cards import read_card
from reviewgauge.datasets.files.code import CODE, attach_code
from reviewgauge.datasets.files.local_files import (
    EntryDataset,
    change_facts,
    files_of,
    join_files,
    moment,
    text_of,
)
from reviewgauge.judges.classes.classes import TYPES, change_type
from reviewgauge.repo.diff.anchors import anchor

REMEDY = "take swr_datasets_*.jsonl from the authors' repository and give the folder with --from"


@dataclass(frozen=True)
class SwrBench(EntryDataset):
    """The official JSON lines, one case per pull request, read lazily.

    `body` is the text of a reference: the summary of the discussion, or the reviewer's own comment. A change-point is
    placed where its code snippet is in the diff, if anywhere. `code`: take the diffs from the folder `code` beside the
    files, which `get swr_bench --with-code` fills; without it, a file that several commits change shows each patch.
    """

    body: Literal["summary", "original"] = "summary"
    code: bool = True

    @property
    @override
    def card(self) -> Card:
        return read_card("swr_bench")

    def cases(self) -> Iterator[Case]:
        """One case per line. Raises BadInput for a missing field."""
        for file, entry in self.entries("swr_datasets_*", REMEDY):
            case, code = self._case(entry), file.parent / CODE
            if self.code:
                (case,), drops = attach_code([case], code)
                self._notes.extend(drops)
            yield case.model_copy(update={"references": tuple(anchor(c, case.change) for c in case.references)})

    def code_remedy(self) -> str:
        """The command that fetches the commits."""
        return "reviewgauge get swr_bench --with-code"

    def _case(self, shape: Node) -> Case:
        name = shape["instance_id"].as_text()
        commits = list(shape["pr_commits"].items())
        files, twice = join_files(file for commit in commits for file in _files(commit))
        if twice:
            self.note(name, "several commits change one file: its patch joins theirs", f"{twice} files")
        change = build(
            Change,
            shape,
            repo=shape["repo"].as_text(),
            base=shape["base_commit"].as_text(),
            head=commits[-1]["sha"].as_text() if commits else None,
            title=text_of(shape, "pr_title"),
            description=text_of(shape, "pr_statement"),
            files=files,
        )
        points = tuple(self._point(point, name, n) for n, point in enumerate(shape["changes"].items(), 1))
        facts = change_facts(change, moment(shape, "created_at"), "Python") | {"commits": len(commits)}
        return build(Case, shape, id=name, change=change, references=points, verdict=not points, facts=facts)

    def _point(self, point: Node, name: str, number: int) -> Comment:
        """One change-point: its type, text, code and the commit that resolved it."""
        brought, discussion = point["change_introducing"], point["change_discussion"]
        original, summary = text_of(discussion, "original_reviewer_comment"), text_of(discussion, "discussion_summary")
        given = point["change_type"].as_text()
        code = change_type(given)
        if code is None:
            self.note(f"{name}, point {number}", "its type is not in the paper: kept as it is", given)
        answer = point.get("change_resolve_info")
        snippet = brought.get("code_snippet")
        return build(
            Comment,
            point,
            id=content_id(name, number, given, summary, original),
            body=(summary or original) if self.body == "summary" else (original or summary),
            category=given if code is None else f"{code} {TYPES[code].name}",
            quote=snippet.as_text() if snippet else None,
            commit=text_of(brought, "commit_sha") or None,
            created=moment(discussion, "first_mention_timestamp"),
            claimed=Location(),
            resolution=None
            if answer is None
            else Resolution(
                commit=text_of(answer, "commit_sha") or None,
                snippet=text_of(answer, "code_snippet") or None,
                explanation=text_of(answer, "resolution_explanation") or None,
            ),
            extra={"original": original} if self.body == "summary" else {"summary": summary},
        )


def _files(commit: Node) -> Iterator[ChangedFile]:
    """The files of one commit, from its list of patches, else from its diff."""
    listed = commit.get("diff")
    if listed is None:
        text = commit.get("diff_text")
        yield from files_of(text, "", text.as_text()) if text else ()
        return
    for entry in listed.items():
        patch = entry.get("patch")
        yield from files_of(entry, entry["file"].as_text(), patch.as_text() if patch else "")
