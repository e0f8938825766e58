"""Your own cases: one per line, in ReviewGauge's JSON lines format.

Source: this project; every field is described in docs/reference/jsonl.md and docs/reference/schema/case.schema.json.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from typing_extensions import override

from reviewgauge.core.base import Record
from reviewgauge.core.data_card import Card
from reviewgauge.core.errors import BadInput, NothingRecorded, UserError
from reviewgauge.core.files import plain_file
from reviewgauge.core.labels import Label, Scale
from reviewgauge.core.parsing import lines, parse_record
from reviewgauge.core.protocols import Dataset
from reviewgauge.core.records import Case, Review
from reviewgauge.core.results import Drop
from reviewgauge.core.stored import ReplayableStream
from reviewgauge.core.trust import FilePath
from reviewgauge.datasets.files.cards import read_card
from reviewgauge.datasets.files.labels import find_labels, observed_scales, on_reviews, read_label_file
from reviewgauge.datasets.files.local_files import locate
from reviewgauge.repo.git.containment import find_escape
from reviewgauge.repo.git.repository import Repository

R = TypeVar("R", bound=Record)
EXAMPLE = (
    '{"id": "shop#12", "change": {"repo": "our/shop"}, "references": [{"id": "a", "body": "The total is wrong."}]}'
)
CASES, REVIEWS, LABELS = "cases.jsonl", "reviews.jsonl", "labels.jsonl"


@dataclass(frozen=True)
class Jsonl(Dataset):
    """A file of cases, or a folder: its `cases.jsonl`, else all its `*.jsonl` in the order of their names.

    Repositories that cases name must be in the folder of the file, or in the folder `code`: otherwise a file from
    others could name any repository on this machine and show private code to reviewers.
    """

    path: FilePath = ""
    code: FilePath = ""
    _gaps: list[Drop] = field(default_factory=list, init=False, repr=False, compare=False)
    _unlabelled: list[Drop] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    @override
    def card(self) -> Card:
        return read_card("jsonl")

    def cases(self) -> Iterator[Case]:
        """The cases in the order of the file, read lazily. Raises BadInput at the first bad record.

        A change with commits but without patches gets them from git.
        """
        seen: set[str] = set()
        checked: set[str] = set()
        self._gaps[:] = ()
        for file in case_files(self._given()):
            for number, case in _records(Case, file):
                if case.id in seen:
                    raise BadInput(file.name, f"the case {case.id!r} occurs twice", record=number, field="id")
                seen.add(case.id)
                placed = _with_git(case, file)
                if (git := placed.change.git) is not None and git not in checked:
                    self._check_git(Path(git), file, number)
                    checked.add(git)
                whole, gap = _with_files(placed)
                if gap:
                    self._gaps.append(Drop(item=case.id, by="jsonl", reason=gap))
                yield whole
        if not seen:
            raise UserError(f"{self.path} holds no case", remedy=f"one case a line, such as {EXAMPLE}")

    def _check_git(self, git: Path, file: Path, number: int) -> None:
        """Raise BadInput for a repository outside the allowed folders."""
        allowed = [file.parent, *([Path(self.code).expanduser()] if self.code else [])]
        try:
            found = find_escape(git, allowed)
        except OSError as error:  # a name that is too long, a folder that may not be read
            problem = f"cannot be read: {error.strerror}"
            raise BadInput(file.name, problem, record=number, field="change.git") from None
        if found is not None:
            raise BadInput(
                file.name,
                f"leads to {found}, outside the folder of the file",
                record=number,
                field="change.git",
                remedy=f"if reviewers may see it: jsonl(path={str(file)!r}, code={str(found.parent)!r})",
            )

    def notes(self) -> Sequence[Drop]:
        """Changes whose commits could not be read, and labels that `recorded` left out."""
        return (*self._gaps, *self._unlabelled)

    def code_remedy(self) -> str:
        """How to give the code."""
        return "give each change its files with patches, or its repository: change.git with base and head"

    def recorded(self, **parameters: object) -> tuple[Sequence[Review], Sequence[Label]]:
        """The reviews in the folder's `reviews.jsonl`, and the labels on them in its `labels.csv` or `labels.jsonl`.

        A label without a system is on the only review of its case.
        """
        if parameters:
            raise UserError(f"jsonl's recorded reviews have no parameter {next(iter(parameters))!r}")
        file = self._folder() / REVIEWS
        if not file.exists():
            raise NothingRecorded(f"there is no {REVIEWS} next to the cases", remedy="name a reviewer instead")
        reviews = _reviews(plain_file(file))
        labels = find_labels(self._folder())
        if labels is None:
            return reviews, ()
        read = read_label_file(labels)
        self._unlabelled[:] = read.notes
        return reviews, on_reviews(read, reviews, labels.name)

    def scales(self) -> Mapping[str, Scale]:
        """The observed range of the labels, by dimension."""
        labels = find_labels(self._folder())
        return observed_scales(read_label_file(labels).labels) if labels else {}

    def _folder(self) -> Path:
        given = self._given()
        return given if given.is_dir() else given.parent

    def _given(self) -> Path:
        if not self.path:
            raise UserError("jsonl needs a file or a folder", remedy='jsonl(path="my-cases.jsonl")')
        return locate("jsonl", self.path)


def case_files(given: Path) -> list[Path]:
    """The files with the cases of `given`, a file or a folder."""
    if not given.is_dir():
        return [given]
    if (given / CASES).is_file():
        return [plain_file(given / CASES)]
    found = sorted(plain_file(file) for file in given.glob("*.jsonl") if file.name not in (REVIEWS, LABELS))
    if not found:
        raise UserError(f"{given} holds no *.jsonl", remedy=f"put the cases into {CASES}")
    return found


def _records(model: type[R], file: Path) -> Iterator[tuple[int, R]]:
    try:
        with file.open("rb") as stream:
            for number, line in lines(stream, file.name):
                yield number, parse_record(model, line, file.name, number)
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None


def _reviews(file: Path) -> Sequence[Review]:
    reviews = ReplayableStream(Review)
    seen: set[tuple[str, str, int]] = set()
    for number, review in _records(Review, file):
        key = (review.case, review.system, review.attempt)
        if key in seen:
            raise BadInput(file.name, "the same case, system and attempt occur twice", record=number)
        seen.add(key)
        reviews.add(review)
    return reviews


def _with_git(case: Case, file: Path) -> Case:
    """The case with a relative git directory resolved from the folder of the file."""
    if case.change.git is None:
        return case
    git = str(file.parent / case.change.git)  # an absolute one stays as it is
    return case.model_copy(update={"change": case.change.model_copy(update={"git": git})})


def _with_files(case: Case) -> tuple[Case, str]:
    """The case with the patches between its commits where it has none, or the reason why not."""
    change = case.change
    if change.files or not (change.git and change.base and change.head):
        return case, ""
    try:
        files = Repository(Path(change.git)).changed_files(change.base, change.head)
    except UserError as error:
        return case, f"no diff: {error}"
    return case.model_copy(update={"change": change.model_copy(update={"files": files})}), ""
