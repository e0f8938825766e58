"""The fake model as an embedder, to try what asks an endpoint: no network, no key, no weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from typing_extensions import override

from reviewgauge.models.chat.client import current_tracker
from reviewgauge.models.embeddings.embedder import Embedder, Floats
from reviewgauge.models.fake import NAME, share_of
from reviewgauge.models.text.words import raw_words

SIZE = 256


class FakeEmbedder(Embedder):
    """Counts a text's words, each at a place drawn by its hash. What comes of its vectors is marked as fake."""

    @property
    @override
    def fingerprint(self) -> str:
        return f"{NAME}-{SIZE}-words"

    @property
    @override
    def dimensions(self) -> int:
        return SIZE

    @override
    def _encode(self, texts: Sequence[str]) -> Floats:
        if (tracker := current_tracker()) is not None:
            tracker.fake = True
        vectors = np.zeros((len(texts), SIZE), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in raw_words(text):
                vectors[row, int(share_of(word) * SIZE)] += 1
        return vectors
