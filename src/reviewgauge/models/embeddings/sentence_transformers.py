"""Embeddings by the sentence-transformers library, for any model that it can load: `st:ORG/NAME` or `st:FOLDER`.

Source: https://sbert.net. The library brings torch; the ONNX routes do without and give the same vectors.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from typing_extensions import override

from reviewgauge.core.errors import MissingExtra, UserError, one_line
from reviewgauge.models.cache.vector_cache import VectorCache
from reviewgauge.models.chat.client import is_offline
from reviewgauge.models.embeddings.embedder import Embedder, Floats, TokenStates, Truths, readable, token_states

_BATCH = 32  # texts in a batch


class SentenceTransformersEmbedder(Embedder):
    """A SentenceTransformer. It is loaded when it is first needed; a CUDA device is used where torch has one."""

    def __init__(self, name: str, source: str, cache: VectorCache | None = None) -> None:
        super().__init__(name, cache)
        self._source = source

    @cached_property
    def _model(self) -> Any:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError:
            raise MissingExtra("sentence-transformers", "sentence-transformers") from None
        try:
            return SentenceTransformer(self._source, **({"local_files_only": True} if is_offline() else {}))
        except Exception as error:  # the library raises whatever its own libraries do
            reason = one_line(f"{type(error).__name__}: {error}", 200)
            raise UserError(f"sentence-transformers cannot load {self._source}: {reason}") from None

    @cached_property
    @override
    def fingerprint(self) -> str:
        digest = hashlib.sha256()
        for name, tensor in sorted(self._model.state_dict().items()):
            if "pooler." in name:  # BERT's classification head: not used here, and random where the checkpoint has none
                continue
            digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
            digest.update(tensor.detach().cpu().float().numpy().tobytes())
        parts = [type(part).__name__ + json.dumps(_settings(part), sort_keys=True, default=str) for part in self._model]
        digest.update("\n".join([*parts, str(self.longest), self._tokenizer.to_str()]).encode())
        return digest.hexdigest()

    @property
    @override
    def dimensions(self) -> int:
        return int(self._model.encode(["a"], show_progress_bar=False).shape[1])

    @property
    @override
    def longest(self) -> int:
        return int(self._model.max_seq_length)

    @property
    def _tokenizer(self) -> Any:
        """The `tokenizers` object inside. Raises UserError for a model with a slow one."""
        inner = getattr(self._model.tokenizer, "backend_tokenizer", None)
        if inner is None:
            raise UserError(f"{self.name} has no fast tokenizer", remedy="use a model with tokenizer.json")
        return inner

    def _encodings(self, texts: Sequence[str], longest: int) -> list[Any]:
        tokenizer = type(self._tokenizer).from_str(self._tokenizer.to_str())  # the library changes settings on its own
        tokenizer.no_padding()
        tokenizer.enable_truncation(longest)
        found: list[Any] = tokenizer.encode_batch([readable(text).strip() for text in texts])
        return found

    @override
    def cut(self, texts: Sequence[str]) -> Truths:
        return np.array([bool(encoding.overflowing) for encoding in self._encodings(texts, self.longest)], dtype=bool)

    @override
    def tokens(
        self, texts: Sequence[str], *, layer: int | None = None, longest: int | None = None
    ) -> list[TokenStates]:
        """See `Embedder.tokens`. The library cuts where its sentence vectors do, and gives only its last layer."""
        if layer is not None:
            raise UserError(f"{self.name} gives only its last layer", remedy="leave layer out")
        if longest is not None and longest < self.longest:
            raise UserError(f"{self.name} cuts texts after {self.longest} tokens, not after {longest}")
        stripped = [readable(text).strip() for text in texts]
        options: dict[str, Any] = {"batch_size": _BATCH, "show_progress_bar": False}
        states = self._model.encode(stripped, output_value="token_embeddings", **options)
        encodings = self._encodings(texts, self.longest)
        return [
            token_states(text, encoding, vectors.detach().cpu().float().numpy()[: len(encoding.ids)])
            for text, encoding, vectors in zip(texts, encodings, states, strict=True)
        ]

    @override
    def _encode(self, texts: Sequence[str]) -> Floats:
        found = self._model.encode(list(texts), batch_size=_BATCH, show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(found, dtype=np.float32)


def _settings(part: Any) -> Any:
    return part.get_config_dict() if hasattr(part, "get_config_dict") else {}
