"""The revision that change-points are asked for: the last one before the first commit that answers one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from reviewgauge.core.building import Candidate
from reviewgauge.core.history import Revision
from reviewgauge.stages.points.answers import Found
from reviewgauge.stages.points.material import Material
from reviewgauge.stages.pull_requests.candidates import NO_CODE as NOT_HERE
from reviewgauge.stages.pull_requests.candidates import change_at, like, word_facts
from reviewgauge.stages.sampling.facts import change_facts

NO_CODE = "the commits to cut it back to before its first answer are not at hand"
FOREIGN_HEAD = "its change ends at none of the pull request's commits"
ANSWERED = "its change holds the answer to every change-point, or ends before what they are about"


class Revised(NamedTuple):
    """The candidate at the revision, and the change-points that are open in it."""

    item: Candidate
    points: Sequence[int]


def cut_back(item: Candidate, material: Material, points: Sequence[Found]) -> Revised | str:
    """The candidate at the last commit before the first that resolves a point, and which points are open there.

    Points that are about code that came later are not open. The files are read from git anew, and so are the facts.
    """
    labels = list(material.commits)
    end = min(labels.index(point.resolved) for point in points) - 1
    change = item.case.change
    head = material.commits[labels[end]].id
    if head != change.head or not change.has_diff:
        state = Revision(head=head, pushed=material.commits[labels[end]].committed)
        cut = change_at(material.pull, state)
        if isinstance(cut, str):
            return NO_CODE if cut == NOT_HERE else cut
        cut = like(item, cut)
        facts = {name: value for name, value in item.case.facts.items() if name not in _OF_FILES}
        facts |= {**change_facts(cut, commits=end + 1), **word_facts(material.pull, state)}
        item = item.with_case(change=cut, facts=facts)
    return Revised(item, _open(points, labels, end))


_OF_FILES = {"changed_files", "changed_lines", "hunks", "language", "size"}


def as_given(item: Candidate, material: Material, points: Sequence[Found]) -> Revised | str:
    """The candidate as it is, and which of the points are open in it."""
    label = material.label_of(item.case.change.head)
    if label is None:
        return FOREIGN_HEAD
    labels = list(material.commits)
    found = _open(points, labels, labels.index(label))
    return Revised(item, found) if found else ANSWERED


def _open(points: Sequence[Found], labels: Sequence[str], end: int) -> list[int]:
    """The points whose code is there and whose answer is not, by position."""
    place = labels.index
    return [at for at, point in enumerate(points) if place(point.introduced) <= end < place(point.resolved)]
