"""An encoder and a decoder with attention that learn to write one text from another, and the folder that keeps them.

Source: CRScore, appendix D.3, and its code (https://github.com/atharva-naik/CRScore, src/models/lstm_review_gen.py): an
LSTM reads the source, another writes the target and looks back at the source by the attention of Bahdanau et al.,
arXiv:1409.0473; Adam, the negative log likelihood of each piece, the weights with the least loss on a tenth of the
pairs. Three things differ from its code: pieces are learnt, where it takes CodeReviewer's; the decoder's cell is kept
from step to step, which that code sets to zero; padding neither gets attention nor counts in the loss.

A folder holds `training.json` and the file of weights that it names by hash. Weights are read as tensors and plain
values only: a file from others runs nothing.
"""

from __future__ import annotations

import copy
import hashlib
import io
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from reviewgauge.core.base import Record
from reviewgauge.core.errors import BadInput, MissingExtra, UserError
from reviewgauge.core.files import read_within, write_error, write_whole
from reviewgauge.core.parsing import parse_record

Pair = tuple[str, str]
Progress = Callable[[int, int, str], None]
Encoded = tuple[list[int], list[int]]
Tensor = Any  # torch.Tensor, where the library is there
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
    seed: Annotated[int, Field(ge=0)]


class Training(Record):
    """A finished training. `examples` is the hash of what it learnt from, `best` that of the weights.

    `losses` has the mean loss by piece on the held-out pairs after each epoch.
    """

    format: Literal[3] = 3
    settings: Settings
    examples: str
    pairs: int
    pieces: Annotated[tuple[str, ...], Field(max_length=100_000)]
    losses: Annotated[tuple[float, ...], Field(min_length=1)]
    best: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


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


# --- texts as numbers ----------------------------------------------------------------------------------------------

PAD, START, END, UNKNOWN = range(4)
FIRST = 4  # the number of the first piece
RARE = 2  # a piece that occurs less often than this is left out
_PIECE = re.compile(r" ?[^\W_][^\W_A-Z]*| ?[^\w\s]|_|\n")


def pieces(text: str) -> list[str]:
    """The pieces of words, the marks and line breaks of a text, in order; they join to the text again.

    A piece holds the blank before it, so that code and prose come out as they were written, but for runs of blanks.
    Identifiers are cut before capitals and at underscores, so that most of an unknown name is known.
    """
    return _PIECE.findall(text)


class Vocabulary:
    """Pieces and their numbers; the commonest first."""

    def __init__(self, known: Sequence[str]) -> None:
        self.pieces = tuple(known)
        self._numbers = {piece: number for number, piece in enumerate(self.pieces, FIRST)}

    @classmethod
    def learn(cls, texts: Iterable[str], most: int) -> Vocabulary:
        """The `most` commonest pieces of the texts; of equally common ones the first by the alphabet."""
        counts = Counter(piece for text in texts for piece in pieces(text))
        ranked = sorted(counts, key=lambda piece: (-counts[piece], piece))
        return cls([piece for piece in ranked[:most] if counts[piece] >= RARE])

    def __len__(self) -> int:
        return FIRST + len(self.pieces)

    def encode(self, text: str, longest: int) -> list[int]:
        """The numbers of the first `longest` pieces of a text."""
        return [self._numbers.get(piece, UNKNOWN) for piece in pieces(text)[:longest]]

    def decode(self, numbers: Iterable[int]) -> str:
        """The text of these pieces."""
        return "".join(self.pieces[number - FIRST] for number in numbers if number >= FIRST).strip()


# --- the network ---------------------------------------------------------------------------------------------------


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


class ReadSource(NamedTuple):
    """A source as the decoder sees it: its states (B x S x H), those projected, where they are, and (hidden, cell)."""

    states: Tensor
    projected: Tensor
    there: Tensor
    memory: tuple[Tensor, Tensor]


class Network:
    """Encoder, attention and decoder of one hidden layer each; one table of embeddings for both texts.

    Shapes: B texts, S source pieces, T target pieces, H hidden values, V pieces in the vocabulary.
    """

    def __init__(self, pieces: int, settings: Settings, device: str = "cpu") -> None:
        self._torch, self._device = load_torch(), device
        nn, hidden = self._torch.nn, settings.hidden
        named = {
            "embedding": nn.Embedding(pieces, hidden, padding_idx=PAD),
            "dropout": nn.Dropout(settings.dropout),
            "encoder": nn.LSTM(hidden, hidden, batch_first=True),
            "query": nn.Linear(hidden, hidden),
            "key": nn.Linear(hidden, hidden),
            "energy": nn.Linear(hidden, 1),
            "decoder": nn.LSTMCell(2 * hidden, hidden),
            "out": nn.Linear(hidden, pieces),
        }
        self.layers = nn.ModuleDict(named).to(device)

    def padded(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """Rows of numbers, filled up at their ends."""
        longest = max(map(len, rows))
        filled = [[*row, *[PAD] * (longest - len(row))] for row in rows]
        return self._torch.tensor(filled, dtype=self._torch.long, device=self._device)

    def read(self, source: Tensor) -> ReadSource:
        """Encode sources (B x S, padded, each with one piece at least)."""
        layers, rnn, there = self.layers, self._torch.nn.utils.rnn, source != PAD
        embedded = layers.dropout(layers.embedding(source))
        packed = rnn.pack_padded_sequence(embedded, there.sum(1).cpu(), batch_first=True, enforce_sorted=False)
        output, (hidden, cell) = layers.encoder(packed)
        states, _ = rnn.pad_packed_sequence(output, batch_first=True, total_length=source.shape[1])
        return ReadSource(states, layers.key(states), there, (hidden[0], cell[0]))

    def step(self, before: Tensor, read: ReadSource, memory: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """(hidden, cell) after one more piece of the target; `before` (B) holds the piece before it."""
        layers, torch = self.layers, self._torch
        energy = layers.energy(torch.tanh(layers.query(memory[0]).unsqueeze(1) + read.projected)).squeeze(2)
        weights = torch.softmax(energy.masked_fill(~read.there, float("-inf")), dim=1)
        context = torch.bmm(weights.unsqueeze(1), read.states).squeeze(1)
        found = layers.decoder(torch.cat([layers.dropout(layers.embedding(before)), context], dim=1), memory)
        return found[0], found[1]

    def loss(self, source: Tensor, target: Tensor) -> Tensor:
        """The summed negative log likelihood of the targets (B x T, padded), each piece given those before it."""
        torch, read = self._torch, self.read(source)
        before = torch.cat([torch.full_like(target[:, :1], START), target[:, :-1]], dim=1)
        memory, found = read.memory, []
        for at in range(target.shape[1]):
            memory = self.step(before[:, at], read, memory)
            found.append(memory[0])
        there = target != PAD
        logits = self.layers.out(self.layers.dropout(torch.stack(found, dim=1)[there]))
        return torch.nn.functional.cross_entropy(logits, target[there], reduction="sum")

    def write(self, source: Tensor, longest: int) -> tuple[list[int], float]:
        """The likeliest piece at each step for one source (1 x S), up to the end, and their mean log probability.

        No three pieces in a row are written twice: a network that has learnt little would go round in a circle.
        """
        torch, read = self._torch, self.read(source)
        memory, before = read.memory, torch.full_like(source[:, 0], START)
        found: list[int] = []
        total = 0.0
        for _ in range(longest):
            memory = self.step(before, read, memory)
            likely = torch.log_softmax(self.layers.out(memory[0])[0], dim=0)
            twice = [found[at + 2] for at in range(len(found) - 2) if found[at : at + 2] == found[-2:]]
            likely[[PAD, START, UNKNOWN, *twice]] = float("-inf")
            best = int(likely.argmax())
            total += float(likely[best])
            if best == END:
                break
            found.append(best)
            before = torch.full_like(before, best)
        return found, total / (len(found) + 1)


# --- training ------------------------------------------------------------------------------------------------------


def train(
    pairs: Sequence[Pair], settings: Settings, folder: Path, device: str = "auto", progress: Progress | None = None
) -> Training:
    """Train on the pairs (source, target) and keep the result in `folder`; what is there already is not done again.

    Raises UserError: too few pairs, a folder with another training, a device that torch does not have.
    """
    if len(pairs) < FEWEST:
        raise UserError(f"{len(pairs)} examples with a comment are too few to learn from: {FEWEST} are the least")
    known, examples = read_training(folder), pairs_hash(pairs)
    if known is not None and (known.settings, known.examples) != (settings, examples):
        what = "other examples" if known.examples != examples else "other parameters"
        raise UserError(f"{folder} holds a training with {what}", remedy="name another folder, or leave --train out")
    if known is not None:
        return known
    words = Vocabulary.learn((text for pair in pairs for text in pair), settings.words)
    learnt, aside = ([_encode(pair, words, settings) for pair in part] for part in split(pairs))
    if not learnt:
        raise UserError("all examples have the same code: nothing can be held out of them")
    losses, weights = _fit((learnt, aside), len(words), settings, chosen_device(device), progress)
    training = Training(
        settings=settings,
        examples=examples,
        pairs=len(pairs),
        pieces=words.pieces,
        losses=losses,
        best=hashlib.sha256(weights).hexdigest(),
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / f"{training.best}.pt", weights)
        write_whole(folder / STATE, training.model_dump_json(indent=1).encode() + b"\n")
    except OSError as error:
        raise write_error(folder, error) from None
    return training


def pairs_hash(pairs: Sequence[Pair]) -> str:
    """The SHA-256 of what can be learnt."""
    digest = hashlib.sha256()
    for pair in pairs:
        digest.update("\x1f".join(pair).encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


def split(pairs: Sequence[Pair]) -> tuple[list[Pair], list[Pair]]:
    """(learnt from, held out). Pairs with one source lie on one side, which its hash decides."""
    ranked = sorted({source for source, _ in pairs}, key=lambda text: pairs_hash([(text, "")]))
    aside = set(ranked[: max(1, len(ranked) // HELD_OUT)])
    return [pair for pair in pairs if pair[0] not in aside], [pair for pair in pairs if pair[0] in aside]


def _encode(pair: Pair, words: Vocabulary, settings: Settings) -> Encoded:
    source, target = words.encode(pair[0], settings.source), words.encode(pair[1], settings.target)
    return source or [UNKNOWN], [*target, END]


def _fit(
    parts: Sequence[Sequence[Encoded]], pieces: int, settings: Settings, device: str, progress: Progress | None
) -> tuple[tuple[float, ...], bytes]:
    """(the loss on the held-out pairs after each epoch, the weights after the best one)."""
    (learnt, aside), torch = parts, load_torch()
    torch.manual_seed(settings.seed)
    network = Network(pieces, settings, device)
    optimiser = torch.optim.Adam(network.layers.parameters(), lr=settings.rate)
    losses: list[float] = []
    best: Any = None
    for number in range(1, settings.epochs + 1):
        torch.manual_seed(settings.seed * 1_000_003 + number)
        batches = list(_batches(learnt, settings.batch, random.Random(f"{settings.seed} {number}")))
        network.layers.train()
        for at, batch in enumerate(batches):
            if progress is not None:
                done = (number - 1) * len(batches) + at
                progress(done, settings.epochs * len(batches), f"training, epoch {number}")
            optimiser.zero_grad()
            (_loss(network, batch) / _size(batch)).backward()
            torch.nn.utils.clip_grad_norm_(network.layers.parameters(), _CLIP)
            optimiser.step()
        network.layers.eval()
        with torch.inference_mode():
            held_out = sum(_loss(network, batch).item() for batch in _batches(aside, settings.batch, None))
        losses.append(held_out / _size(aside))
        if losses.index(min(losses)) == number - 1:
            best = copy.deepcopy(network.layers.state_dict())
    stream = io.BytesIO()
    torch.save(best, stream)
    return tuple(losses), stream.getvalue()


def _loss(network: Network, batch: Sequence[Encoded]) -> Tensor:
    return network.loss(*(network.padded([pair[side] for pair in batch]) for side in (0, 1)))


def _size(batch: Sequence[Encoded]) -> int:
    return sum(len(target) for _, target in batch)


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


class Writer:
    """A trained network that writes. Several threads may ask it. Raises BadInput for weights that are not its own."""

    def __init__(self, folder: Path, training: Training, device: str) -> None:
        self._torch, self._settings = load_torch(), training.settings
        self._words = Vocabulary(training.pieces)
        self._network = Network(len(self._words), self._settings, chosen_device(device))
        file = folder / f"{training.best}.pt"
        try:
            raw = read_within(file, LARGEST)
        except OSError as error:
            raise BadInput(str(file), f"cannot be read: {error.strerror}", remedy="train again") from None
        if hashlib.sha256(raw).hexdigest() != training.best:
            raise BadInput(str(file), f"is not the file that {STATE} names", remedy="train again")
        try:
            weights = self._torch.load(io.BytesIO(raw), map_location="cpu", weights_only=True)
            self._network.layers.load_state_dict(weights)
        except Exception as error:  # a file from others holds any values, and torch raises what it stumbles over
            problem = f"holds no weights of this network ({type(error).__name__})"
            raise BadInput(str(file), problem, remedy="train again") from None
        self._network.layers.eval()

    def write(self, source: str) -> tuple[str, float]:
        """The text for a source, perhaps empty, and the mean log probability of its pieces."""
        numbers = self._words.encode(source, self._settings.source) or [UNKNOWN]
        with self._torch.inference_mode():
            found, likely = self._network.write(self._network.padded([numbers]), self._settings.target)
        return self._words.decode(found), likely


@lru_cache(maxsize=2)
def open_writer(folder: Path, best: str, device: str) -> Writer:
    """The writer with the weights `best` (a SHA-256) of a folder, loaded once. Raises UserError, BadInput."""
    training = read_training(folder)
    if training is None or training.best != best:
        raise UserError(f"{folder} does not hold the training that was there before")
    return Writer(folder, training, device)
