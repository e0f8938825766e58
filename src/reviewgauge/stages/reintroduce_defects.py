"""Put faults that this repository once had back into recent changes: the inverse of a real fix in today's code.

Source: ours; that faults like a project's own earlier ones are more real than those of operators is the idea of Tufano
et al. (arXiv:1812.10772), who learn to make such. Here they are these themselves.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from itertools import islice, pairwise
from typing import Annotated, ClassVar, NamedTuple

from pydantic import Field
from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate, CardSection
from reviewgauge.core.errors import UserError
from reviewgauge.core.parameters import Positive
from reviewgauge.core.protocols import Stage, StageOutput
from reviewgauge.core.records import ARM, ChangedFile, RequiredContext, Side
from reviewgauge.repo.diff.diffs import changed_lines, parse_patch
from reviewgauge.repo.git.blobs import BlobReader, file_name
from reviewgauge.repo.git.folders import scratch_folder
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.landed_changes import LARGEST_FILE
from reviewgauge.repo.syntax.functions import code_lines
from reviewgauge.repo.syntax.languages import not_product, trivial
from reviewgauge.repo.syntax.tree import SyntaxTree, parse
from reviewgauge.stages.injection.arms import Defect, with_defect
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

    share: Annotated[float, Field(gt=0, le=1)] = 0.5
    per_change: Positive = 1
    seed: int = 0

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


# --- the inverse of a fix in today's code: a three-way merge puts back what the fix took out --------------------------

_GAP = 10  # lines between two edits that are still one place
_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class Inverse:
    """A file with a fix, and without. `sound_lines` and `lines` are the first and last line of the place in each.

    `put` are the numbers of the lines that came in, but for those that say nothing.
    """

    sound: bytes
    defective: bytes
    lines: tuple[int, int]
    sound_lines: tuple[int, int]
    put: frozenset[int]


def take_back(repository: Repository, fix: PastFix, path: str, sound: bytes) -> Inverse | str:
    """The file at `path`, which is `sound` now, without the fix, or why that cannot be. Raises UserError."""
    with_fix, without = (repository.blob(commit, fix.path) or b"" for commit in (fix.commit, fix.before))
    merged = _merged(repository, sound, with_fix, without)
    if merged is None:
        return "its lines were changed since"
    edits = list(_edits(sound, merged))
    if not edits:
        return "its lines are not there any more"
    if any(later[0] - earlier[1] > _GAP for earlier, later in pairwise(edits)):
        return "is in several places"
    trees = [parse(text, path) for text in (sound, merged)]
    for tree in trees:
        if isinstance(tree, str):
            return tree
    first, last = edits[0], edits[-1]
    lines, sound_lines = _numbers(first[2], last[3], merged), _numbers(first[0], last[1], sound)
    if why := _unsound([tree for tree in trees if isinstance(tree, SyntaxTree)], with_fix, without):
        return why
    text = merged.decode("utf-8", "replace").split("\n")
    put = {at + 1 for edit in edits for at in range(edit[2], edit[3]) if not trivial(text[at])}
    return Inverse(sound, merged, lines, sound_lines, frozenset(put))


def _merged(repository: Repository, ours: bytes, base: bytes, theirs: bytes) -> bytes | None:
    """`ours` with what leads from `base` to `theirs`; None where both changed the same lines."""
    with scratch_folder() as top:
        paths = []
        for name, text in (("ours", ours), ("base", base), ("theirs", theirs)):
            (top / name).write_bytes(text)
            paths.append(str(top / name))
        try:
            return repository.run("merge-file", "-p", "--quiet", *paths)
        except UserError:  # git ends with the number of conflicts
            return None


Edit = tuple[int, int, int, int]


def _edits(before: bytes, after: bytes) -> Iterator[Edit]:
    """The lines that differ: first and last (from 0, the last not among them) in `before`, and those in `after`."""
    old, new = before.split(b"\n"), after.split(b"\n")
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    matcher = SequenceMatcher(None, old[start : len(old) - end], new[start : len(new) - end], autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            yield a + start, b + start, c + start, d + start


def _numbers(first: int, last: int, text: bytes) -> tuple[int, int]:
    """Lines from 0, without the last, as numbers from 1; the lines around a place where there are none."""
    if first < last:
        return first + 1, last
    return max(1, first), max(1, min(first + 1, len(text.splitlines())))


def _unsound(trees: Sequence[SyntaxTree], with_fix: bytes, without: bytes) -> str:
    """Why the code without the fix is not what it was: later code builds on the fix, or what it needs is gone."""
    if len({_running(tree) for tree in trees}) == 1:
        return "changes nothing that runs"
    sound, defective = (Counter(_names(tree)) for tree in trees)
    brought = {*_WORD.findall(with_fix.decode("utf-8", "replace"))} - {
        *_WORD.findall(without.decode("utf-8", "replace"))
    }
    if any(name in brought for name in defective):
        return "later code builds on it"
    if any(name not in sound and count == 1 for name, count in defective.items()):
        return "names what is not there any more"
    return ""


def _running(tree: SyntaxTree) -> bytes:
    """The code without blanks, comments and annotations of types."""
    kinds = code_lines(tree.source, tree.path)
    code = kinds.code
    for start, end in kinds.types:
        code = code[:start] + b" " * (end - start) + code[end:]
    return b"".join(code.split())


def _names(tree: SyntaxTree) -> Iterator[str]:
    """The names that code uses; not those in texts and comments."""
    return (node.text for node in tree.root.walk() if "identifier" in node.kind and not node.children)
