"""Trains the network on pairs of texts, epoch by epoch, from where an earlier training stopped; then it writes.

Adam, the negative log likelihood of each piece, and the weights with the least loss on a tenth of the pairs, as in
CRScore (appendix D.3). Each epoch has a seed of its own, so that a training that was interrupted comes out the same.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.models.seq2seq.checkpoint import (
    Epoch,
    Settings,
    TrainingState,
    load_torch,
    read_state,
    read_weights,
    save_state,
)
from reviewgauge.models.seq2seq.vocabulary import END, PAD, UNKNOWN, Vocabulary

Pair = tuple[str, str]
Progress = Callable[[int, int, str], None]
Encoded = tuple[list[int], list[int]]
HELD_OUT = 10  # one pair of so many is not trained on, but decides which weights are the best
FEWEST = 20  # pairs
_CLIP = 1.0  # the largest norm of the gradients of one step
_BUCKET = 50  # batches within which pairs are sorted by length, so that little is padded


def train(
    pairs: Sequence[Pair], settings: Settings, folder: Path, device: str = "auto", progress: Progress | None = None
) -> TrainingState:
    """Train on the pairs (source, target), and keep each epoch in `folder`; what is there already is not done again.

    Raises UserError: too few pairs, a folder with another training, a device that torch does not have.
    """
    if len(pairs) < FEWEST:
        raise UserError(f"{len(pairs)} examples with a comment are too few to learn from: {FEWEST} are the least")
    state = read_state(folder)
    examples = _digest(pairs)
    if state is None:
        words = Vocabulary.learn((text for pair in pairs for text in pair), settings.words)
        state = TrainingState(settings=settings, examples=examples, pairs=len(pairs), pieces=words.pieces)
    elif (state.settings, state.examples) != (settings, examples):
        what = "other examples" if state.examples != examples else "other parameters"
        raise UserError(f"{folder} holds a training with {what}", remedy="name another folder, or leave --train out")
    if not state.finished:
        state = _Trainer(pairs, state, folder, device).run(progress)
    return state


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

    def __init__(self, pairs: Sequence[Pair], state: TrainingState, folder: Path, device: str) -> None:
        self._torch, self._device = load_torch(), chosen_device(device)
        self._state, self._folder, self._settings = state, folder, state.settings
        words = Vocabulary(state.pieces)
        learnt, aside = split(pairs)
        self._learnt = [_encode(pair, words, self._settings) for pair in learnt]
        self._aside = [_encode(pair, words, self._settings) for pair in aside]
        if not self._learnt:
            raise UserError("all examples have the same code: nothing can be held out of them")
        self._torch.manual_seed(self._settings.seed)
        self._network = _network(state).to(self._device)
        self._optimiser = self._torch.optim.Adam(self._network.parameters(), lr=self._settings.rate)
        if state.last:
            weights = read_weights(folder, state.last)
            _fill(self._network, weights, "network", folder)
            _fill(self._optimiser, weights, "optimiser", folder)

    def run(self, progress: Progress | None) -> TrainingState:
        while not self._state.finished:
            self._epoch(progress)
        return self._state

    def _epoch(self, progress: Progress | None) -> None:
        number, epochs = len(self._state.history) + 1, self._settings.epochs
        began = time.perf_counter()
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
        epoch = Epoch(train=total / count, validation=validation, seconds=round(time.perf_counter() - began, 3))
        before = self._state.history[self._state.best_epoch - 1].validation if self._state.best_epoch else None
        is_best = before is None or validation < before
        update = {
            "history": (*self._state.history, epoch),
            "best_epoch": number if is_best else self._state.best_epoch,
        }
        weights = {"network": self._network.state_dict(), "optimiser": self._optimiser.state_dict()}
        self._state = save_state(self._folder, self._state.model_copy(update=update), weights, is_best)

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


def _network(state: TrainingState) -> Any:
    load_torch()
    from reviewgauge.models.seq2seq.network import Network

    return Network(len(Vocabulary(state.pieces)), state.settings.hidden, state.settings.dropout)


def _fill(part: Any, weights: Mapping[str, Any], name: str, folder: Path) -> None:
    try:
        part.load_state_dict(weights[name])
    except Exception as error:  # a file from others holds any values, and torch raises what it stumbles over
        raise BadInput(str(folder), f"holds weights of another network ({type(error).__name__})") from None


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
    """A trained network that writes. Several threads may ask it."""

    def __init__(self, folder: Path, state: TrainingState, device: str) -> None:
        self._torch, self._device = load_torch(), chosen_device(device)
        self._words, self._settings = Vocabulary(state.pieces), state.settings
        self._network = _network(state)
        _fill(self._network, read_weights(folder, state.best), "network", folder)
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
    state = read_state(folder)
    if state is None or state.best != best:
        raise UserError(f"{folder} does not hold the training that was there before")
    return Writer(folder, state, device)
