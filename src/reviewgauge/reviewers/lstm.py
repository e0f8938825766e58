"""A small network trained from nothing on reviewed changes: an LSTM with attention writes a comment on each hunk.

Source: CRScore (Naik et al., 2025), appendix D.3, its LSTM reviewer: one hidden layer, Bahdanau attention, Adam, about
10 epochs, the weights with the least loss on held-out examples. Its code has other sizes (hidden=768, rate=0.0001,
batch=8); `models/seq2seq.py` names what it does differently.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from pydantic import ValidationError
from typing_extensions import override

from reviewgauge.core.base import content_id
from reviewgauge.core.errors import UserError
from reviewgauge.core.parameters import Positive
from reviewgauge.core.protocols import Progress
from reviewgauge.core.records import Anchoring, Case, Change, Comment, Review, Task
from reviewgauge.core.results import Drop
from reviewgauge.core.specs import short_spec
from reviewgauge.core.trust import FilePath, Word
from reviewgauge.models.cache.vector_cache import cache_home
from reviewgauge.models.seq2seq import (
    STATE,
    Settings,
    Training,
    Writer,
    chosen_device,
    load_torch,
    open_writer,
    pairs_hash,
    read_training,
    train,
)
from reviewgauge.reviewers.reading.nearest import Learner, Passage, read_examples
from reviewgauge.reviewers.reading.review_files import unique

_REMEDY = "--train DATASET, or checkpoint='FOLDER' of a training before"


@dataclass(frozen=True)
class Lstm(Learner):
    """Trains with `--train`, or takes the training in the folder `checkpoint`; comments on at most `most` hunks.

    What is trained goes into `checkpoint`, by default a folder of the cache that belongs to these examples and
    parameters. `words`: the most pieces of words that it knows. `source` and `target`: the most pieces of a hunk and of
    a comment. `device`: as torch names it (`cuda:1`).
    """

    example: ClassVar[str] = "reviewgauge review new.jsonl lstm --train old.jsonl -o runs/mine"
    lacks: ClassVar[tuple[Task, ...]] = (Task.ASSESS, Task.LOCATE)
    limit: ClassVar[str] = "only writes comments"

    checkpoint: FilePath = ""
    most: Positive = 3
    hidden: int = 256
    words: int = 20_000
    source: int = 200
    target: int = 100
    epochs: int = 10
    batch: int = 8
    rate: float = 0.001
    dropout: float = 0.1
    seed: int = 0
    device: Word = "auto"
    _trained: tuple[Path, Training] | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            self._settings()
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise ValueError(f"{first['loc'][0]}: {first['msg'].lower()}, got {first['input']}") from None

    @property
    @override
    def system(self) -> str:
        """The spec, without what is true of this machine only: where `checkpoint` lies, and `device`."""
        return short_spec(replace(self, checkpoint=Path(self.checkpoint).name, device="auto"))

    def _settings(self) -> Settings:
        return Settings(**{name: getattr(self, name) for name in Settings.model_fields})

    @override
    def fit(self, cases: Iterable[Case], progress: Progress | None = None) -> Lstm:
        found = [example for example in read_examples(cases, "lstm") if example.comment is not None]
        settings = self._settings()
        pairs = [(example.text, example.comment or "") for example in found]
        if self.checkpoint:
            folder = Path(self.checkpoint).expanduser()
        elif (home := cache_home()) is not None:
            folder = home / "lstm" / content_id(settings.model_dump_json(), pairs_hash(pairs), length=32)
        else:
            raise UserError("the cache is off: lstm has no folder for its training", remedy="checkpoint='FOLDER'")
        learnt = replace(self)
        object.__setattr__(learnt, "_trained", (folder, train(pairs, settings, folder, self.device, progress)))
        return learnt

    def _training(self) -> tuple[Path, Training]:
        """The folder and the training in it. Raises BadInput, UserError."""
        if self._trained is not None:
            return self._trained
        if not self.checkpoint:
            raise UserError("lstm has not learnt anything", remedy=_REMEDY)
        folder = Path(self.checkpoint).expanduser()
        found = read_training(folder)
        if found is None:
            raise UserError(f"{folder} holds no training (no {STATE})", remedy="train one with --train DATASET")
        return folder, found

    def _writer(self) -> Writer:
        folder, training = self._training()
        return open_writer(folder, training.best, chosen_device(self.device))

    @override
    def pins(self) -> Mapping[str, str]:
        if self._trained is None and not self.checkpoint:
            return {}
        _, training = self._training()
        return {"weights": training.best[:16], "training": training.examples[:16]}

    @override
    def check(self, changes: Sequence[Change]) -> None:
        load_torch()
        super().check(changes)

    @override
    def prepare(self, changes: Sequence[Change]) -> Sequence[Drop]:
        self._writer()
        _, training = self._training()
        losses, least = training.losses, min(training.losses)
        said = f"loss on those held out {losses[0]:.2f} after 1 epoch"
        if least < losses[0]:
            said += f", {least:.2f} after {losses.index(least) + 1}"
        return self._notes(f"{training.pairs:,} examples; {said}", changes)

    @override
    def review(self, change: Change) -> Review:
        """A comment on each hunk, those that it is surest of first. Raises Failed."""
        shown, remark = self._shown(change)
        writer = self._writer()
        written = [(passage, *writer.write(passage.text)) for passage in shown]
        written.sort(key=lambda item: -item[2])
        comments = unique(_comment(passage, body) for passage, body, _ in written[: self.most] if body)
        return Review(case=change.id or change.repo, system=self.system, comments=comments, trace=remark)


def _comment(passage: Passage, body: str) -> Comment:
    span = passage.span
    name = content_id(span.path if span else None, span.start if span else None, body)
    return Comment(id=name, body=body, span=span, anchoring=Anchoring.AS_GIVEN, author="lstm")
