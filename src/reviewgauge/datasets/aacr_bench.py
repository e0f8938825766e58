"""Review comments on 200 pull requests in ten languages, and comments that are known to be wrong.

Source: Zhang et al., "AACR-Bench: Evaluating Automatic Code Review with Holistic Repository-Level Context",
arXiv:2601.19494, 2026 (https://github.com/alibaba/aacr-bench), Apache-2.0. The files hold neither diffs nor titles
nor descriptions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from typing_extensions import override

from reviewgauge.core.base import content_id
from reviewgauge.core.data_card import Card
from reviewgauge.core.errors import UserError
from reviewgauge.core.json_reader import Node, build
from reviewgauge.core.labels import Label
from reviewgauge.core.protocols import Dataset
from reviewgauge.core.records import Case, Change, Comment, Location, RequiredContext, Review, Side, Span
from reviewgauge.core.results import Drop
from reviewgauge.core.trust import FilePath
from reviewgauge.datasets.files.cards import read_card
from reviewgauge.datasets.files.code import CODE, attach_code
from reviewgauge.datasets.files.local_files import locate, parse_pull, read_json
from reviewgauge.repo.diff.diffs import size_of

_CATEGORIES = {
    "Security Vulnerability": "security",
    "Code Defect": "defect",
    "Maintainability and Readability": "maintainability",
    "Performance": "performance",
}
_NEEDS = {"Diff Level": RequiredContext.DIFF, "File Level": RequiredContext.FILE, "Repo Level": RequiredContext.REPO}
PEOPLE = "human"  # the author of the comments that people wrote
_SIDES = {"left": Side.OLD, "right": Side.NEW}


class _Sample(NamedTuple):
    """One pull request in one of the two files."""

    id: str
    change: Change
    facts: dict[str, str | int]
    comments: tuple[Comment, ...]
    at: Node


@dataclass(frozen=True)
class AacrBench(Dataset):
    """AACR-Bench: correct comments (positive samples) are references, wrong ones (negative samples) are rejected.

    `code`: take the diffs from the folder `code` beside the files, which `get aacr_bench --with-code` fills.
    """

    path: FilePath = ""
    code: bool = True

    @property
    @override
    def card(self) -> Card:
        return read_card("aacr_bench")

    @property
    def folder(self) -> Path:
        """The folder of the files."""
        return locate("aacr_bench", self.path)

    def cases(self) -> Sequence[Case]:
        """One case per pull request: the positive file in its order, then those of the negative file only."""
        return self._read()[0]

    def recorded(self, **parameters: object) -> tuple[Sequence[Review], Sequence[Label]]:
        """What each of the six models said of every change, as far as it came into the files: right and wrong comments.

        People verified each of them. Where a model has no comment in the files, its review is empty.
        """
        if parameters:
            raise UserError(f"aacr_bench's recorded reviews have no parameter {next(iter(parameters))!r}")
        said: dict[str, dict[str, list[Comment]]] = {}
        cases = self.cases()
        for case in cases:
            for comment in (*case.references, *case.rejected):
                if comment.author and comment.author != PEOPLE:
                    said.setdefault(comment.author, {}).setdefault(case.id, []).append(comment)
        return [
            Review(case=case.id, system=system, comments=tuple(own.get(case.id, ())))
            for system, own in sorted(said.items())
            for case in cases
        ], ()

    def code_remedy(self) -> str:
        """The command that fetches the commits."""
        return "reviewgauge get aacr_bench --with-code"

    def notes(self) -> Sequence[Drop]:
        """Corrected ranges, pull requests in the negative file only, changes without code."""
        return self._read()[1]

    def _read(self) -> tuple[list[Case], list[Drop]]:
        notes: list[Drop] = []
        right = _read_samples(self.folder / "positive_samples.json", notes)
        wrong = _read_samples(self.folder / "negative_samples.json", notes)
        cases: list[Case] = []
        for key in [*right, *(key for key in wrong if key not in right)]:
            good, bad = right.get(key), wrong.get(key)
            sample = good or bad
            assert sample is not None  # the key came from one of the two
            if good and bad and (good.change, good.facts) != (bad.change, bad.facts):
                raise bad.at.error(f"differs from positive_samples.json on {key}")
            cases.append(
                build(
                    Case,
                    sample.at,
                    id=key,
                    change=sample.change,
                    references=good.comments if good else (),
                    rejected=bad.comments if bad else (),
                    facts=sample.facts,
                )
            )
        if lone := len(wrong.keys() - right.keys()):
            notes.append(
                Drop(
                    item=f"{lone} changes",
                    by="aacr_bench",
                    reason="in the negative file only: no reference comments, facts from there",
                )
            )
        if self.code:
            cases, drops = attach_code(cases, self.folder / CODE)
            notes.extend(drops)
        return cases, notes


def _read_samples(file: Path, notes: list[Drop]) -> dict[str, _Sample]:
    found: dict[str, _Sample] = {}
    for at in read_json(file, "aacr_bench").items():
        sample = _read_sample(at, notes)
        if sample.id in found:
            raise at.error(f"the pull request {sample.id} occurs twice")
        found[sample.id] = sample
    return found


def _read_sample(at: Node, notes: list[Drop]) -> _Sample:
    url = at["githubPrUrl"].as_text()
    address = parse_pull(url)
    if address is None:
        raise at["githubPrUrl"].error(f"{url!r:.80} is not the address of a pull request")
    lines = at["change_line_count"].as_integer()
    facts: dict[str, str | int] = {
        "language": at["project_main_language"].as_text(),
        "domain": at["category"].as_text(),
        "size": size_of(lines),
        "repository": address.repo,
        "changed_lines": lines,
    }
    # The official prompt asks for the changes "from source...target", the paper calls the first the base commit, and
    # the comments lie in the hunks of that diff: source is the base, target the head.
    change = build(
        Change, at, repo=address.repo, base=at["source_commit"].as_text(), head=at["target_commit"].as_text(), url=url
    )
    seen: dict[str, int] = {}
    comments = tuple(_read_comment(each, address.id, url, seen, notes) for each in at["comments"].items())
    return _Sample(address.id, change, facts, comments, at)


def _read_comment(at: Node, case: str, url: str, seen: dict[str, int], notes: list[Drop]) -> Comment:
    path, body, side = at["path"].as_text(), at["note"].as_text(), at["side"].as_text()
    start, end = at["from_line"].as_integer(), at["to_line"].as_integer()
    if side not in _SIDES:
        raise at["side"].error(f"{side!r:.40} is neither 'left' nor 'right'")
    claimed: Location | None = None
    if start > end:
        claimed = Location(path=path, start=start, end=end, side=_SIDES[side])
        notes.append(
            Drop(item=f"{case}, {path}", by="aacr_bench", reason=f"the range {start} to {end} was reversed: corrected")
        )
        start, end = end, start
    category, context = at["category"].as_text(), at["context"].as_text()
    identity = content_id(url, path, side, start, end, body)
    seen[identity] = seen.get(identity, 0) + 1
    if seen[identity] > 1:
        identity = content_id(identity, seen[identity])
    extra: dict[str, object] = {"is_ai": at["is_ai_comment"].as_flag()}
    needs = _NEEDS.get(context)
    if needs is None:
        extra["context"] = context
    return build(
        Comment,
        at,
        id=identity,
        body=body,
        span=build(Span, at, path=path, start=start, end=end, side=_SIDES[side]),
        category=_CATEGORIES.get(category, category.lower()),
        needs=needs,
        author=at["source_model"].as_text() or PEOPLE,
        claimed=claimed,
        extra=extra,
    )
