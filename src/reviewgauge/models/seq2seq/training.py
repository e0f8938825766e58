"""Trains the network on pairs of texts, keeps the best weights in a folder, and writes with them.

Adam, the negative log likelihood of each piece, and the weights with the least loss on a tenth of the pairs, as in
CRScore (appendix D.3). A folder holds `training.json` and the file of weights that it names by hash. The weights are
read as tensors and plain values only: a file from others runs nothing.
"""

from __future__ import annotations

import copy
import hashlib
import io
import random
import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from reviewgauge.core.base import Record
from reviewgauge.core.errors import BadInput, MissingExtra, UserError
from reviewgauge.core.files import read_within, write_error, write_whole
from reviewgauge.core.parsing import parse_record
from reviewgauge.models.seq2seq.vocabulary import END, PAD, UNKNOWN, Vocabulary

Pair = tuple[str, str]
Progress = Callable[[int, int, str], None]
Encoded = tuple[list[int], list[int]]
STATE = "training.json"
LARGEST = 4 << 30  # bytes of the file of weights
HELD_OUT = 10  # one pair of so many is not trained on, but decides which weights are the best
FEWEST = 20  # pairs
_CLIP = 1.0  # the largest norm of the gradients of one step
_BUCKET = 50  # batches within which pairs are sorted by length, so that little is padded


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


class Training(Record):
    """A finished training. `examples` is the hash of what it learnt from, `best` that of the weights."""

    format: Literal[2] = 2
    settings: Settings
    examples: str
    pairs: int
    pieces: Annotated[tuple[str, ...], Field(max_length=100_000)]
    history: Annotated[tuple[Epoch, ...], Field(min_length=1)]
    best: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]

    @property
    def best_epoch(self) -> int:
        """The number of the epoch that the weights are of."""
        losses = [epoch.validation for epoch in self.history]
        return losses.index(min(losses)) + 1


def read_training(folder: Path) -> Training | None:
    """The training in a folder; None where there is none. Raises BadInput, UserError."""
    file = folder / STATE
    try:
        raw = read_within(file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None
    return parse_record(Training, raw, str(file))


def train(
    pairs: Sequence[Pair], settings: Settings, folder: Path, device: str = "auto", progress: Progress | None = None
) -> Training:
    """Train on the pairs (source, target) and keep the result in `folder`; what is there already is not done again.

    Raises UserError: too few pairs, a folder with another training, a device that torch does not have.
    """
    if len(pairs) < FEWEST:
        raise UserError(f"{len(pairs)} examples with a comment are too few to learn from: {FEWEST} are the least")
    known, examples = read_training(folder), _digest(pairs)
    if known is None:
        return _Trainer(pairs, settings, device).run(folder, examples, progress)
    if (known.settings, known.examples) != (settings, examples):
        what = "other examples" if known.examples != examples else "other parameters"
        raise UserError(f"{folder} holds a training with {what}", remedy="name another folder, or leave --train out")
    return known


def _digest(pairs: Sequence[Pair]) -> str:
    digest = hashlib.sha256()
    for pair in pairs:
        digest.update("\x1f".join(pair).encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


def split(pairs: Sequence[Pair]) -> tuple[list[Pair], list[Pair]]:
    """(learnt from, held out). Pairs with one source lie on one side, which its hash decides."""
    ranked = sorted({source for source, _ in pairs}, key=lambda text: _digest([(text, "")]))
    aside = set(ranked[: max(1, len(ranked) // HELD_OUT)])
    return [pair for pair in pairs if pair[0] not in aside], [pair for pair in pairs if pair[0] in aside]


class _Trainer:
    """One training: the network, its optimiser, and the encoded pairs."""

    def __init__(self, pairs: Sequence[Pair], settings: Settings, device: str) -> None:
        self._torch, self._device, self._settings = load_torch(), chosen_device(device), settings
        self._count = len(pairs)
        self._words = Vocabulary.learn((text for pair in pairs for text in pair), settings.words)
        learnt, aside = ([_encode(pair, self._words, settings) for pair in part] for part in split(pairs))
        if not learnt:
            raise UserError("all examples have the same code: nothing can be held out of them")
        self._learnt, self._aside = learnt, aside
        self._torch.manual_seed(settings.seed)
        self._network = _network(self._words, settings).to(self._device)
        self._optimiser = self._torch.optim.Adam(self._network.parameters(), lr=settings.rate)

    def run(self, folder: Path, examples: str, progress: Progress | None) -> Training:
        """Train until all epochs are done, or `patience` of them brought nothing better; keep the best weights."""
        history: list[Epoch] = []
        best: Any = None
        while len(history) < self._settings.epochs:
            history.append(self._epoch(len(history) + 1, progress))
            losses = [epoch.validation for epoch in history]
            at = losses.index(min(losses))
            if at == len(losses) - 1:
                best = copy.deepcopy(self._network.state_dict())
            elif len(losses) - 1 - at >= self._settings.patience:
                break
        stream = io.BytesIO()
        self._torch.save(best, stream)
        training = Training(
            settings=self._settings,
            examples=examples,
            pairs=self._count,
            pieces=self._words.pieces,
            history=tuple(history),
            best=hashlib.sha256(stream.getvalue()).hexdigest(),
        )
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(_weights_file(folder, training), stream.getvalue())
            write_whole(folder / STATE, training.model_dump_json(indent=1).encode() + b"\n")
        except OSError as error:
            raise write_error(folder, error) from None
        return training

    def _epoch(self, number: int, progress: Progress | None) -> Epoch:
        epochs, began = self._settings.epochs, time.perf_counter()
        self._torch.manual_seed(self._settings.seed * 1_000_003 + number)
        batches = list(_batches(self._learnt, self._settings.batch, random.Random(f"{self._settings.seed} {number}")))
        self._network.train()
        total = count = 0.0
        for at, batch in enumerate(batches):
            if progress is not None:
                mean = f", loss {total / count:.2f}" if count else ""
                progress((number - 1) * len(batches) + at, epochs * len(batches), f"training, epoch {number}{mean}")
            loss, pieces = self._loss(batch)
            self._optimiser.zero_grad()
            (loss / pieces).backward()
            self._torch.nn.utils.clip_grad_norm_(self._network.parameters(), _CLIP)
            self._optimiser.step()
            total, count = total + loss.item(), count + pieces
        validation = self._validate()
        return Epoch(train=total / count, validation=validation, seconds=round(time.perf_counter() - began, 3))

    def _validate(self) -> float:
        self._network.eval()
        total = count = 0.0
        with self._torch.inference_mode():
            for batch in _batches(self._aside, self._settings.batch, None):
                loss, pieces = self._loss(batch)
                total, count = total + loss.item(), count + pieces
        return total / count

    def _loss(self, batch: Sequence[Encoded]) -> tuple[Any, int]:
        """The summed loss of a batch, and the number of pieces that it is of."""
        sources, targets = (self._padded([pair[side] for pair in batch]) for side in (0, 1))
        return self._network(sources, targets), sum(len(target) for _, target in batch)

    def _padded(self, rows: Sequence[Sequence[int]]) -> Any:
        longest = max(map(len, rows))
        filled = [[*row, *[PAD] * (longest - len(row))] for row in rows]
        return self._torch.tensor(filled, dtype=self._torch.long, device=self._device)


def _encode(pair: Pair, words: Vocabulary, settings: Settings) -> Encoded:
    source, target = words.encode(pair[0], settings.source), words.encode(pair[1], settings.target)
    return source or [UNKNOWN], [*target, END]


def _batches(pairs: Sequence[Encoded], size: int, order: random.Random | None) -> Iterator[list[Encoded]]:
    """The pairs in batches of like lengths, in a random order if there is one."""
    shuffled = list(pairs)
    if order is not None:
        order.shuffle(shuffled)
    for start in range(0, len(shuffled), size * _BUCKET):
        bucket = sorted(shuffled[start : start + size * _BUCKET], key=lambda pair: (len(pair[1]), len(pair[0])))
        found = [bucket[at : at + size] for at in range(0, len(bucket), size)]
        if order is not None:
            order.shuffle(found)
        yield from found


def _weights_file(folder: Path, training: Training) -> Path:
    return folder / f"{training.best}.pt"


def _network(words: Vocabulary, settings: Settings) -> Any:
    from reviewgauge.models.seq2seq.network import Network

    return Network(len(words), settings.hidden, settings.dropout)


def load_torch() -> Any:
    """The library. Raises MissingExtra, and UserError for one that runs code out of files of weights."""
    try:
        import torch
    except ImportError:
        raise MissingExtra("torch", "train") from None
    if tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 6):  # CVE-2025-32434
        problem = f"torch {torch.__version__} runs code that a file of weights holds"
        raise UserError(problem, remedy="pip install 'torch>=2.6'")
    return torch


def chosen_device(word: str) -> str:
    """The device by its name in torch; `auto` is the first GPU where there is one. Raises UserError, MissingExtra."""
    torch = load_torch()
    if word == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(1, device=word)
    except (RuntimeError, AssertionError, TypeError, ValueError):
        raise UserError(f"torch has no device {word!r} here", remedy="device='auto'") from None
    return word


class Writer:
    """A trained network that writes. Several threads may ask it. Raises BadInput for weights that are not its own."""

    def __init__(self, folder: Path, training: Training, device: str) -> None:
        self._torch, self._device = load_torch(), chosen_device(device)
        self._words, self._settings = Vocabulary(training.pieces), training.settings
        self._network = _network(self._words, self._settings)
        file = _weights_file(folder, training)
        try:
            raw = read_within(file, LARGEST)
        except OSError as error:
            raise BadInput(str(file), f"cannot be read: {error.strerror}", remedy="train again") from None
        if hashlib.sha256(raw).hexdigest() != training.best:
            raise BadInput(str(file), f"is not the file that {STATE} names", remedy="train again")
        try:
            self._network.load_state_dict(self._torch.load(io.BytesIO(raw), map_location="cpu", weights_only=True))
        except Exception as error:  # a file from others holds any values, and torch raises what it stumbles over
            problem = f"holds no weights of this network ({type(error).__name__})"
            raise BadInput(str(file), problem, remedy="train again") from None
        self._network.to(self._device).eval()

    def write(self, source: str) -> tuple[str, float]:
        """The text for a source, perhaps empty, and the mean log probability of its pieces."""
        numbers = self._words.encode(source, self._settings.source) or [UNKNOWN]
        with self._torch.inference_mode():
            asked = self._torch.tensor([numbers], dtype=self._torch.long, device=self._device)
            found, likely = self._network.write(asked, self._settings.target)
        return self._words.decode(found), likely


@lru_cache(maxsize=2)
def open_writer(folder: Path, best: str, device: str) -> Writer:
    """The writer with the weights `best` (a SHA-256) of a folder, loaded once. Raises UserError, BadInput."""
    training = read_training(folder)
    if training is None or training.best != best:
        raise UserError(f"{folder} does not hold the training that was there before")
    return Writer(folder, training, device)
