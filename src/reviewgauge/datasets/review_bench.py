"""ReviewBench: right and wrong findings of models and people in 219 pull requests of 187 repositories.

Source: ReviewBench (https://github.com/review-bench/ReviewBench, MIT), `golden/*.json`, `corpus/manifest.json` and
`corpus/test/findings.json`; its `docs/METHODOLOGY.md` says how they came about. Its metrics are
`hits(policy="any", variant="review_bench")`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from typing_extensions import override

from reviewgauge.core.base import Fact, content_id
from reviewgauge.core.data_card import Card
from reviewgauge.core.errors import UserError
from reviewgauge.core.json_reader import Node, build
from reviewgauge.core.protocols import Dataset
from reviewgauge.core.records import (
    GOLDEN_INDEX,
    Case,
    Change,
    Comment,
    Location,
    Origin,
    RequiredContext,
    Severity,
    Span,
)
from reviewgauge.core.results import Drop
from reviewgauge.core.trust import FilePath, Word
from reviewgauge.datasets.files.cards import read_card
from reviewgauge.datasets.files.code import CODE, attach_code
from reviewgauge.datasets.files.local_files import PullAddress, locate, parse_pull, read_json
from reviewgauge.repo.diff.diffs import size_of

GOLDEN, MANIFEST, TEST_SET = "golden", "corpus/manifest.json", "corpus/test/findings.json"
_SEVERITIES = {"high": Severity.HIGH, "medium": Severity.MEDIUM, "low": Severity.LOW}
# Related files are other files: one that shows the whole changed file does not show them.
_NEEDS = {
    "diff-only": RequiredContext.DIFF,
    "diff-plus-related-files": RequiredContext.REPO,
    "broader-project-context": RequiredContext.REPO,
}
_KEPT = ("scope", "difficulty", "context_required", "tp_fp_justification")  # the texts that `extra` keeps


class _Pull(NamedTuple):
    """The identity of a pull request, which its golden file and the manifest both state."""

    address: PullAddress
    base: str
    head: str

    @property
    def key(self) -> str:
        """ReviewBench's own name of it, as in `pr_key` and in the names of files: the case's id."""
        return f"{self.address.repo.replace('/', '_')}_{self.address.number}-{self.head[:8]}"

    @property
    def identity(self) -> tuple[str, int, str]:
        """What the key stands for. Two can have one key: those of `a_b/c` and of `a/b_c`."""
        return self.address.repo, self.address.number, self.head[:8]


@dataclass(frozen=True)
class ReviewBench(Dataset):
    """The golden findings: right ones are references, wrong ones are rejected. Their author is their producer.

    `exclude_producers` leaves out the findings whose producer begins with one of these texts (capitals and blanks do
    not count), such as `('llm_review:claude',)`: a model is scored without what its own family found. `code`: take the
    diffs from the folder `code` beside the files, which `get review_bench --with-code` fills.
    """

    path: FilePath = ""
    exclude_producers: tuple[Word, ...] = ()
    code: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.exclude_producers, str) or not all(prefix.strip() for prefix in self.exclude_producers):
            raise ValueError("exclude_producers must be a tuple of texts, none of them empty")

    @property
    @override
    def card(self) -> Card:
        return read_card("review_bench")

    @property
    def folder(self) -> Path:
        """The folder of the files."""
        return locate("review_bench", self.path)

    def cases(self) -> Sequence[Case]:
        """One case per pull request, by the name of its golden file."""
        return self._read()[0]

    def code_remedy(self) -> str:
        """The command that fetches the commits."""
        return "reviewgauge get review_bench --with-code"

    def notes(self) -> Sequence[Drop]:
        """Findings left out by their producer, corrected ranges, and where the files do not agree."""
        return self._read()[1]

    def counts(self) -> Mapping[str, int]:
        """The counts of the files, with the test set's, and the findings of each producer."""
        cases = self.cases()
        in_test = [case for case in cases if case.facts.get("set") == "test"]
        found = {
            **super().counts(),
            "changes of the test set": len(in_test),
            "references of the test set": sum(len(case.references) for case in in_test),
        }
        for what in ("references", "rejected"):
            by = Counter(str(comment.author) for case in cases for comment in getattr(case, what))
            found |= {f"{what} by {name}": n for name, n in sorted(by.items(), key=lambda item: (-item[1], item[0]))}
        return {name: count for name, count in found.items() if count}

    def _read(self) -> tuple[list[Case], list[Drop]]:
        folder = self.folder
        files = sorted((folder / GOLDEN).glob("*.json"))
        if not files:
            raise UserError(f"{folder} holds no {GOLDEN}/*.json", remedy="reviewgauge get review_bench")
        notes = _Notes()
        manifest = _read_manifest(folder / MANIFEST)
        test_set = _read_test_set(folder / TEST_SET)
        cases: dict[str, Case] = {}
        seen: set[tuple[str, int, str]] = set()
        for file in files:
            at = read_json(file, "review_bench")
            pull = _read_pull(at["pr"])
            if (stated := at["pr_key"].as_text()) != pull.key:
                raise at.error(f"is {stated!r:.80}, and the pull request is {pull.key}", "pr_key")
            entry = manifest.pop(pull.identity, None) if manifest is not None else None
            if manifest is not None and entry is None:
                notes.add(pull.key, f"not in {MANIFEST}: no title, description or language")
            if pull.identity in seen:
                raise at.error(f"the pull request {pull.key} occurs twice")
            seen.add(pull.identity)
            name = pull.key if pull.key not in cases else f"{pull.key}-{content_id(pull.address.repo, length=8)}"
            cases[name] = _GoldenFile(name, at, pull, notes).case(entry, self.exclude_producers)
            if test_set is not None:
                in_test = pull.key in test_set
                facts = {**cases[name].facts, "set": "test" if in_test else "rest"}
                cases[name] = cases[name].model_copy(update={"facts": facts})
                right = sum(finding["tp_fp"].as_text() == "tp" for finding in at["findings"].items())
                if in_test and test_set[pull.key] != right:
                    notes.add(name, f"{right} right findings, and {test_set[pull.key]} in {TEST_SET}")
        for entry in (manifest or {}).values():
            notes.add(_read_pull(entry).key, f"in {MANIFEST} without a golden file: left out")
        found = list(cases.values())
        if self.code:
            found, drops = attach_code(found, folder / CODE)
            notes.found.extend(drops)
        return found, notes.found


class _Notes:
    """What reading corrected or left out."""

    def __init__(self) -> None:
        self.found: list[Drop] = []

    def add(self, item: str, reason: str) -> None:
        self.found.append(Drop(item=item, by="review_bench", reason=reason))


def _read_pull(at: Node) -> _Pull:
    repo, number = at["repo"].as_text().rstrip("/").removesuffix(".git"), at["pr_number"].as_integer()
    address = parse_pull(f"{repo}/pull/{number}")
    if address is None:
        raise at["repo"].error(f"{repo!r:.80} with pull request {number} is not the address of a pull request")
    return _Pull(address, at["base"].as_text(), at["head"].as_text())


def _plain(producer: str) -> str:
    return "".join(producer.split()).casefold()


def _read_manifest(file: Path) -> dict[tuple[str, int, str], Node] | None:
    """The entry of each pull request by its identity; None where an excerpt comes without the manifest."""
    if not file.is_file():
        return None
    found: dict[tuple[str, int, str], Node] = {}
    for entry in read_json(file, "review_bench").items():
        pull = _read_pull(entry)
        if pull.identity in found:
            raise entry.error(f"the pull request {pull.key} occurs twice")
        found[pull.identity] = entry
    return found


def _read_test_set(file: Path) -> dict[str, int] | None:
    """How many findings each pull request of the test set has; None where the file is not there."""
    if not file.is_file():
        return None
    return {key: sum(1 for _ in findings.items()) for key, findings in read_json(file, "review_bench").entries()}


@dataclass(frozen=True)
class _GoldenFile:
    """One golden file on its way to a case named `name`."""

    name: str
    at: Node
    pull: _Pull
    notes: _Notes

    def case(self, entry: Node | None, excluded: Sequence[str]) -> Case:
        """The case, with what the manifest says of it."""
        if entry is not None and _read_pull(entry) != self.pull:
            raise entry.error(f"differs from the golden file of {self.pull.key}")
        right, wrong = self._comments(excluded)
        address = self.pull.address
        change = build(
            Change,
            self.at,
            repo=address.repo,
            base=self.pull.base,
            head=self.pull.head,
            title=(entry.text("title") if entry else None) or "",
            description=(entry.text("body") if entry else None) or "",
            url=f"https://github.com/{address.repo}/pull/{address.number}",
        )
        facts = {"repository": address.repo, **(_facts(entry) if entry is not None else {})}
        named = {"id": self.name, "change": change, "facts": facts}
        return build(Case, self.at, **named, references=tuple(right), rejected=tuple(wrong))

    def _comments(self, excluded: Sequence[str]) -> tuple[list[Comment], list[Comment]]:
        """The right and the wrong findings, in the order of the file."""
        right: list[Comment] = []
        wrong: list[Comment] = []
        seen: Counter[str] = Counter()
        left_out: Counter[str] = Counter()
        for place, finding in enumerate(self.at["findings"].items()):
            label = finding["tp_fp"].as_text()
            if label not in ("tp", "fp"):
                raise finding["tp_fp"].error(f"{label!r:.40} is neither 'tp' nor 'fp'")
            producer = finding["producer"].as_text() or "(unknown)"
            if _plain(producer).startswith(tuple(map(_plain, excluded))):
                left_out[producer] += 1
                continue
            comment = self._comment(finding, producer, place)
            seen[comment.id] += 1
            if seen[comment.id] > 1:
                comment = comment.model_copy(update={"id": content_id(comment.id, seen[comment.id])})
            (right if label == "tp" else wrong).append(comment)
        for producer, n in sorted(left_out.items()):
            self.notes.add(self.name, f"{n} findings of {producer} left out by exclude_producers")
        return right, wrong

    def _comment(self, at: Node, producer: str, place: int) -> Comment:
        path, body = at["file"].as_text(), at["message"].as_text()
        start, end = at["start_line"].as_integer(), at["end_line"].as_integer()
        claimed = None
        lines: tuple[int | None, int | None] = (start, end)
        if start < 1 or end < start:
            claimed = Location(path=path, start=start, end=end)
            lines = (end, start) if end >= 1 else (None, None)
            how = "was reversed: corrected" if end >= 1 else "is not a range of lines: the whole file is meant"
            self.notes.add(f"{self.name}, {path}", f"the range {start} to {end} {how}")
        severity = _SEVERITIES.get(word := at.text("severity") or "")
        source = at.node("source")
        extra = {key: at.text(key) for key in _KEPT}
        extra |= {f"source_{key}": source.text(key) for key in ("type", "alignment")}
        extra |= {"severity": word if severity is None else None}
        return build(
            Comment,
            at,
            id=content_id(self.name, path, start, end, body),
            body=body,
            span=build(Span, at, path=path, start=lines[0], end=lines[1]),
            category=at.text("category"),
            severity=severity,
            needs=_NEEDS.get(at.text("context_required") or ""),
            origin=Origin.GOLDEN,
            author=producer,
            claimed=claimed,
            extra={GOLDEN_INDEX: place, **{key: text for key, text in extra.items() if text}},
        )


def _facts(entry: Node) -> dict[str, Fact]:
    """The facts to slice by that the manifest states."""
    facts: dict[str, Fact] = {}
    if language := entry.text("language"):
        facts["language"] = language
    added, removed = entry.integer("lines_added"), entry.integer("lines_removed")
    if added is not None or removed is not None:
        lines = (added or 0) + (removed or 0)
        facts |= {"changed_lines": lines, "size": size_of(lines)}
    if (files := entry.integer("files_changed")) is not None:
        facts["changed_files"] = files
    return facts
