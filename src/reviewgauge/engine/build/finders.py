"""Who found what a benchmark holds: each source alone, and together with others.

Source: AACR-Bench (arXiv:2601.19494), Table 8: by how many models a comment was proposed, before equal ones are merged.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from reviewgauge.core.base import Fact
from reviewgauge.core.building import CardSection
from reviewgauge.core.records import Case, Comment, findings

PEOPLE = "people"
_TEXT = "A finding has one source or more. References are those that no longer wait for people's word."
_COLUMNS = ("source", "comments", "findings", "alone", "with others", "references", "references alone")


@dataclass
class Finders:
    """Counts findings, and those of references, by the set of their sources; comments as they were before merging."""

    comments: Counter[str] = field(default_factory=Counter)
    found: Counter[frozenset[str]] = field(default_factory=Counter)
    right: Counter[frozenset[str]] = field(default_factory=Counter)

    def add(self, case: Case) -> None:
        """The findings of one more case, neutral ones too."""
        references = {one.id for one in case.references}
        for finding in findings((*case.references, *case.neutral)):
            sources = [_source(one) for one in finding]
            self.comments.update(sources)
            self.found[frozenset(sources)] += 1
            self.right[frozenset(sources)] += any(one.id in references for one in finding)

    def section(self) -> CardSection | None:
        """The overlap for the card; None where nothing was proposed."""
        proposers = sorted(self.comments.keys() - {PEOPLE})
        if not proposers:
            return None
        figures: dict[str, Fact] = {}
        for count in range(max(len(sources - {PEOPLE}) for sources in self.found) + 1):
            of_so_many = [sources for sources in self.found if len(sources - {PEOPLE}) == count]
            figures[f"references that {count} reviewers proposed"] = sum(self.right[sources] for sources in of_so_many)
        rows = tuple(self._row(source) for source in (PEOPLE, *proposers))
        return CardSection(
            by="generate", title="Who found what", text=_TEXT, columns=_COLUMNS, rows=rows, figures=figures
        )

    def _row(self, source: str) -> tuple[str | int, ...]:
        found, right = (
            {sources: n for sources, n in counts.items() if source in sources} for counts in (self.found, self.right)
        )
        alone, right_alone = (counts.get(frozenset({source}), 0) for counts in (found, right))
        total = sum(found.values())
        return (source, self.comments[source], total, alone, total - alone, sum(right.values()), right_alone)


def _source(comment: Comment) -> str:
    """Who says it: a reviewer that was asked to propose, else people."""
    return (comment.author or PEOPLE) if comment.extra.get("source") == "generated" else PEOPLE
