"""The network: an LSTM reads the source, an LSTM writes the target and looks back at the source at each step.

Source: Bahdanau et al., "Neural machine translation by jointly learning to align and translate", arXiv:1409.0473, for
the attention; CRScore (https://github.com/atharva-naik/CRScore, src/models/lstm_review_gen.py) for the rest. Two things
differ from its code: the decoder's cell is kept from step to step, which that code sets to zero, and padding neither
gets attention nor counts in the loss.

Shapes: B texts, S source pieces, T target pieces, H hidden values, V pieces in the vocabulary.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from reviewgauge.models.seq2seq.vocabulary import END, PAD, START, UNKNOWN

Tensor = Any  # torch.Tensor, where the library is there


class Read(NamedTuple):
    """A source as the decoder sees it: its states (B x S x H), those projected, where they are, and (hidden, cell)."""

    states: Tensor
    projected: Tensor
    there: Tensor
    memory: tuple[Tensor, Tensor]


class Network(nn.Module):
    """Encoder, attention and decoder of one hidden layer each; one table of embeddings for both texts."""

    def __init__(self, pieces: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.embedding = nn.Embedding(pieces, hidden, padding_idx=PAD)
        self.dropout = nn.Dropout(dropout)
        self.encoder = nn.LSTM(hidden, hidden, batch_first=True)
        self.query = nn.Linear(hidden, hidden)
        self.key = nn.Linear(hidden, hidden)
        self.energy = nn.Linear(hidden, 1)
        self.decoder = nn.LSTMCell(2 * hidden, hidden)
        self.out = nn.Linear(hidden, pieces)

    def read(self, source: Tensor) -> Read:
        """Encode sources (B x S, padded at the end, each with one piece at least)."""
        there = source != PAD
        packed = pack_padded_sequence(
            self.dropout(self.embedding(source)), there.sum(1).cpu(), batch_first=True, enforce_sorted=False
        )
        output, (hidden, cell) = self.encoder(packed)
        states, _ = pad_packed_sequence(output, batch_first=True, total_length=source.shape[1])
        return Read(states, self.key(states), there, (hidden[0], cell[0]))

    def step(self, before: Tensor, read: Read, memory: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """(hidden, cell) after one more piece of the target; `before` (B) holds the piece before it."""
        energy = self.energy(torch.tanh(self.query(memory[0]).unsqueeze(1) + read.projected)).squeeze(2)
        weights = torch.softmax(energy.masked_fill(~read.there, float("-inf")), dim=1)
        context = torch.bmm(weights.unsqueeze(1), read.states).squeeze(1)
        hidden, cell = self.decoder(torch.cat([self.dropout(self.embedding(before)), context], dim=1), memory)
        return hidden, cell

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """The summed negative log likelihood of the targets (B x T, padded), each piece given those before it."""
        read = self.read(source)
        before = torch.cat([torch.full_like(target[:, :1], START), target[:, :-1]], dim=1)
        memory, found = read.memory, []
        for at in range(target.shape[1]):
            memory = self.step(before[:, at], read, memory)
            found.append(memory[0])
        there = target != PAD
        logits = self.out(self.dropout(torch.stack(found, dim=1)[there]))
        return nn.functional.cross_entropy(logits, target[there], reduction="sum")

    def write(self, source: Tensor, longest: int) -> tuple[list[int], float]:
        """The likeliest piece at each step for one source (1 x S), up to the end, and their mean log probability.

        No three pieces in a row are written twice: a network that has learnt little would go round in a circle.
        """
        read = self.read(source)
        memory, before = read.memory, torch.full_like(source[:, 0], START)
        found: list[int] = []
        total = 0.0
        for _ in range(longest):
            memory = self.step(before, read, memory)
            likely = torch.log_softmax(self.out(memory[0])[0], dim=0)
            twice = [found[at + 2] for at in range(len(found) - 2) if found[at : at + 2] == found[-2:]]
            likely[[PAD, START, UNKNOWN, *twice]] = float("-inf")
            best = int(likely.argmax())
            total += float(likely[best])
            if best == END:
                break
            found.append(best)
            before = torch.full_like(before, best)
        return found, total / (len(found) + 1)
