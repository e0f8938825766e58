"""Golden comments on real pull requests, the comments of twelve review tools, and verdicts of three model judges.

Source: Martian, "Code Review Bench" (https://github.com/withmartian/code-review-benchmark), the offline part, MIT.
The files hold neither diffs nor line numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from typing_extensions import override

from reviewgauge.core.base import content_id
from reviewgauge.core.errors import UserError
from reviewgauge.core.json_reader import Node, build
from reviewgauge.core.labels import Label
from reviewgauge.core.protocols import Card, Dataset
from reviewgauge.core.records import Case, Change, Comment, Review, Severity
from reviewgauge.core.results import Drop
from reviewgauge.datasets.files.cards import MARTIAN
from reviewgauge.datasets.files.local_files import locate, parse_pull, read_json
from reviewgauge.datasets.recorded.martian_verdicts import Reading, StoredRow, judges, read_recorded, stored_table

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


@dataclass(frozen=True)
class Martian(Dataset):
    """The offline part of Martian's Code Review Bench."""

    path: str = ""

    @property
    @override
    def card(self) -> Card:
        return MARTIAN

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

    def stored(self, extractor: str = DEFAULT_EXTRACTOR) -> list[StoredRow]:
        """The stored counts of one judge for each tool: the published and the corrected reading."""
        if extractor not in (known := judges(self.folder)):
            raise UserError(
                f"no extractor {extractor!r} among the Martian files", remedy=f"available: {', '.join(known)}"
            )
        return stored_table(self.folder, extractor)

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
                case, drops = _read_case(file.stem, item)
                if case.id in seen:
                    raise item.error(f"the pull request {case.id} occurs twice")
                seen.add(case.id)
                yield case, drops


def _read_case(stem: str, item: Node) -> tuple[Case, list[Drop]]:
    url = item["url"].as_text()
    address = parse_pull(url)
    if address is None:
        raise item.error(f"{url!r:.80} is not the address of a pull request", "url")
    repository, repo = _PROJECTS.get(stem, (stem, address.repo))
    references: list[Comment] = []
    for at in item["comments"].items():
        body = at["comment"].as_text()
        word = at.get("severity")
        severity = None if word is None else _SEVERITIES.get(word.as_text().lower())
        extra = {"severity": word.as_text()} if word is not None and severity is None else {}
        identity = content_id(url, body)
        references.append(build(Comment, at, id=identity, body=body, severity=severity, extra=extra))
    change = build(Change, item, repo=repo, title=item["pr_title"].as_text(), url=url)
    facts = {"repository": repository}
    case = build(Case, item, id=address.id, change=change, references=tuple(references), facts=facts)
    remark = item.get("az_comment")
    drops = [Drop(item=case.id, by="martian", reason=f"the golden file remarks: {remark.as_text()}")] if remark else []
    return case, drops
