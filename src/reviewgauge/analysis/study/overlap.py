"""Which findings were found by whom: the sets of contenders, or of attempts of one, and how many of them found each.

Sources of the shape: SWR-Bench (arXiv:2509.01494), Figure 6; AACR-Bench (arXiv:2601.19494), Table 8; the plot is
UpSet (Lex et al., 2014).
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reviewgauge.analysis.study.material import Contender, Material
from reviewgauge.core.document import Plot, Table, Value, name_columns
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric
from reviewgauge.core.results import Matching, Score
from reviewgauge.core.specs import short_spec
from reviewgauge.core.study import TableEntry

JOIN = " & "
NOBODY = "nobody"
YES_OR_NO = "a finding is found or not here; recall counts the probability that it is"
TIMES = "-times"  # ends the name of the table that counts finders
Finding = tuple[str, str]  # case, first reference of the group


def overlap_tables(entry: TableEntry, material: Material, name: str, title: str) -> Iterator[Table]:
    """Two tables for all contenders, or for the attempts of each: which sets found how many, and how many found it."""
    metric = material.metric(entry.metric)
    run = material.run(metric)
    measured = [_Measured.of(score, score.matching) for score in run.scores if score.matching is not None]
    chosen = [c for c in material.chosen(entry) if not c.trouble]
    if not measured or not chosen:
        raise UserError(f"{short_spec(metric)} does not say who found what", remedy="hits and points do")
    fake = any(score.fake for score in measured)
    notes = []
    if entry.of == "reviewers" and any(score.attempt > 1 for score in measured):
        notes.append("found: in at least one attempt")
    notes += [YES_OR_NO] if any(score.unsure for score in measured) else []
    overlap = _Overlap(material, metric, entry, fake, (*notes, *material.gaps(entry, metric)))
    if entry.of == "reviewers":
        names = {c.system: c.name for c in chosen}
        yield from overlap.tables(name, title, measured, lambda score: names.get(score.system), [*names.values()])
        return
    repeated = [c for c in chosen if len(_attempts(measured, c)) > 1]
    if not repeated:
        why = "left out: no review was repeated (attempts = 5 repeats each)"
        yield Table(name=name, kind=entry.kind, title=title, columns=name_columns(("found by",)), rows=(), notes=(why,))
    for at, contender in enumerate(repeated):
        sets = [f"attempt {number}" for number in _attempts(measured, contender)]
        own = [score for score in measured if score.system == contender.system]
        named = name if len(repeated) == 1 else f"{name}-{at + 1}"
        named_title = f"{title}: {contender.name}"
        yield from overlap.tables(named, named_title, own, lambda score: f"attempt {score.attempt}", sets)


class _Measured(NamedTuple):
    """What counts of a score: there may be very many. `groups` are the findings, and whether each was hit."""

    case: str
    system: str
    attempt: int
    fake: bool
    groups: tuple[tuple[str, bool], ...]
    unsure: bool

    @classmethod
    def of(cls, score: Score, matching: Matching) -> _Measured:
        groups = tuple((sys.intern(one.group), one.hit) for one in matching.groups)
        unsure = any(one.probability not in (None, 0, 1) for one in matching.groups)
        return cls(sys.intern(score.case), sys.intern(score.system), score.attempt, score.fake, groups, unsure)


def _attempts(scores: Sequence[_Measured], contender: Contender) -> list[int]:
    return sorted({score.attempt for score in scores if score.system == contender.system})


def _found(
    scores: Sequence[_Measured], name_of: Callable[[_Measured], str | None], sets: Sequence[str]
) -> tuple[dict[Finding, set[str]], str]:
    """By finding, who found it; nobody, for those that nobody found. And which changes those are.

    A change counts where all of `sets` were scored on it: who failed on one did not miss its findings.
    """
    named = [(score, who) for score in scores if (who := name_of(score)) is not None]
    present: dict[str, set[str]] = defaultdict(set)
    for score, who in named:
        present[score.case].add(who)
    common = {case for case, there in present.items() if len(there) == len(sets)}
    found: dict[Finding, set[str]] = defaultdict(set)
    for score, who in named:
        for group, hit in score.groups if score.case in common else ():
            found[score.case, group].update([who] if hit else [])
    some = f"the {len(common)} of {len(present)} changes that all of these were scored on"
    return found, f"{len(common)} changes" if len(common) == len(present) else some


@dataclass(frozen=True)
class _Overlap:
    material: Material
    metric: Metric
    entry: TableEntry
    fake: bool
    notes: Sequence[str]

    def tables(
        self,
        name: str,
        title: str,
        scores: Sequence[_Measured],
        name_of: Callable[[_Measured], str | None],
        sets: Sequence[str],
    ) -> Iterator[Table]:
        """Which sets found how many, and how many found each."""
        sets = list(dict.fromkeys(sets))
        found, where = _found(scores, name_of, sets)
        if not found:
            why = (f"left out: {where} have no findings", *self.notes)
            yield Table(
                name=name, kind=self.entry.kind, title=title, columns=name_columns(("found by",)), rows=(), notes=why
            )
            return
        what = "attempts" if self.entry.of == "attempts" else "reviewers"
        combos = Counter(tuple(one for one in sets if one in members) for members in found.values())
        order = sorted(combos, key=lambda combo: (not combo, -combos[combo], [sets.index(one) for one in combo]))
        provenance = self.material.provenance(self.metric)
        yield Table(
            name=name,
            kind=self.entry.kind,
            title=title,
            columns=name_columns(("found by", "findings", "share")),
            rows=tuple(self._row(JOIN.join(combo) or NOBODY, found, set(combo).__eq__) for combo in order),
            plot=Plot(kind="upset", columns=(1,)) if self.entry.plot and len(sets) > 1 else None,
            shown=20,
            provenance=provenance,
            notes=(
                f"{len(found):,} findings of {where}; each is counted once, in the row of exactly those that found it",
                *self.notes,
            ),
        )
        yield Table(
            name=f"{name}{TIMES}",
            kind=self.entry.kind,
            title=f"{title}: how many {what} found a finding",
            columns=name_columns((what, "findings", "share")),
            rows=tuple(
                self._row(str(size), found, lambda members, size=size: len(members) == size)  # type: ignore[misc]
                for size in range(len(sets) + 1)
            ),
            provenance=provenance,
            notes=(f"{len(found):,} findings of {where}", *self.notes),
        )

    def _row(
        self, text: str, found: Mapping[Finding, set[str]], counts: Callable[[set[str]], bool]
    ) -> tuple[Value, ...]:
        """How many findings count, and their share of all, with an interval that resamples the changes."""
        of_case: dict[str, list[float]] = defaultdict(list)
        for (case, _), members in found.items():
            of_case[case].append(float(counts(members)))
        sums = {case: (sum(own), float(len(own))) for case, own in of_case.items()}
        count = sum(above for above, _ in sums.values())
        share = self.material.ratio_of(sums, fake=self.fake)
        return Value(text=text), Value(value=count, n=len(found), unit="count", fake=self.fake), share
