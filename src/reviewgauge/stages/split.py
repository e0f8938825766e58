"""Split the cases into parts, by repository or by time: the fact `split` says train, validation or test.

Source: this project. That a repository lies in one part alone, and that what is tested is younger than what was learnt
from, are the two usual guards against leakage in studies of code (Allamanis, "The adverse effects of code
duplication", 2019); a share of cases drawn at random guards against neither.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar, Literal

from typing_extensions import override

from reviewgauge.core.base import Fact
from reviewgauge.core.building import BuildContext, Candidate, CardSection
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Stage, StageOutput
from reviewgauge.core.results import Drop
from reviewgauge.core.trust import Word
from reviewgauge.stages.sampling.draws import assign_groups, check_day, day_of


@dataclass(frozen=True)
class Split(Stage):
    """Give each case a part, so that `shares` of the cases come out as well as they can.

    By `repo`: each repository goes to one part, the largest first. By `time`: the parts follow each other, at the dates
    `cuts` or where the shares ask for; a day lies in one part.
    """

    example: ClassVar[str] = "reviewgauge build . -o bench --stage 'split(by=\"time\")'"

    by: Literal["repo", "time"] = "repo"
    parts: tuple[Word, ...] = ("train", "validation", "test")
    shares: tuple[float, ...] = (0.8, 0.1, 0.1)
    cuts: tuple[Word, ...] = ()
    seed: int = 0

    def __post_init__(self) -> None:
        if len(self.parts) < 2 or len(set(self.parts)) != len(self.parts) or not all(self.parts):
            raise ValueError("split needs two or more parts with different names")
        if len(self.shares) != len(self.parts) or min(self.shares) < 0 or abs(sum(self.shares) - 1) > 1e-6:
            raise ValueError("split needs one share for each part, and they add up to 1")
        for text in self.cuts:
            check_day("cuts", text)
        if self.cuts and (self.by == "repo" or len(self.cuts) != len(self.parts) - 1):
            raise ValueError("split needs one date between each two parts, and cuts only where it goes by time")
        if list(self.cuts) != sorted(set(self.cuts)):
            raise ValueError("split needs its cuts in the order of time")

    @override
    def apply(self, items: Iterable[Candidate], context: BuildContext) -> StageOutput:
        repos: Counter[str] = Counter()
        days: Counter[str] = Counter()
        for item in items:
            if self.by == "repo" or day_of(item.case) is not None:
                repos[item.case.change.repo] += 1
                days[day_of(item.case) or ""] += 1
        wanted = sum(share > 0 for share in self.shares)
        if self.by == "repo" and 0 < len(repos) < wanted:
            found_here = "one repository" if len(repos) == 1 else f"{len(repos)} repositories"
            problem = f"split by repo cannot put {found_here} into {wanted} parts"
            raise UserError(problem, remedy="split(by='time')")
        of_repo = assign_groups(repos, dict(zip(self.parts, self.shares, strict=True)), self.seed)
        cuts = list(self.cuts) or self._cuts(days)
        found: list[tuple[str, str, str | None]] = []
        for item in items:
            part = self._part(item, of_repo, cuts)
            if isinstance(part, Drop):
                yield part
                continue
            found.append((part, item.case.change.repo, day_of(item.case)))
            yield item.with_facts({"split": part})
        context.report(self._section(found, cuts))

    def _part(self, item: Candidate, of_repo: Mapping[str, str], cuts: list[str]) -> str | Drop:
        day = day_of(item.case)
        if self.by == "repo":
            return of_repo[item.case.change.repo]
        if day is None:
            return self.drop(item.id, "does not state created")
        return self.parts[bisect_right(cuts, day)]

    def _cuts(self, days: Mapping[str, int]) -> list[str]:
        """The first days of the second part and on, where the parts come closest to their shares."""
        order = sorted(day for day in days if day)
        before = [0, *accumulate(days[day] for day in order)]
        bounds = list(accumulate(self.shares))[:-1]
        cuts = []
        for bound in bounds:
            at = min(range(len(before)), key=lambda n: (abs(before[n] - bound * before[-1]), n))
            cuts.append(order[at] if at < len(order) else "9999-12-31")
        return cuts

    def _section(self, found: list[tuple[str, str, str | None]], cuts: list[str]) -> CardSection:
        rows: list[tuple[str | int | float | None, ...]] = []
        for part, share in zip(self.parts, self.shares, strict=True):
            mine = [(repo, day) for name, repo, day in found if name == part]
            dates = sorted(day for _, day in mine if day)
            got = round(len(mine) / len(found), 4) if found else None
            first, last = (dates[0], dates[-1]) if dates else (None, None)
            rows.append(
                (part, len(mine), None if self.cuts else share, got, len({repo for repo, _ in mine}), first, last)
            )
        figures: dict[str, Fact] = {f"{part} begins": cut for part, cut in zip(self.parts[1:], cuts, strict=True)}
        together = "No repository lies in two parts." if self.by == "repo" else "A repository may lie in several parts."
        return CardSection(
            by="split",
            title="Parts",
            text=f"By {self.by}. {together}",
            columns=("part", "cases", "share wanted", "share", "repositories", "first day", "last day"),
            rows=tuple(rows),
            figures={} if self.by == "repo" else figures,
        )
