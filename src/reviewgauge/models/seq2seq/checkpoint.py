"""A training on disk: `training.json` and the weights that it names by hash. Killed at any time, the last epoch stays.

The weights are read as tensors and plain values only: a file from others runs nothing.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from reviewgauge.core.base import Record
from reviewgauge.core.errors import BadInput, MissingExtra, UserError
from reviewgauge.core.files import read_within, write_error, write_whole
from reviewgauge.core.parsing import parse_json, parse_record

STATE = "training.json"
Sha256 = Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")]
LARGEST = 4 << 30  # bytes of one file of weights


class Settings(Record):
    """What decides on the weights, beside the examples. `words` is the most pieces; `source` and `target` in pieces."""

    words: Annotated[int, Field(ge=100, le=100_000)]
    hidden: Annotated[int, Field(ge=1, le=2_048)]
    dropout: Annotated[float, Field(ge=0, lt=1)]
    source: Annotated[int, Field(ge=1, le=2_000)]
    target: Annotated[int, Field(ge=1, le=2_000)]
    batch: Annotated[int, Field(ge=1, le=4_096)]
    rate: Annotated[float, Field(gt=0, le=1)]
    epochs: Annotated[int, Field(ge=1, le=1_000)]
    patience: Annotated[int, Field(ge=1)]
    seed: Annotated[int, Field(ge=0)]


class Epoch(Record):
    """One pass over the examples: the mean loss by piece, on those and on the held-out ones."""

    train: float
    validation: float
    seconds: float


class TrainingState(Record):
    """How far a training is. `examples` is the hash of what it learns from; `last` and `best` are files by SHA-256."""

    format: int = 1
    settings: Settings
    examples: str
    pairs: int
    pieces: Annotated[tuple[str, ...], Field(max_length=100_000)]
    history: tuple[Epoch, ...] = ()
    best_epoch: int = 0
    last: Sha256 = ""
    best: Sha256 = ""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if not 0 <= self.best_epoch <= len(self.history):
            raise ValueError(f"best_epoch {self.best_epoch} is not among its {len(self.history)} epochs")
        if (self.best and not self.best_epoch) or (self.last and not self.history):
            raise ValueError("names weights of an epoch that it does not have")
        return self

    @property
    def finished(self) -> bool:
        """Whether no epoch is to come: all were done, or `patience` epochs brought nothing better."""
        done = len(self.history)
        return done >= self.settings.epochs or done - self.best_epoch >= self.settings.patience


def read_state(folder: Path) -> TrainingState | None:
    """The training in a folder; None where there is none. Raises BadInput, UserError."""
    file = folder / STATE
    try:
        raw = read_within(file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None
    document = parse_json(raw, str(file))
    if isinstance(document, dict) and document.get("format") != 1:
        raise BadInput(str(file), "was written by another version of ReviewGauge", remedy="train again")
    return parse_record(TrainingState, json.dumps(document).encode(), str(file))


def save_state(folder: Path, state: TrainingState, weights: Mapping[str, Any], is_best: bool) -> TrainingState:
    """Keep an epoch: first its weights, then the state that names them, then drop what no state names any more."""
    raw = _to_bytes(weights)
    name = hashlib.sha256(raw).hexdigest()
    superseded = {state.last, state.best}
    state = state.model_copy(update={"last": name, "best": name if is_best else state.best})
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / f"{name}.pt", raw)
        write_whole(folder / STATE, state.model_dump_json(indent=1).encode() + b"\n")
        for old in superseded - {state.last, state.best, ""}:
            (folder / f"{old}.pt").unlink(missing_ok=True)
    except OSError as error:
        raise write_error(folder, error) from None
    return state


def read_weights(folder: Path, name: str) -> Mapping[str, Any]:
    """The weights of this hash. Raises BadInput where they are missing or others, MissingExtra without torch."""
    torch = load_torch()
    file = folder / f"{name}.pt"
    try:
        raw = read_within(file, LARGEST)
    except OSError as error:
        raise BadInput(str(file), f"cannot be read: {error.strerror}", remedy="train again") from None
    if hashlib.sha256(raw).hexdigest() != name:
        raise BadInput(str(file), f"is not the file that {STATE} names", remedy="train again")
    try:
        found: object = torch.load(io.BytesIO(raw), map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises what zip files, pickles and its own readers do
        raise BadInput(str(file), f"holds no weights ({type(error).__name__})", remedy="train again") from None
    if not isinstance(found, dict):
        raise BadInput(str(file), f"holds no weights ({type(found).__name__})", remedy="train again")
    return found


def _to_bytes(weights: Mapping[str, Any]) -> bytes:
    stream = io.BytesIO()
    load_torch().save(dict(weights), stream)
    return stream.getvalue()


def load_torch() -> Any:
    """The library. Raises MissingExtra."""
    try:
        import torch
    except ImportError:
        raise MissingExtra("torch", "train") from None
    if tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 6):
        raise UserError(  # CVE-2025-32434
            f"torch {torch.__version__} runs code that a file of weights holds", remedy="pip install 'torch>=2.6'"
        )
    return torch
