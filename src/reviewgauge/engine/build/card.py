"""Counts what a built benchmark holds, for its card."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from reviewgauge.core.reports.build_card import Spread
from reviewgauge.core.errors import UserError, one_line
from reviewgauge.core.records import Case
from reviewgauge.repo.git.repository import Repository

MOST = 40  # values of a fact that are named; the rest is counted together
_COUNTS = ("changes", "changed", "clean", "without a verdict", "references", "findings", "neutral", "rejected")
_PER_CASE = ("changed_lines", "changed_files", "commits", "hunks")
_LICENCE = ("licence", "license", "copying", "unlicense")


@dataclass
class Census:
    """What the cases that went past hold. Numbers are kept, texts are not."""

    counts: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(_COUNTS, 0)))
    facts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    numbers: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, case: Case) -> None:
        """One more case."""
        count = self.counts
        count["changes"] += 1
        changed = case.references or case.verdict is False  # as every stage that tells the two apart has it
        count["changed" if changed else "clean" if case.clean else "without a verdict"] += 1
        count["references"] += len(case.references)
        count["findings"] += sum(comment.same_as is None for comment in case.references)
        count["neutral"] += len(case.neutral)
        count["rejected"] += len(case.rejected)
        self.facts["repository"][case.change.repo] += 1
        for name, value in case.facts.items():
            if name in _PER_CASE and isinstance(value, int | float):
                self.numbers[name].append(float(value))
            elif name != "created" and (isinstance(value, str | bool) or name == "year"):
                self.facts[name][str(value)] += 1
        if isinstance(created := case.facts.get("created"), str):
            self.facts["created"][created[:7]] += 1
        for comment in case.references:
            for name, said in (
                ("category", comment.category),
                ("needs", comment.needs),
                ("severity", comment.severity),
            ):
                if said is not None:
                    self.facts[f"reference {name}"][str(said)] += 1
        self.numbers["findings per change"].append(sum(comment.same_as is None for comment in case.references))

    def distributions(self) -> dict[str, dict[str, int]]:
        """How often each value of each fact occurs; dates in their order, others the most frequent first.

        More months than can be named are left out: their years say as much, and without holes.
        """
        shown = {name: counter for name, counter in self.facts.items() if name != "created" or len(counter) <= MOST}
        return {name: _most(name, counter) for name, counter in sorted(shown.items())}

    def spreads(self) -> dict[str, Spread]:
        """The quartiles of each number."""
        return {name: _spread(values) for name, values in self.numbers.items() if values}


def _most(name: str, counter: Counter[str]) -> dict[str, int]:
    ranked = counter.most_common(MOST)
    rest = counter.total() - sum(n for _, n in ranked)
    ordered = sorted(ranked) if name in ("created", "year") else ranked
    return dict(ordered) | ({"(others)": rest} if rest else {})


def _spread(values: list[float]) -> Spread:
    ordered = sorted(values)

    def at(share: float) -> float:
        place = share * (len(ordered) - 1)
        low = int(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (ordered[high] - ordered[low]) * (place - low)

    return Spread(
        n=len(ordered),
        smallest=ordered[0],
        lower=at(0.25),
        median=at(0.5),
        upper=at(0.75),
        largest=ordered[-1],
        mean=round(sum(ordered) / len(ordered), 4),
    )


def find_licences(code: Path, names: Iterable[str]) -> Mapping[str, str]:
    """The first words of the licence file at the top of each mirror in `code` whose folder's name is among `names`."""
    found: dict[str, str] = {}
    for folder in sorted(code.glob("*.git")):
        if folder.name not in names:
            continue
        repository = Repository(folder)
        try:
            tree = [path for path in repository.paths("HEAD") if "/" not in path]
            file = next((path for path in tree if path.lower().startswith(_LICENCE)), None)
            text = (repository.blob("HEAD", file) or b"") if file else b""
        except UserError:
            found[folder.stem] = "could not be read"
            continue
        words = next((line for line in text.decode("utf-8", "replace").splitlines() if line.strip()), "")
        found[folder.stem] = f"{file}: {one_line(words, 100)}" if file else "no licence file at the top"
    return found
