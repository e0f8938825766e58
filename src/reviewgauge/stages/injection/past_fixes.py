"""The small fixes of a history, with the code before and after: what faults this repository really had."""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from reviewgauge.core.base import Record
from reviewgauge.core.building import BuildContext, Candidate
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import ChangedFile, FileStatus, Side
from reviewgauge.core.specs import short_spec
from reviewgauge.operators.code.operator import Code, Operator, Plant, applied
from reviewgauge.repo.diff.diffs import count_changed, parse_patch
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.fix_messages import FixKind, speaks_of_a_defect
from reviewgauge.repo.history.landed_changes import LandedChange, own_text, read_changes, without_ids
from reviewgauge.repo.syntax.languages import not_product, trivial
from reviewgauge.repo.syntax.lines import line_starts
from reviewgauge.repo.syntax.tree import parse
from reviewgauge.repo.tables import pattern, read_table
from reviewgauge.stages.history.fixes import classify_message, fix_text
from reviewgauge.stages.history.memory import HistoryMemory, code_fingerprint
from reviewgauge.stages.injection.arms import repository_of

MOST_LINES = 30  # of product code that a fix adds and takes away; as `from_git` has it
_LONGEST_BODY = 2000
_WORDS = read_table(__package__, "fix_words")
_OPENING = pattern(rf"\s*(?:{'|'.join(_WORDS['opening'])})")
_ASIDE = pattern("|".join(_WORDS["aside"]))
_NO_FAULT = pattern(_WORDS["no_fault"])
_BULLET = re.compile(r"\s{0,8}[*-]\s+")
_PLAIN_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*+(?:\s|$)")


class PastFix(Record):
    """A fix that changes a few lines of one file of the product. `before` is the commit without it.

    `head` is the last commit of its branch, or itself.
    """

    commit: str
    head: str
    before: str
    path: str
    patch: str
    text: str

    @property
    def size(self) -> int:
        """The lines that it adds, or those that it takes away where these are more."""
        kinds = [line.kind for hunk in parse_patch(self.patch) for line in hunk.lines]
        return max(kinds.count("+"), kinds.count("-"))


class PastFixes(Record):
    """Those of a history, oldest first, and why its other fixes are none."""

    fixes: tuple[PastFix, ...] = ()
    others: Mapping[str, int] = {}


def histories(hosts: Iterable[Candidate]) -> dict[str, tuple[Repository, str]]:
    """The repository and the newest commit of each history that hosts come from; they go from old to new."""
    newest = {host.case.change.git: host for host in hosts if host.case.change.git}
    return {git: (repository_of(host.case), host.case.change.head or "") for git, host in newest.items()}


def past_fixes(repository: Repository, tip: str, context: BuildContext) -> PastFixes:
    """The fixes in the history of `tip`. Raises UserError where git fails."""
    code = "".join(map(code_fingerprint, ("reviewgauge.repo", "reviewgauge.stages")))
    key = ("past fixes", repository.name, code, tip)
    if (known := context.recall(key)) is not None:
        return PastFixes.model_validate_json(zlib.decompress(known))
    memory = HistoryMemory(repository, context)
    found: list[PastFix] = []
    others: Counter[str] = Counter()
    seen: set[tuple[str, ...]] = set()
    for done, change in enumerate(read_changes(repository, tip)):
        context.progress("reading fixes", done)
        if not isinstance(change, LandedChange):
            continue
        signs = classify_message(change)
        if signs.kind is not FixKind.YES or signs.is_revert:
            continue
        made = _past_fix(change, memory)
        if isinstance(made, PastFix) and (lines := _hunks(made)) in seen:
            made = "is in the history twice"
        elif isinstance(made, PastFix):
            seen.add(lines)
        if isinstance(made, str):
            others[made] += 1
        else:
            found.append(made)
    fixes = PastFixes(fixes=tuple(found), others=others)
    context.remember(key, zlib.compress(fixes.to_line(), 1))
    return fixes


def _past_fix(change: LandedChange, memory: HistoryMemory) -> PastFix | str:
    """The fix, or why it is too large, too much at once, or no code."""
    before, commit = change.commit.parents[0], change.commit.id
    try:
        files = memory.files(before, commit)
    except UserError:
        return "its diff cannot be read"
    product = [file for file in files if not not_product(file.path)]
    if why := _unfit(product):
        return why
    text = without_ids(own_text(fix_text(change)))[:_LONGEST_BODY]
    if _NO_FAULT.search(text.partition("\n")[0]):
        return "speaks of no fault"
    return PastFix(
        commit=commit,
        head=change.head,
        before=before,
        path=product[0].path,
        patch=product[0].patch or "",
        text=text,
    )


def _unfit(product: Sequence[ChangedFile]) -> str:
    """Why these files, all of a fix that are the product's, are not a small fix in one place."""
    if len(product) != 1:
        return "changes several files of the product" if product else "changes no code of the product"
    if product[0].status is not FileStatus.MODIFIED or not product[0].patch:
        return "does not edit its file"
    if count_changed(product) > MOST_LINES:
        return f"changes more than {MOST_LINES} lines"
    kinds = {trivial(line) for line in _changed(product[0].patch)}
    if "an import" in kinds:  # taken back, it would leave an import without use, or a use without import
        return "changes imports"
    return "" if "" in kinds else "changes no line that says something"


def _hunks(fix: PastFix) -> tuple[str, ...]:
    """What tells whether the same fix landed before, on another branch."""
    return fix.path, *(line.kind + line.text for hunk in parse_patch(fix.patch) for line in hunk.lines)


def _changed(patch: str) -> tuple[str, ...]:
    return tuple(line.text for hunk in parse_patch(patch) for line in hunk.lines if line.kind != " ")


def as_remark(text: str) -> str:
    """The text of a fix as a remark on the fault: without "Fix", "fixes #12" and the like; empty where nothing is left.

    Points of a list that speak of no fault go. What the fix did instead stays: no rule tells that from the fault.
    """
    title, *body = text.strip().split("\n")
    title = _without_words(title).strip(" .:;,–—-")
    if len(re.findall(r"[^\W\d_]{2,}", re.sub(r"https?://\S+", "", title))) < 2:
        return ""
    if _PLAIN_WORD.match(title):
        title = title[:1].upper() + title[1:]
    lines, left_out = [title], False
    for line in body:
        mark = _BULLET.match(line)
        said = _without_words(line[mark.end() :]) if mark else _ASIDE.sub("", line).rstrip()
        if mark or (line.strip() and not line.startswith("  ")):  # else it goes on with a point of a list
            left_out = mark is not None and (not speaks_of_a_defect(line) or said.strip(" .").lower() == title.lower())
        if not left_out and (not line.strip() or re.search(r"\w", said)):
            lines.append(f"{mark[0]}{said}" if mark else said)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _without_words(line: str) -> str:
    while opening := _OPENING.match(line):
        line = line[opening.end() :]
    return _ASIDE.sub("", line).rstrip()


# --- how often they undid what each operator puts in: so often the operator is drawn ----------------------------------
#
# A fix undid such a fault when the operator, on the code after the fix, makes of one of its edits what had been there
# before, but for blanks and comments, or changes there just the words that the fix had put in.

_MOST_FIXES = 500  # the newest ones
_WORD = re.compile(r"\w+|[^\w\s]")


def count_undone(
    repository: Repository, fixes: Sequence[PastFix], operators: Sequence[Operator], context: BuildContext
) -> Counter[str]:
    """The number of fixes that undid a fault of each operator, of the newest ones."""
    found: Counter[str] = Counter()
    code = "".join(code_fingerprint(f"reviewgauge.{package}") for package in ("operators", "repo", "stages.injection"))
    names = [short_spec(operator) for operator in operators]
    newest = fixes[-_MOST_FIXES:]
    for done, fix in enumerate(newest):
        context.progress("looking what fixes undid", done, len(newest))
        key = ("undone", code, *names, fix.commit)
        known = context.recall(key)
        if known is None:
            known = json.dumps(_undone_by(repository, fix, operators)).encode()
            context.remember(key, known)
        found.update(json.loads(known))
    return found


class _Edit(NamedTuple):
    """An edit of a fix: the bytes that it left, and what had been there before."""

    start: int
    end: int
    before: str


def _undone_by(repository: Repository, fix: PastFix, operators: Sequence[Operator]) -> list[str]:
    """The operators whose fault a fix undid."""
    try:
        source = repository.blob(fix.commit, fix.path) or b""
    except UserError:
        return []
    tree = parse(source, fix.path)
    if isinstance(tree, str):
        return []
    edits = list(_edits(fix.patch, source))
    added = (line for hunk in parse_patch(fix.patch) for line in hunk.lines if line.kind == "+")
    code = Code(tree, frozenset(line.new for line in added if line.new is not None))
    return [
        short_spec(operator)
        for operator in operators
        if tree.grammar in operator.languages
        and any(_turns_back(plant, source, edits) for plant in operator.plants(code))
    ]


def _edits(patch: str, source: bytes) -> Iterator[_Edit]:
    starts = [*line_starts(source), len(source)]
    for hunk in parse_patch(patch):
        for block in hunk.blocks():
            numbers = [number for line in block if (number := line.number(Side.NEW)) is not None]
            if numbers and numbers[-1] < len(starts):
                before = "\n".join(line.text for line in block if line.kind == "-")
                yield _Edit(starts[numbers[0] - 1], starts[numbers[-1]], before)


def _turns_back(plant: Plant, source: bytes, edits: Sequence[_Edit]) -> bool:
    """Whether a plant makes of what a fix left what had been there, or changes the very words that the fix put there.

    An operator that takes a wrong name does not know which one it was.
    """
    own = [[edit for edit in edits if edit.start <= one.start and one.end <= edit.end][:1] for one in plant.edits]
    return all(own) and all(_is_undone(plant, source, edit) for edit in edits if [edit] in own)


def _is_undone(plant: Plant, source: bytes, edit: _Edit) -> bool:
    inside = [one for one in plant.edits if edit.start <= one.start and one.end <= edit.end]
    moved = [one._replace(start=one.start - edit.start, end=one.end - edit.start) for one in inside]
    fixed = source[edit.start : edit.end]
    now, after, before = (_words(text) for text in (fixed, applied(fixed, moved), edit.before.encode()))
    if after == before:
        return True
    planted = _runs(now, after)
    return bool(planted) and planted <= _runs(now, before)


def _words(text: bytes) -> list[str]:
    """The words and signs of some lines of code, but for those of comments."""
    lines = text.decode("utf-8", "replace").split("\n")
    return [word for line in lines if trivial(line) != "a comment" for word in _WORD.findall(line)]


def _runs(words: Sequence[str], others: Sequence[str]) -> set[tuple[int, int]]:
    """The runs of words that other code has not, each from the first to before the last."""
    found = SequenceMatcher(None, words, others, autojunk=False).get_opcodes()
    return {(start, end) for tag, start, end, _, _ in found if tag != "equal" and start < end}
