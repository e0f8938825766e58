"""Whether a reviewer could tell an injected defect from its twin by anything but the code."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from reviewgauge.core.records import ARM, PAIR, Arm, Case, Change
from reviewgauge.repo.diff.diffs import parse_patch

_MANY = 8  # hosts; in fewer the twin may come first by chance


class TwinFlaw(NamedTuple):
    """An error of such a benchmark."""

    rule: str
    case: str
    message: str


def twin_flaws(cases: Sequence[Case]) -> Iterator[TwinFlaw]:
    """What gives the defects away, or leaves one without its twin; nothing for other benchmarks."""
    hosts: dict[tuple[str, object], list[Case]] = defaultdict(list)
    for case in cases:
        if ARM in case.facts:
            hosts[case.change.repo, case.facts.get(PAIR)].append(case)
    for own in hosts.values():
        yield from _incomplete(own)
        yield from _visible(own)
        yield from _named(own)
        for case in own:
            yield from _broken_hunks(case)
    yield from _in_order(list(hosts.values()))


def _incomplete(own: Sequence[Case]) -> Iterator[TwinFlaw]:
    arms = Counter(str(case.facts[ARM]) for case in own)
    if arms[Arm.TWIN] != 1 or not arms[Arm.DEFECT]:
        found = ", ".join(f"{count} {arm}" for arm, count in sorted(arms.items()))
        message = f"its host has {found}: a d′ needs one twin, and a defect or more"
        yield TwinFlaw("pair_incomplete", own[0].id, message)


def _named(own: Sequence[Case]) -> Iterator[TwinFlaw]:
    """An arm that its id or commit names; a word that those of all arms hold is the repository's."""
    names = [f"{case.id} {case.change.head or ''}".lower() for case in own]
    for case, name in zip(own, names, strict=True):
        arm = str(case.facts[ARM])
        if arm in name and not all(arm in other for other in names):
            yield TwinFlaw("arm_in_name", case.id, f"its id or commit says {arm!r}, which a reviewer may read")


def _visible(own: Sequence[Case]) -> Iterator[TwinFlaw]:
    """Any field of a change that differs on the arms of one host, beside its code."""
    first = own[0]
    for case in own[1:]:
        one, other = (_shown(each.change) for each in (first, case))
        if odd := [name for name in one if one[name] != other[name]]:
            message = f"{', '.join(odd)} differs from {first.id}: a reviewer could tell a defect from its twin by it"
            yield TwinFlaw("arm_shows", case.id, message)


def _shown(change: Change) -> dict[str, object]:
    fields = {name: getattr(change, name) for name in ("title", "description", "issues", "task", "url", "base")}
    files = [(file.path, file.old_path, file.status, file.binary, file.patch is None) for file in change.files]
    return fields | {"files": files, "head": change.head is None, "snippets": len(change.snippets)}


def _broken_hunks(case: Case) -> Iterator[TwinFlaw]:
    for file in case.change.files:
        if not file.patch:
            continue
        hunks = parse_patch(file.patch)
        short = [
            hunk
            for hunk in hunks
            if sum(line.kind != "-" for line in hunk.lines) != hunk.new_count
            or sum(line.kind != "+" for line in hunk.lines) != hunk.old_count
        ]
        if short or not hunks:
            where = f"{file.path}: {short[0].header}" if short else f"{file.path} has none"
            yield TwinFlaw("broken_hunk", case.id, f"a hunk does not hold the lines that it counts ({where})")


def _in_order(hosts: Sequence[Sequence[Case]]) -> Iterator[TwinFlaw]:
    """One arm that always comes first, or last, of its host."""
    if len(hosts) < _MANY:
        return
    for end, word in ((0, "first"), (-1, "last")):
        arms = {str(own[end].facts[ARM]) for own in hosts}
        if len(arms) == 1:
            yield TwinFlaw("arm_by_order", hosts[0][end].id, f"the {arms.pop()} always comes {word} of its host")
