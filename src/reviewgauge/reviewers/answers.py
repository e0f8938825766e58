"""Recorded answers to the three small tasks, in ContextCRBench's JSON: a verdict, ranked lines, or a comment.

Source: ContextCRBench (arXiv:2511.07017) asks for `{"is_merged": ..., "reason": ..., "context_analysis": ...}`,
`{"lines": ["[][253]", ...], "reason": ...}` and `{"comment": ...}`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.parsing import lines, parse_json
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.records import Change, Review, Span
from reviewgauge.core.results import Drop, Failed, FailureKind
from reviewgauge.core.trust import FilePath
from reviewgauge.models.answers.readers import Unreadable
from reviewgauge.reviewers.reading.model_answers import read_task
from reviewgauge.reviewers.reading.review_files import fingerprint


@dataclass(frozen=True)
class Answers(Reviewer):
    """Replays `path`, JSON lines `{"id": CASE, "answer": TEXT OR OBJECT}`.

    An answer that cannot be read is a failure, never a verdict. `repair` (the published rule) reads a marker that the
    hunk does not have as the one next to it; without, such a marker is left out and listed in the trace.
    """

    example: ClassVar[str] = 'answers(path="answers.jsonl")'
    needs_diff: ClassVar[bool] = False

    path: FilePath = ""
    repair: Literal["", "published"] = ""
    _read: dict[str, object] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def default_name(self) -> str:
        """The file's name."""
        return Path(self.path).stem or "answers"

    def pins(self) -> Mapping[str, str]:
        """The SHA-256 of the file."""
        return {"sha256": fingerprint([Path(self.path).expanduser()])} if self.path else {}

    def prepare(self, changes: Sequence[Change]) -> Sequence[Drop]:
        """Read the file; drop the answers to changes outside of this benchmark."""
        if not self.path:
            raise UserError("answers needs a path", remedy='answers(path="answers.jsonl")')
        self._load()
        known = {change.id for change in changes}
        return [
            Drop(item=name, by="answers", reason="its change is not in this benchmark")
            for name in self._read
            if name not in known
        ]

    def review(self, change: Change) -> Review:
        """The answer to `change` as a review. Raises BadInput where there is none, Failed where it cannot be read."""
        self._load()
        name = change.id or change.repo
        if name not in self._read:
            raise BadInput(Path(self.path).name, f"has no answer for {name}")
        answer = self._read[name]
        try:
            found = read_task(answer, change, repair=bool(self.repair))
        except Unreadable as error:
            raw = answer if isinstance(answer, str) else None
            raise Failed(FailureKind.UNREADABLE, f"the answer cannot be read: {error}", raw=raw) from None
        place = change.focus or next((Span(path=file.path) for file in change.files[:1] if file.patch), None)
        return Review(
            case=name,
            system=self.system,
            comments=tuple(comment.model_copy(update={"span": place}) for comment in found.comments),
            verdict=found.verdict,
            ranked_lines=found.ranked_lines,
            trace=found.remark or None,
        )

    def _load(self) -> None:
        if self._read:
            return
        file = Path(self.path).expanduser()
        try:
            with file.open("rb") as stream:
                for number, line in lines(stream, file.name):
                    row = parse_json(line, f"{file.name}, line {number}")
                    if not isinstance(row, dict) or "id" not in row or "answer" not in row:
                        raise BadInput(file.name, 'is not an object with "id" and "answer"', record=number)
                    name = str(row["id"])
                    if name in self._read:
                        raise BadInput(file.name, f"answers {name} twice", record=number, field="id")
                    self._read[name] = row["answer"]
        except OSError as error:
            raise UserError(f"cannot read {self.path}: {error.strerror}") from None
