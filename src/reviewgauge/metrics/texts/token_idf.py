"""How rare a token is: the file of counts that `bertscore(idf=FILE)` weighs tokens by.

Source: Zhang et al. 2020, https://arxiv.org/abs/1904.09675, section 3: idf over the reference texts, with plus-one
smoothing; as in the `bert-score` package, ln((n + 1) / (df + 1)) with df the texts that hold the token.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.models.embeddings.embedder import Embedder, check_fitted_for

MODEL, TEXTS, COUNTS = "fingerprint", "texts", "counts"
WHOLE = 1_000_000  # tokens: as many as the network has room for


class TokenIdf:
    """The weights of a model's tokens. `digest` is the SHA-256 of the file."""

    def __init__(self, counts: dict[int, int], texts: int, fitted_for: str, digest: str) -> None:
        self.fitted_for, self.digest = fitted_for, digest
        self._unseen = math.log(texts + 1)
        self._known = {token: math.log((texts + 1) / (count + 1)) for token, count in counts.items()}

    def weights(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """The idf of each token."""
        return np.array([self._known.get(token, self._unseen) for token in ids.tolist()])


def write_idf(file: str | Path, references: Iterable[str], model: Embedder) -> int:
    """Count in how many of the references each token stands, for `bertscore(idf=file)`; returns how many there are.

    Every reference counts, equal ones as often as they occur.
    """
    given = Counter(references)
    found: Counter[int] = Counter()
    distinct = list(given)
    for start in range(0, len(distinct), 256):
        some = distinct[start : start + 256]
        for text, states in zip(some, model.tokens(some, layer=0, longest=WHOLE), strict=True):
            for token in set(states.ids.tolist()):
                found[token] += given[text]
    counts = {str(token): count for token, count in sorted(found.items())}
    written = {MODEL: model.fingerprint, TEXTS: given.total(), COUNTS: counts}
    Path(file).write_text(json.dumps(written, separators=(",", ":")) + "\n", encoding="utf-8")
    return given.total()


def read_idf(file: str, model: Embedder) -> TokenIdf:
    """The weights in a file that `write_idf` wrote for this model. Raises UserError for another model's."""
    try:
        found = _read(file, Path(file).expanduser().stat().st_mtime_ns)
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror or error}", remedy="write_idf makes one") from None
    check_fitted_for(model, found.fitted_for, f"idf={file!r}")
    return found


@lru_cache(maxsize=4)
def _read(file: str, _changed: int) -> TokenIdf:
    data = Path(file).expanduser().read_bytes()
    try:
        found = json.loads(data)
        counts = {int(token): int(count) for token, count in found[COUNTS].items()}
        texts, fitted_for = int(found[TEXTS]), str(found[MODEL])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BadInput(file, "is not a file of token counts", remedy="write_idf makes one") from None
    if texts < 1 or any(not 0 <= count <= texts for count in counts.values()):
        raise BadInput(file, f"a count is not between 0 and the number of texts, {texts}", field=COUNTS)
    return TokenIdf(counts, texts, fitted_for, hashlib.sha256(data).hexdigest())
