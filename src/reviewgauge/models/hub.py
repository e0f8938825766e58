"""Models and data sets of the Hugging Face hub, through its own library."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from reviewgauge.core.errors import MissingExtra, UserError, one_line
from reviewgauge.models.chat.client import is_offline


def hub_folder(word: str, files: Sequence[str], extra: str, kind: Literal["model", "dataset"] = "model") -> Path:
    """The folder of `ORG/NAME[@REVISION]` in the hub's cache, with those `files` (patterns), fetched where needed.

    The settings of huggingface_hub (HF_ENDPOINT, HF_HOME, HF_TOKEN, HF_HUB_OFFLINE) hold. Source:
    https://huggingface.co/docs/huggingface_hub. Raises UserError, MissingExtra.
    """
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import GatedRepoError
    except ImportError:
        raise MissingExtra("huggingface-hub", extra) from None
    name, _, revision = word.partition("@")
    kept = is_offline()
    fetch = partial(snapshot_download, name, repo_type=kind, revision=revision or None, allow_patterns=list(files))
    try:
        return Path(fetch(local_files_only=kept))
    except Exception as error:  # the library's errors have no base in common
        remedy = "check the name, HF_ENDPOINT and the connection, or: hf auth login"
        if isinstance(error, GatedRepoError):
            remedy = "ask for access on its page, then: hf auth login, or HF_TOKEN"
        elif kept:
            remedy = f"hf download {name}{' --repo-type dataset' * (kind == 'dataset')}"
        raise UserError(f"hub:{word} cannot be fetched: {one_line(str(error), 160)}", remedy=remedy) from None
