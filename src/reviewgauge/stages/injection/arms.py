"""The cases of a pair: a change with a defect put in, and the same change without.

Both are commits made here, by the same author on the same day, so that nothing tells them apart but the code. What is
known about the defect stands on both: on the one as a reference, on the other as rejected, known to be wrong there.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reviewgauge.core.base import Fact
from reviewgauge.core.building import Candidate
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import (
    ARM,
    PAIR,
    Arm,
    Case,
    Comment,
    Origin,
    RequiredContext,
    Resolution,
    Severity,
    Span,
)
from reviewgauge.repo.diff.diffs import parse_patch
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.landed_changes import LARGEST_FILE
from reviewgauge.repo.paths import encode_path
from reviewgauge.repo.syntax.languages import not_product
from reviewgauge.stages.sampling.draws import change_facts, draw_key

HOST, SOUND_HEAD = "host", "sound_head"  # facts, until the twins are made: the change behind a case, and its commit
SOUND = "sound"  # in `Comment.extra`: the first and last line of the place in the twin
_REFS = "refs/reviewgauge/injected"
_BY = "reviewgauge <reviewgauge@localhost>"
_PLAIN_FILES = ("100644", "100755")


@dataclass(frozen=True)
class Defect:
    """A defect that was put into one file: what a reviewer would write, and where it stands with it and without it.

    `defective` and `sound` are the file's contents, `lines` and `sound_lines` the first and last line of the place in
    each. `made` is planted, reintroduced or proposed. `fix` is the commit of the fix that it takes back.
    """

    path: str
    sound: bytes
    defective: bytes
    lines: tuple[int, int]
    sound_lines: tuple[int, int]
    body: str
    operator: str
    made: str
    category: str = "defect"
    severity: Severity | None = None
    needs: RequiredContext | None = None
    explanation: str = ""
    fix: str = ""


def repository_of(case: Case) -> Repository:
    """The mirror that the code of a host is in. Raises UserError for a case without one."""
    if case.change.git is None or case.change.base is None or case.change.head is None:
        raise UserError(f"{case.id}: defects are put into code, and its code is not at hand")
    return Repository(Path(case.change.git))


def product_files(case: Case) -> dict[str, bytes]:
    """The product's files that a host changes, with their contents at its head; links and the like are left out."""
    repository, head = repository_of(case), case.change.head or ""
    paths = {file.path for file in case.change.files if file.patch and not not_product(file.path)}
    plain = {entry.path for entry in repository.entries(head) if entry.mode in _PLAIN_FILES} & paths
    return {path: text for path, text in repository.blobs(head, sorted(plain)).items() if text is not None}


def with_defect(host: Candidate, defect: Defect, key: str, seed: int) -> Candidate | str:
    """The host with a defect put in, or why that makes no case. `key` tells it from other defects of the host."""
    made = _arm(host, {defect.path: defect.defective}, Arm.DEFECT, key, seed)
    span = Span(path=defect.path, start=defect.lines[0], end=defect.lines[1])
    sound = span.model_copy(update={"start": defect.sound_lines[0], "end": defect.sound_lines[1]})
    if not (_shows(made, span) and _shows(host, sound)):
        return "its place is not in the diff with the defect and in the one without"
    snippet, diff = _mended(defect)
    reference = Comment(
        id=f"{defect.made}-{draw_key(seed, host.id, key):016x}",
        body=defect.body,
        span=span,
        category=defect.category,
        severity=defect.severity,
        needs=defect.needs,
        origin=Origin.INJECTED,
        resolution=Resolution(
            commit=defect.fix or None, snippet=snippet or None, diff=diff, explanation=defect.explanation or None
        ),
        extra={"operator": defect.operator, "made": defect.made, SOUND: list(defect.sound_lines)},
    )
    return made.with_case(references=(reference,), verdict=False)


def _shows(item: Candidate, span: Span) -> bool:
    """Whether a diff shows a place: else whoever comments on every hunk would tell the two apart."""
    hunks = (
        hunk for file in item.case.change.files if file.path == span.path for hunk in parse_patch(file.patch or "")
    )
    return any(hunk.covers(span) for hunk in hunks)


def safe_twin(host: Candidate, defect: Candidate, code: bytes, lines: tuple[int, int], seed: int) -> Candidate:
    """The host with a harmless edit at the place of a defect: a comment that says the defect is wrong there."""
    places = [one.span for one in defect.case.references if one.span is not None]
    made = _arm(host, {places[0].path: code}, Arm.SAFE, defect.id, seed)
    span = places[0].model_copy(update={"start": lines[0], "end": lines[1]})
    return made.with_case(rejected=tuple(_at(one, span) for one in defect.case.references))


def twin(host: Candidate, defects: Sequence[Candidate], seed: int) -> Candidate:
    """The host as it is; what its defects' comments say is wrong there."""
    comments = [one for defect in defects for one in defect.case.references]
    return _arm(host, {}, Arm.TWIN, "", seed).with_case(rejected=tuple(_at(one, sound_span(one)) for one in comments))


def sound_span(comment: Comment) -> Span | None:
    """Where the place of a defect is in the twin."""
    match comment.span, comment.extra[SOUND]:
        case Span() as span, [int(first), int(last)]:
            return span.model_copy(update={"start": first, "end": last})
    return comment.span


def _at(comment: Comment, span: Span | None) -> Comment:
    extra = {name: value for name, value in comment.extra.items() if name != SOUND}
    return comment.model_copy(update={"span": span, "extra": extra})


def _arm(host: Candidate, contents: Mapping[str, bytes], arm: Arm, key: str, seed: int) -> Candidate:
    """A case of the pair: the host's change with some files replaced, under an id that says nothing."""
    case, repository = host.case, repository_of(host.case)
    name = f"{draw_key(seed, host.id, arm.value, key):016x}"
    base = case.change.base or ""
    head = write_commit(repository, base, case.change.head or "", contents, f"{_REFS}/{name}")
    files = repository.changed_files(base, head, LARGEST_FILE) if contents else case.change.files
    change = case.change.model_copy(update={"head": head, "files": files})
    facts: dict[str, Fact] = {**case.facts, **change_facts(change)}
    facts |= {
        ARM: arm.value,
        PAIR: f"{draw_key(seed, host.id):016x}",
        HOST: case.id,
        SOUND_HEAD: case.change.head or "",
    }
    return host.with_case(id=f"{case.change.repo}/{name[:12]}", change=change, facts=facts, references=(), verdict=None)


def write_commit(repository: Repository, base: str, like: str, contents: Mapping[str, bytes], ref: str) -> str:
    """A commit on `base` with the tree of `like`, but for `contents`; the same input gives the same id."""
    seconds, tree = repository.run("rev-list", "--no-walk", "--format=%at %T", like, "--").split(b"\n")[1].split()
    modes = {entry.path: entry.mode for entry in repository.entries(like) if entry.path in contents}
    by = f"{_BY} {max(0, int(seconds))} +0000\n".encode()
    lines = [b"commit " + ref.encode() + b"\nauthor " + by + b"committer " + by + b"data 5\nhead\n"]
    lines.append(b"from " + base.encode() + b"\nM 040000 " + tree + b' ""\n')
    for path, text in sorted(contents.items()):
        lines.append(b"M " + modes[path].encode() + b" inline " + _quoted(path) + b"\n")
        lines.append(b"data %d\n%s\n" % (len(text), text))
    repository.run("fast-import", "--quiet", "--force", stdin=b"".join(lines))
    return repository.run("rev-parse", "--verify", "--end-of-options", ref).decode("ascii").strip()


def _quoted(path: str) -> bytes:
    raw = encode_path(path)
    return b'"' + raw.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n") + b'"'


def _mended(defect: Defect) -> tuple[str, str]:
    """(the sound lines, the diff from the defect to them)."""
    before, after = (text.decode("utf-8", "replace").split("\n") for text in (defect.defective, defect.sound))
    hunks = list(difflib.unified_diff(before, after, n=3, lineterm=""))[2:]
    first, last = defect.sound_lines
    return "\n".join(after[first - 1 : last]), "\n".join([defect.path, *hunks])
