"""Embedding models behind one protocol: texts in, vectors out. `load.embedder` opens one."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from reviewgauge.core.errors import UserError
from reviewgauge.models.cache.vector_cache import VectorCache

Floats = npt.NDArray[np.float32]
Whole = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]
DEFAULT = "all-MiniLM-L6-v2"
_CHUNK = 1024  # texts that are computed between two writes to the cache
_SURROGATE = re.compile("[\ud800-\udfff]")  # half characters, which no encoding can hold
_SHORTEST_PREFIX = 8  # hex digits of a fingerprint that name a model


class TokenStates(NamedTuple):
    """The tokens of one text, with the network's last hidden state of each (T x d, not normalised).

    `offsets` (T x 2) say which characters of the text a token covers; `special` marks those that stand for none,
    such as [CLS] and [SEP]. `cut`: the text has more tokens than these.
    """

    ids: Whole
    tokens: tuple[str, ...]
    offsets: Whole
    special: Truths
    cut: bool
    vectors: Floats


class Refused(ValueError):
    """A model refuses some text, too long as a rule."""


class Embedder(ABC):
    """An embedding model. `name` is the spec that it was opened with.

    A route writes `fingerprint`, `dimensions`, `_encode`, and what it can of the rest.
    """

    def __init__(self, name: str, cache: VectorCache | None = None) -> None:
        self.name = name
        self.cache = cache

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """SHA-256 (hex) of weights, tokenizer and pooling settings: what a number from this model belongs to."""

    @property
    @abstractmethod
    def dimensions(self) -> int:
        """The length of a vector."""

    @property
    def longest(self) -> int | None:
        """How many tokens of a text a vector is made from, special ones included; None where it is unknown."""
        return None

    @abstractmethod
    def _encode(self, texts: Sequence[str]) -> Floats:
        """One vector per text (n x d), of any length; the texts are distinct. Raises Refused."""

    def vectors(self, texts: Sequence[str]) -> Floats:
        """One vector of length 1 per text (n x d), in order. Equal texts are computed once, and kept in the cache.

        Raises Refused where the model will not read a text.
        """
        readable_texts = [readable(text) for text in texts]
        unique = list(dict.fromkeys(readable_texts))
        known = self.cache.get(self.fingerprint, unique) if self.cache else {}
        missing = sorted((text for text in unique if text not in known), key=len)
        for start in range(0, len(missing), _CHUNK):
            chunk = missing[start : start + _CHUNK]
            found = dict(zip(chunk, to_length_one(self._encode(chunk)), strict=True))
            known.update(found)
            if self.cache:
                self.cache.put(self.fingerprint, found)
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        if len(sizes := {len(vector) for vector in known.values()}) > 1:
            raise UserError(
                f"{self.name} gave vectors of {' and '.join(map(str, sorted(sizes)))} numbers",
                remedy="is another model answering under this name? REVIEWGAUGE_CACHE=off leaves old vectors out",
            )
        return np.stack([known[text] for text in readable_texts])

    def cut(self, texts: Sequence[str]) -> Truths | None:
        """Which texts have more tokens than `longest`, so that their ends are not read; None where it is unknown."""
        return None

    def tokens(
        self, texts: Sequence[str], *, layer: int | None = None, longest: int | None = None
    ) -> list[TokenStates]:
        """The token states of each text, in order; equal texts share them.

        `layer` counts from 0, the embeddings, to the last, the default. `longest` cuts elsewhere than the sentence
        vectors do; what the network has no room for is cut all the same. Raises UserError where there are none.
        """
        raise UserError(f"{self.name} gives no token vectors", remedy=f"use a local model, such as {DEFAULT}")


def to_length_one(vectors: Floats) -> Floats:
    """Each row divided by its length; a row of zeros stays one."""
    lengths = np.sqrt(np.square(vectors.astype(np.float64)).sum(axis=1, keepdims=True))
    scaled: Floats = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return scaled


def readable(text: str) -> str:
    """`text` with half surrogate pairs replaced, character by character."""
    return _SURROGATE.sub("\ufffd", text)


def check_fitted_for(model: Embedder, fitted_for: str, what: str) -> None:
    """Refuse `what` (a threshold, a floor, a set of weights) unless it was fitted on this model's vectors.

    `fitted_for` is the model's spec, or the first hex digits of its fingerprint, at least eight.
    """
    prefix = fitted_for.lower()
    by_print = re.fullmatch(f"[0-9a-f]{{{_SHORTEST_PREFIX},64}}", prefix) is not None
    if fitted_for == model.name or (by_print and model.fingerprint.startswith(prefix)):
        return
    raise UserError(
        f"{what} belongs to the model {fitted_for}, and this is {model.name} (fingerprint {model.fingerprint[:12]})",
        remedy="thresholds do not carry over between embedding models: fit it again",
    )


def pins(models: Iterable[Embedder]) -> dict[str, str]:
    """What figures from these models rest on: each one's fingerprint, by its name."""
    return {model.name: model.fingerprint for model in models}
