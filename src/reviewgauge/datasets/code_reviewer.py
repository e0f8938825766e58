"""CodeReviewer's three tasks in nine languages: does a diff need a comment, which one, and how was it answered?

Source: Li et al., "Automating Code Review Activities by Large-Scale Pre-training", arXiv:2203.09095, 2022; data at
https://zenodo.org/record/6900648, field names as https://github.com/microsoft/CodeBERT (CodeReviewer/code/utils.py)
reads them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Literal

from typing_extensions import override

from reviewgauge.core.data_card import Card
from reviewgauge.core.errors import UserError
from reviewgauge.core.json_reader import Node, build
from reviewgauge.core.protocols import Dataset
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Resolution, Task
from reviewgauge.core.results import Drop
from reviewgauge.core.trust import FilePath
from reviewgauge.datasets.files.cards import read_card
from reviewgauge.datasets.files.local_files import locate, objects
from reviewgauge.repo.diff.diffs import parse_patch

PREFIXES = {"assess": "cls", "comment": "msg", "refine": "ref"}
REMEDY = "download it from https://zenodo.org/record/6900648, unpack it, and give the folder with --from"
_LANGUAGES = {  # by suffix, where the name differs
    "py": "python",
    "js": "javascript",
    "cpp": "c++",
    "cc": "c++",
    "cs": "c#",
    "rb": "ruby",
}


_NO_HUNK = "the patch has no readable hunk header: left out"
_NO_COMMENT = "the comment is empty: left out"


@dataclass(frozen=True)
class CodeReviewer(Dataset):
    """CodeReviewer's official JSON lines, one case per line, read lazily. `path`: a folder or one file.

    `task`: `assess` (cls-*.jsonl: can the hunk stay as it is?), `comment` (msg-*.jsonl: write the comment), `refine`
    (ref-*.jsonl: the comment, with the code that answered it as its resolution). `split` chooses among a folder's
    files.
    """

    path: FilePath = ""
    task: Literal["assess", "comment", "refine"] = "comment"
    split: Literal["train", "valid", "test", "all"] = "test"
    _noted: dict[str, tuple[str, int]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    @override
    def card(self) -> Card:
        if (self.task, self.split) == ("comment", "test"):
            return read_card("code_reviewer")
        return read_card("code_reviewer").model_copy(update={"expected": {}})

    def cases(self) -> Iterator[Case]:
        """One case per line. Ids are the file name and the line index from 0, as in the official code.

        Raises BadInput for a line that lacks a field of its task.
        """
        self._noted.clear()
        for file in self._files():
            for index, shape in enumerate(objects(file)):
                case = self._case(shape, f"{file.stem}-{index}")
                if isinstance(case, Case):
                    yield case
                else:
                    self._note(case, shape)

    def counts(self) -> Mapping[str, int]:
        """Cases, references and languages, counted while the files stream by."""
        counts: Counter[str] = Counter()
        languages: set[object] = set()
        for case in self.cases():
            counts.update(changes=1, references=len(case.references))
            languages.add(case.facts.get("language"))
        counts["languages"] = len(languages - {None})
        return dict(+counts)

    def notes(self) -> Sequence[Drop]:
        """Lines that were left out or corrected, by reason; complete once the cases were read."""
        return tuple(
            Drop(item=first if times == 1 else f"{times} lines, first {first}", by="code_reviewer", reason=why)
            for why, (first, times) in self._noted.items()
        )

    def check_out(self, folder: Path) -> int:
        """Raises UserError: no checksum of the archives is known, so they are downloaded by hand."""
        raise UserError("code_reviewer cannot be fetched: no checksum of its archives is known", remedy=REMEDY)

    def _files(self) -> list[Path]:
        try:
            given = locate("code_reviewer", self.path)
        except UserError as error:
            raise UserError(error.problem, remedy=REMEDY) from None
        prefix = PREFIXES[self.task]
        if not given.is_dir():
            kind = given.name.partition("-")[0]
            if kind in PREFIXES.values() and kind != prefix:
                word = next(task for task, known in PREFIXES.items() if known == kind)
                raise UserError(f"{given.name} belongs to another task than {self.task!r}", remedy=f'task="{word}"')
            return [given]
        pattern = f"{prefix}-*.jsonl" if self.split == "all" else f"{prefix}-{self.split}*.jsonl"
        found = sorted(given.rglob(pattern), key=lambda file: (file.name, str(file)))
        if not found:
            raise UserError(f"{given} holds no {pattern}", remedy=REMEDY)
        for one, two in pairwise(found):
            if one.name == two.name:
                raise UserError(f"{given} holds {one.name} twice", remedy="give the folder of one of them")
        return found

    def _case(self, shape: Node, name: str) -> Case | str:
        """The case of one line, or the reason to leave it out."""
        if self.task == "refine":
            return _refinement(shape, name)
        patch = shape["patch"].as_text()
        if not _readable(patch):
            return _NO_HUNK
        if self.task == "comment":
            body = shape["msg"].as_text()
            return _build(shape, name, Task.COMMENT, patch, [_comment(shape, body)]) if body.strip() else _NO_COMMENT
        message = shape.get("msg")
        body = message.as_text() if message else ""
        needs_comment = shape["y"].as_integer()
        if needs_comment not in (0, 1):
            raise shape["y"].error("is neither 0 nor 1")
        if body.strip() and not needs_comment:
            self._note("a comment although y is 0: taken as 1, as the official code does", shape)
            needs_comment = 1
        comments = [_comment(shape, body)] if body.strip() else []
        case = _build(shape, name, Task.ASSESS, patch, comments)
        return case.model_copy(update={"verdict": not needs_comment})

    def _note(self, why: str, shape: Node) -> None:
        first, times = self._noted.get(why, (f"{shape.source}, line {shape.record}", 0))
        self._noted[why] = first, times + 1


def _refinement(shape: Node, name: str) -> Case | str:
    """The comment on a hunk, with the code before it as quote and the code that resolved it as resolution."""
    old, new, body = (shape[key].as_text() for key in ("old", "new", "comment"))
    given = shape.get("old_hunk")
    patch = given.as_text() if given else None
    if patch is not None and not _readable(patch):
        return _NO_HUNK
    if not body.strip():
        return _NO_COMMENT
    answer = Resolution(snippet=_without_markers(new))
    comment = _comment(shape, body).model_copy(update={"quote": _without_markers(old), "resolution": answer})
    return _build(shape, name, Task.COMMENT, patch, [comment])


def _readable(patch: str) -> bool:
    return patch.startswith("@@") and bool(parse_patch(patch))


def _comment(shape: Node, body: str) -> Comment:
    return build(Comment, shape, id="comment", body=body)


def _build(shape: Node, name: str, task: Task, patch: str | None, comments: Sequence[Comment]) -> Case:
    """A case of one hunk. The data names no file: it is called `file`, with the suffix of its language."""
    given = shape.get("lang")
    suffix = given.as_text().strip().lower().lstrip(".") if given else ""
    path = f"file.{suffix}" if suffix.isalnum() else "file"
    language = _LANGUAGES.get(suffix, suffix)
    project = shape.get("proj") or shape.get("repo")
    change = build(
        Change,
        shape,
        repo=project.as_text() if project else "code_reviewer",
        files=(ChangedFile(path=path, patch=patch),),
        task=task,
        focus=None if patch is None else parse_patch(patch)[0].span(path),
    )
    facts = {"language": language} if language else {}
    return build(Case, shape, id=name, change=change, references=tuple(comments), facts=facts)


def _without_markers(lines_: str) -> str:
    """Lines of a diff without their first character."""
    return "\n".join(line[1:] for line in lines_.split("\n"))
