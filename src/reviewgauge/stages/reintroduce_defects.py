"""Put faults that this repository once had back into recent changes: the inverse of a real fix in today's code.

Source: ours; that faults like a project's own earlier ones are more real than those of operators is the idea of Tufano
et al. (arXiv:1812.10772), who learn to make such. Here they are these themselves.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import ClassVar, NamedTuple

from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate, CardSection
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Stage, StageOutput
from reviewgauge.core.records import ARM, ChangedFile, RequiredContext, Side
from reviewgauge.repo.diff.diffs import changed_lines, parse_patch
from reviewgauge.repo.git.blobs import BlobReader, file_name
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.landed_changes import LARGEST_FILE
from reviewgauge.repo.syntax.languages import not_product, trivial
from reviewgauge.stages.injection.arms import Defect, with_defect
from reviewgauge.stages.injection.inverse import Inverse, take_back
from reviewgauge.stages.injection.past_fixes import PastFix, as_remark, histories, past_fixes
from reviewgauge.stages.sampling.draws import draw_key

MADE = "reintroduced"
PUT_BACK = "put back"
_MOST_TRIED = 5  # places that are tried for one fix


@dataclass(frozen=True)
class ReintroduceDefects(Stage):
    """Takes each small fix of the whole history back in at most one change, at most `per_change` in each.

    A fix edits one file of the product, in at most 30 lines, and its message says so. It is taken back where a change
    edits the same file, a three-way merge applies, the code there is what the fix left, and the lines are at most a
    `share` of those that the change adds; near the change's own lines if it can be, in the newest change then. Fixes of
    several files are left out, and so are those whose file no change edits: more hosts (`newest` of `recent_changes`)
    have place for more. The remark is the message of the fix without "Fix" and the like.
    """

    needs_build: ClassVar[bool] = True

    share: float = 0.5
    per_change: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ValueError("share is a share: above 0, at most 1")
        if self.per_change < 1:
            raise ValueError("per_change must be 1 or more")

    @override
    def apply(self, items: Iterable[Candidate], context: BuildContext) -> StageOutput:
        hosts: list[Candidate] = []
        for item in items:
            yield item
            if ARM not in item.case.facts and item.case.change.git and item.case.change.base and item.case.change.head:
                hosts.append(item)
        outcomes: Counter[str] = Counter()
        for git, (repository, tip) in histories(hosts).items():
            found = past_fixes(repository, tip, context)
            outcomes.update(found.others)
            places = _Places(self, repository, [host for host in hosts if host.case.change.git == git])
            where = places.find(found.fixes)
            for done, fix in enumerate(sorted(found.fixes, key=lambda fix: draw_key(self.seed, fix.commit))):
                context.progress("putting faults back", done, len(found.fixes))
                made = places.put_back(fix, where.get(fix.commit))
                outcomes[PUT_BACK if isinstance(made, Candidate) else made] += 1
                if isinstance(made, Candidate):
                    yield made
        context.report(_section(outcomes))


@dataclass(frozen=True, eq=False)
class _Host:
    """A change that defects can be put into; `order` counts from the newest one."""

    item: Candidate
    order: int

    @cached_property
    def files(self) -> dict[str, ChangedFile]:
        """The files of the product that it edits or adds."""
        found = self.item.case.change.files
        return {file.path: file for file in found if file.patch and not not_product(file.path)}

    @cached_property
    def added(self) -> int:
        """How many lines of the product it adds."""
        return sum(len(changed_lines(file, Side.NEW)) for file in self.files.values())


class _Place(NamedTuple):
    """A file of a host that still has the lines of a fix, so many lines from what the host changes; the best first."""

    distance: int
    order: int
    path: str


class _Places:
    """The places of one history where its fixes can be taken back."""

    def __init__(self, stage: ReintroduceDefects, repository: Repository, items: Sequence[Candidate]) -> None:
        self._stage, self._repository = stage, repository
        self._hosts = [_Host(item, order) for order, item in enumerate(reversed(items))]
        self._taken: Counter[int] = Counter()

    def find(self, fixes: Iterable[PastFix]) -> dict[str, list[_Place]]:
        """The places of each fix, by its commit; those whose file no host edits are left out."""
        by_name: defaultdict[str, list[PastFix]] = defaultdict(list)
        for fix in fixes:
            by_name[_name(fix.path)].append(fix)
        files = [(host, path) for host in self._hosts for path in host.files if _name(path) in by_name]
        found: dict[str, list[_Place]] = {}
        with BlobReader(self._repository, LARGEST_FILE) as blobs:
            names = (file_name(host.item.case.change.head or "", path) for host, path in files)
            for (host, path), text in zip(files, blobs.read_many(names), strict=True):
                lines = (text or b"").decode("utf-8", "replace").split("\n")
                own = sorted(changed_lines(host.files[path], Side.NEW))
                present = set(lines)
                for fix in by_name[_name(path)]:
                    if fix.head == host.item.case.change.head:
                        continue
                    places = found.setdefault(fix.commit, [])
                    wanted = _lines_to_find(fix.patch)
                    if wanted <= present:
                        places.append(_Place(_distance(lines, wanted, own), host.order, path))
        return found

    def put_back(self, fix: PastFix, places: Sequence[_Place] | None) -> Candidate | str:
        """The case with the fault of a fix, or why there is none."""
        if places is None:
            return "no change here edits its file"
        body = as_remark(fix.text)
        if not body:
            return "its message says nothing"
        if not places:
            return "its lines are not there any more"
        large = [place for place in places if fix.size <= self._stage.share * self._hosts[place.order].added]
        if not large:
            return f"is larger than {self._stage.share:g} of the changes there"
        why = "the changes there have defects already"
        free = (place for place in sorted(large) if self._taken[place.order] < self._stage.per_change)
        for place in islice(free, _MOST_TRIED):
            host = self._hosts[place.order]
            try:
                sound = self._repository.blob(host.item.case.change.head or "", place.path) or b""
                made = take_back(self._repository, fix, place.path, sound)
            except UserError:
                return "its code cannot be read"
            case = self._case(host, fix, place.path, made, body) if isinstance(made, Inverse) else made
            if isinstance(case, Candidate):
                self._taken[place.order] += 1
                return case
            why = case
        return why

    def _case(self, host: _Host, fix: PastFix, path: str, made: Inverse, body: str) -> Candidate | str:
        defect = Defect(
            path=path,
            sound=made.sound,
            defective=made.defective,
            lines=made.lines,
            sound_lines=made.sound_lines,
            body=body,
            operator=MADE,
            made=MADE,
            needs=RequiredContext.FILE,
            explanation=fix.text,
            fix=fix.commit,
        )
        case = with_defect(host.item, defect, f"fix:{fix.commit}", self._stage.seed)
        if isinstance(case, Candidate):
            shown = next(file for file in case.case.change.files if file.path == path)
            return case if _is_shown(made, shown, host.files[path]) else "its place is not in the diff"
        return case


def _name(path: str) -> str:
    """A file's name: folders are renamed more often, and the lines tell whether it is the same file."""
    return path.rpartition("/")[2]


@lru_cache(maxsize=4096)
def _lines_to_find(patch: str) -> frozenset[str]:
    """What a file must have for a fix to be in it: the lines that it adds, or those around what it takes away."""
    lines = [line for hunk in parse_patch(patch) for line in hunk.lines if not trivial(line.text)]
    added = frozenset(line.text for line in lines if line.kind == "+")
    return added or frozenset(line.text for line in lines if line.kind == " ")


def _distance(lines: Sequence[str], wanted: frozenset[str], own: Sequence[int]) -> int:
    """How far the nearest of the wanted lines is from a host's own ones."""
    found = [number for number, line in enumerate(lines, 1) if line in wanted]
    near = ((number, bisect_left(own, number)) for number in found)
    return min((abs(own[at] - number) for number, i in near for at in (i - 1, i) if 0 <= at < len(own)), default=10**9)


def _is_shown(made: Inverse, shown: ChangedFile, before: ChangedFile) -> bool:
    """Whether the diff shows the fault: the lines put in as added ones, or that lines are gone or never came."""
    new = changed_lines(shown, Side.NEW)
    if made.put:
        return made.put <= new
    return set(made.lines) <= new or len(changed_lines(shown, Side.OLD)) > len(changed_lines(before, Side.OLD))


def _section(outcomes: Mapping[str, int]) -> CardSection:
    put = outcomes.get(PUT_BACK, 0)
    warning = "no fix of this history could be taken back in a recent change: no fault is one that it really had"
    return CardSection(
        by="reintroduce_defects",
        title="Faults put back",
        text="What became of each fix of the history.",
        columns=("outcome", "fixes"),
        rows=tuple(Counter(outcomes).most_common()),
        figures={"fixes": sum(outcomes.values()), "put back": put},
        warnings=() if put else (warning,),
    )
