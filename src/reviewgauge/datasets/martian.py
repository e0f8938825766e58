"""Golden comments on real pull requests, the comments of twelve review tools, and verdicts of three model judges.

Source: Martian, "Code Review Bench" (https://github.com/withmartian/code-review-benchmark), the offline part, MIT.
The files hold neither diffs nor line numbers. Golden comments have categories since the summer of 2026, which profiles
choose from (`offline/analysis/score_profiles.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

from typing_extensions import override

from reviewgauge.core.base import content_id
from reviewgauge.core.data_card import Card
from reviewgauge.core.errors import UserError
from reviewgauge.core.json_reader import Node, build
from reviewgauge.core.labels import Label, RaterKind, Subject, SubjectKind
from reviewgauge.core.protocols import Dataset
from reviewgauge.core.records import Case, Change, Comment, Location, Review, Severity
from reviewgauge.core.results import Drop
from reviewgauge.core.trust import FilePath
from reviewgauge.datasets.files.cards import read_card
from reviewgauge.datasets.files.local_files import locate, parse_pull, read_json

SAME, FALSE, MISSED = "same_issue", "false_positive", "missed"


class StoredCounts(NamedTuple):
    """The stored counts of one review.

    `tp` counts goldens, `fp` candidates. `credited` are the distinct candidates behind the `tp`; `displaced` ones lost
    their golden to a candidate with higher confidence and are stored nowhere; `repeated` ones have the text of another
    candidate. credited + displaced + repeated + fp = candidates always holds, tp + fp = candidates not.
    """

    tp: int
    fp: int
    fn: int
    candidates: int
    golden: int
    credited: int
    displaced: int
    repeated: int


def judges(folder: Path) -> list[str]:
    """The judges with verdicts in `folder`, by folder name."""
    return sorted(file.parent.name for file in (folder / "results").glob("*/evaluations.json"))


def stored_counts(folder: Path, judge: str) -> dict[tuple[str, str], StoredCounts]:
    """(tool, pull request address) -> the counts that `judge` stored. Skipped entries have none."""
    return {
        (entry.tool, entry.url): entry.counts
        for entry in _entries(folder, judge, Reading())
        if entry.counts is not None
    }


@dataclass
class Reading:
    """Findings from reading one judge's files, by kind: the number of reviews of each tool."""

    kinds: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, kind: str, tool: str) -> None:
        """Count one review."""
        self.kinds.setdefault(kind, Counter())[tool] += 1

    def drops(self, judge: str) -> Iterator[Drop]:
        """One note per kind, with its count by tool."""
        for kind, tools in sorted(self.kinds.items()):
            named = ", ".join(f"{tool} {n}" for tool, n in sorted(tools.items(), key=lambda item: (-item[1], item[0])))
            yield Drop(item=f"{judge}: {tools.total()} reviews ({named})", by="martian", reason=kind)


class _Entry(NamedTuple):
    url: str
    tool: str
    shape: Node
    texts: tuple[str, ...]  # the candidates' texts in order
    sources: tuple[Node | None, ...]  # where each stands in candidates.json; None: recovered from the verdicts
    counts: StoredCounts | None


def _entries(folder: Path, judge: str, reading: Reading) -> Iterator[_Entry]:
    """The entries of a judge's `evaluations.json`, one for each pull request and tool.

    The published code (`step3_judge_comments.py`) asks the judge about every (golden, candidate) pair, keeps for each
    golden the yes with the highest confidence, and calls a candidate false when it was never the best of any golden
    when it was asked about.
    """
    if judge not in (known := judges(folder)):
        available = ", ".join(known) or "none"
        raise UserError(f"no extractor {judge!r} among the Martian files", remedy=f"available: {available}")
    home = folder / "results" / judge
    candidates: dict[tuple[str, str], Node] = {}
    for url, tools in read_json(home / "candidates.json", "martian").entries():
        candidates.update({(url, tool): found for tool, found in tools.entries()})
    for url, tools in read_json(home / "evaluations.json", "martian").entries():
        for tool, shape in tools.entries():
            yield _entry(url, tool, shape, candidates.pop((url, tool), None), reading)
    for _, tool in candidates:
        reading.add("has candidates but no verdicts: left out", tool)


def _entry(url: str, tool: str, shape: Node, candidates: Node | None, reading: Reading) -> _Entry:
    skipped = (flag := shape.get("skipped")) is not None and flag.as_flag()
    credited = [] if skipped else [x["matched_candidate"].as_text() for x in shape["true_positives"].items()]
    false = [] if skipped else [x["candidate"].as_text() for x in shape["false_positives"].items()]
    sources: tuple[Node | None, ...]
    if candidates is not None:
        kept = [(text, x) for x in candidates.items() if (text := x["text"].as_text())]
        texts, sources = tuple(text for text, _ in kept), tuple(x for _, x in kept)
    else:
        texts = tuple(dict.fromkeys([*credited, *false]))
        sources = tuple(None for _ in texts)
        reading.add(
            "no extracted candidates: the posted comments were judged, and are read from the quotes in the verdicts"
            if texts
            else "no candidates and nothing posted: kept as a review without comments",
            tool,
        )
    if skipped:
        reading.add("not judged: the change has no golden comments", tool)
        return _Entry(url, tool, shape, texts, sources, None)
    counts = _counts(shape, texts if candidates is not None else None, set(credited))
    if counts.tp + counts.fp != counts.candidates:
        reading.add("tp + fp is not the number of candidates", tool)
    if counts.tp > counts.credited:
        reading.add("one candidate is credited with several golden comments", tool)
    if counts.displaced:
        lost = "and has no verdict" if candidates is not None else "and its text is stored nowhere: it is not here"
        reading.add(f"a matching candidate lost its golden comment to a surer one {lost}", tool)
    if counts.repeated:
        reading.add("a candidate's text occurs twice, and was judged once", tool)
    return _Entry(url, tool, shape, texts, sources, counts)


def _counts(shape: Node, texts: Sequence[str] | None, credited: set[str]) -> StoredCounts:
    tp, fp, fn, total, golden = (
        shape[name].as_integer() for name in ("tp", "fp", "fn", "total_candidates", "total_golden")
    )
    repeated = 0 if texts is None else len(texts) - len(set(texts))
    return StoredCounts(tp, fp, fn, total, golden, len(credited), total - repeated - len(credited) - fp, repeated)


def read_recorded(
    folder: Path, judge: str, cases: Mapping[str, Case], reading: Reading
) -> tuple[list[Review], list[Label]]:
    """The reviews that `judge` extracted, one per (change, tool), and its verdicts as labels.

    `cases` are by address of the pull request.
    """
    reviews: list[Review] = []
    labels: list[Label] = []
    for entry in _entries(folder, judge, reading):
        case = cases.get(entry.url)
        if case is None:
            reading.add("the change is not among the golden files at hand: left out", entry.tool)
            continue
        review = build(Review, entry.shape, case=case.id, system=entry.tool, comments=_comments(entry))
        reviews.append(review)
        if entry.counts is not None:
            labels.extend(_labels(entry, case, review, judge, reading))
    return reviews, labels


def _comments(entry: _Entry) -> tuple[Comment, ...]:
    seen: Counter[str] = Counter()
    comments = []
    for text, source in zip(entry.texts, entry.sources, strict=True):
        seen[text] += 1
        # Extraction is the judge's own, so equal texts of two judges are equal candidates and share their id.
        identity = content_id(text) if seen[text] == 1 else content_id(text, seen[text])
        if source is None:
            comments.append(build(Comment, entry.shape, id=identity, body=text, extra={"source": "posted"}))
            continue
        path, line, origin = source.get("path"), source.get("line"), source.get("source")
        claimed = None
        if path is not None or line is not None:
            claimed = Location(path=path.as_text() if path else None, start=line.as_integer() if line else None)
        extra = {"source": origin.as_text()} if origin else {}
        comments.append(build(Comment, source, id=identity, body=text, claimed=claimed, extra=extra))
    return tuple(comments)


def _labels(entry: _Entry, case: Case, review: Review, judge: str, reading: Reading) -> Iterator[Label]:
    comments = {comment.body: comment.id for comment in reversed(review.comments)}
    goldens = {comment.body: comment.id for comment in (*case.references, *case.neutral)}

    def label(at: Node, dimension: str, kind: SubjectKind, comment: str | None, golden: str | None) -> Iterator[Label]:
        comment_id = comments.get(comment) if comment is not None else None
        golden_id = goldens.get(golden) if golden is not None else None
        if (comment_id is None) != (comment is None) or (golden_id is None) != (golden is None):
            reading.add("a verdict about a text that the files do not hold: left out", entry.tool)
            return
        confidence, reason = at.get("confidence"), at.get("reasoning")
        subject = Subject(kind=kind, case=case.id, system=review.system, comment=comment_id, reference=golden_id)
        yield build(
            Label,
            at,
            subject=subject,
            rater=judge,
            rater_kind=RaterKind.MODEL,
            dimension=dimension,
            value=True,
            confidence=confidence.as_number() if confidence else None,
            reason=reason.as_text() if reason else None,
        )

    for at in entry.shape["true_positives"].items():
        yield from label(at, SAME, SubjectKind.PAIR, at["matched_candidate"].as_text(), at["golden_comment"].as_text())
    for at in entry.shape["false_positives"].items():
        yield from label(at, FALSE, SubjectKind.COMMENT, at["candidate"].as_text(), None)
    for at in entry.shape["false_negatives"].items():
        yield from label(at, MISSED, SubjectKind.REVIEW, None, at["golden_comment"].as_text())


DEFAULT_EXTRACTOR = "anthropic_claude-opus-4-5-20251101"
# The golden file names the project of a change; the address is often that of a fork made for one tool's trial.
_PROJECTS = {
    "cal_dot_com": ("cal.com", "calcom/cal.com"),
    "discourse": ("discourse", "discourse/discourse"),
    "grafana": ("grafana", "grafana/grafana"),
    "keycloak": ("keycloak", "keycloak/keycloak"),
    "sentry": ("sentry", "getsentry/sentry"),
}
_SEVERITIES = {"critical": Severity.CRITICAL, "high": Severity.HIGH, "medium": Severity.MEDIUM, "low": Severity.LOW}


_STRICT = frozenset({"bug", "security", "concurrency", "data", "api"})
_PROFILES = {"strict": _STRICT, "core": _STRICT | {"perf", "test_gap", "doc_defect"}}


@dataclass(frozen=True)
class Martian(Dataset):
    """The offline part of Martian's Code Review Bench.

    `profile`: the golden comments that count, by their category: "strict" (bug, security, concurrency, data, api),
    "core" (also perf, test_gap, doc_defect) or "all". The others are neutral: what matches them is not wrong.
    """

    example: ClassVar[str] = "reviewgauge review martian recorded -o runs/mine"

    path: FilePath = ""
    profile: Literal["all", "core", "strict"] = "all"

    @property
    @override
    def card(self) -> Card:
        return read_card("martian")

    @property
    def folder(self) -> Path:
        """The folder of the files."""
        return locate("martian", self.path)

    def cases(self) -> Sequence[Case]:
        """One case per pull request, by golden file and then in its order."""
        return [case for case, _ in self._golden()]

    def recorded(self, **parameters: object) -> tuple[Sequence[Review], Sequence[Label]]:
        """The reviews of all tools as one judge extracted them, and its verdicts.

        `extractor` names the folder of the judge. Labels: `same_issue` on a (comment, golden) pair, `false_positive` on
        a comment, `missed` on a review and a golden. A comment or pair without a label has no stored verdict.
        """
        unknown = sorted(parameters.keys() - {"extractor"})
        extractor = parameters.get("extractor", DEFAULT_EXTRACTOR)
        if unknown or not isinstance(extractor, str):
            raise UserError(
                f"martian's recorded reviews have no parameter {unknown[0]!r}" if unknown else "extractor is not text",
                remedy=f'recorded(extractor="{DEFAULT_EXTRACTOR}")',
            )
        return read_recorded(self.folder, extractor, self._by_address(), Reading())

    def counts(self) -> Mapping[str, int]:
        """The counts of the files, with tools and judges."""
        known = judges(self.folder)
        tools = {review.system for judge in known for review in self.recorded(extractor=judge)[0]}
        return {**super().counts(), "tools": len(tools), "judges": len(known)}

    def notes(self) -> Sequence[Drop]:
        """Remarks of the golden files, and gaps and contradictions in the stored verdicts, counted by kind."""
        found = [drop for _, drops in self._golden() for drop in drops]
        addresses = self._by_address()
        for judge in judges(self.folder):
            reading = Reading()
            read_recorded(self.folder, judge, addresses, reading)
            found.extend(reading.drops(judge))
        return found

    def _by_address(self) -> dict[str, Case]:
        return {case.change.url: case for case, _ in self._golden() if case.change.url is not None}

    def _golden(self) -> Iterator[tuple[Case, list[Drop]]]:
        folder = self.folder
        files = sorted((folder / "golden_comments").glob("*.json"))
        if not files:
            raise UserError(f"{folder} holds no golden_comments/*.json", remedy="reviewgauge get martian")
        seen: set[str] = set()
        for file in files:
            for item in read_json(file, "martian").items():
                case, drops = _read_case(file.stem, item, _PROFILES.get(self.profile))
                if case.id in seen:
                    raise item.error(f"the pull request {case.id} occurs twice")
                seen.add(case.id)
                yield case, drops


def _read_case(stem: str, item: Node, counted: frozenset[str] | None) -> tuple[Case, list[Drop]]:
    url = item["url"].as_text()
    address = parse_pull(url)
    if address is None:
        raise item.error(f"{url!r:.80} is not the address of a pull request", "url")
    repository, repo = _PROJECTS.get(stem, (stem, address.repo))
    goldens: list[Comment] = []
    for at in item["comments"].items():
        body = at["comment"].as_text()
        word = at.get("severity")
        severity = None if word is None else _SEVERITIES.get(word.as_text().lower())
        extra = {"severity": word.as_text()} if word is not None and severity is None else {}
        named = at.get("category")
        category = named.as_text() if named is not None else None
        if category is None and counted is not None:
            raise at.error("has no category to choose by", "category", remedy='profile="all", or a newer version')
        identity = content_id(url, body)
        goldens.append(build(Comment, at, id=identity, body=body, severity=severity, category=category, extra=extra))
    change = build(Change, item, repo=repo, title=item["pr_title"].as_text(), url=url)
    facts = {"repository": repository}
    references = tuple(one for one in goldens if counted is None or one.category in counted)
    neutral = tuple(one for one in goldens if one not in references)
    case = build(Case, item, id=address.id, change=change, references=references, neutral=neutral, facts=facts)
    remark = item.get("az_comment")
    drops = [Drop(item=case.id, by="martian", reason=f"the golden file remarks: {remark.as_text()}")] if remark else []
    return case, drops
