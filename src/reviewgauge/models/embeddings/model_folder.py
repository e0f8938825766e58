"""The settings in a model's folder, as sentence-transformers saves it: tokenizer, tokens read, pooling.

Source: https://sbert.net (modules.json, sentence_bert_config.json, 1_Pooling/config.json), as of releases
2 to 6. A folder that names no pooling is pooled by the mean, as sentence-transformers does.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.files import read_file

SERVE_IT = "serve it behind an OpenAI-compatible endpoint: openai:MODEL@http://HOST/v1"
CONFIG, TOKENIZER = "config.json", "tokenizer.json"
ONNX_FILES = ("onnx/model.onnx", "model.onnx")
SAFETENSORS = "model.safetensors"
_POOLINGS = ("mean", "cls", "max")
_LEGACY = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
_MODULES = ("Transformer", "Pooling", "Normalize")
_UNSET = 1_000_000  # tokenizers write 1e30 for "no limit"


@dataclass(frozen=True)
class EncoderSettings:
    """How the model in a folder is to be used.

    `longest` is how many tokens of a text a sentence vector reads, `limit` how many the network has room for.
    """

    config: Mapping[str, Any]
    pooling: str
    longest: int
    limit: int
    lower: bool


def read_settings(folder: Path) -> EncoderSettings:
    """The settings of the model in `folder`. Raises UserError for what is missing or is not understood."""
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder", remedy="an embedding model is a folder with tokenizer.json")
    config = _read(folder / CONFIG)
    if config is None:
        raise UserError(f"{folder} holds no {CONFIG}", remedy="an embedding model's folder has one")
    if not (folder / TOKENIZER).is_file():
        remedy = "save it with transformers' AutoTokenizer.from_pretrained(...).save_pretrained(...)"
        raise UserError(f"{folder} holds no tokenizer: {TOKENIZER} is missing", remedy=remedy)
    _refuse_prompt(folder)
    sentence = _read(folder / "sentence_bert_config.json") or {}
    tokenizer = _read(folder / "tokenizer_config.json") or {}
    room = _positions(config)
    own = _whole(tokenizer.get("model_max_length"))
    limit = min(value for value in (room, own or room) if value)
    longest = _whole(sentence.get("max_seq_length")) or limit
    return EncoderSettings(
        config=config,
        pooling=_pooling(folder),
        longest=min(longest, room),
        limit=max(limit, min(longest, room)),
        lower=bool(sentence.get("do_lower_case")),
    )


def fingerprint(folder: Path, settings: EncoderSettings, weights: Sequence[Path]) -> str:
    """SHA-256 (hex) over the weights, the tokenizer and how they are used: equal numbers come from equal ones."""
    digest = hashlib.sha256()
    for file in (*weights, folder / TOKENIZER):
        digest.update(file_digest(file).encode())
    config = {key: value for key, value in settings.config.items() if key in _SHAPING}
    used = [settings.pooling, settings.longest, settings.lower, config]
    digest.update(json.dumps(used, sort_keys=True).encode())
    return digest.hexdigest()


_SHAPING = ("num_attention_heads", "layer_norm_eps", "hidden_act", "model_type")  # what the weights do not tell


def file_digest(file: Path) -> str:
    """The SHA-256 of a file, in hex."""
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror or error}") from None


def _read(file: Path) -> Any:
    """The JSON object (or list) in `file`, None where there is no such file."""
    try:
        found = json.loads(read_file(file))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise BadInput(str(file), "is not JSON", remedy="download the model again") from None
    wanted = list if file.name == "modules.json" else dict
    if not isinstance(found, wanted):
        raise BadInput(str(file), f"is not a JSON {'list' if wanted is list else 'object'}")
    return found


def _whole(value: object) -> int:
    """A valid length, else 0."""
    valid = isinstance(value, int | float) and not isinstance(value, bool) and 2 < value < _UNSET
    return int(value) if valid else 0  # type: ignore[call-overload]


def _positions(config: Mapping[str, Any]) -> int:
    room = _whole(config.get("max_position_embeddings")) or _UNSET
    # RoBERTa and its kin, MPNet among them, keep two rows for padding
    kept = 2 if str(config.get("model_type")) in ("roberta", "xlm-roberta", "camembert", "mpnet") else 0
    return room - kept


def _refuse_prompt(folder: Path) -> None:
    found = _read(folder / "config_sentence_transformers.json") or {}
    name = found.get("default_prompt_name")
    if name and (found.get("prompts") or {}).get(name):
        raise UserError(f"{folder}: the model puts the prompt {name!r} before texts", remedy=SERVE_IT)


def _pooling(folder: Path) -> str:
    modules = _read(folder / "modules.json")
    pooling = "1_Pooling"
    if modules is not None:
        for module in modules:
            kind = str(module.get("type", "")).rpartition(".")[2] if isinstance(module, dict) else str(module)
            if kind not in _MODULES:
                raise BadInput(str(folder / "modules.json"), f"the module {kind!r} is not known", remedy=SERVE_IT)
            if kind == "Pooling":
                pooling = str(module.get("path") or pooling)
    found = _read(folder / pooling / CONFIG)
    if found is None:
        return "mean"
    mode = found.get("pooling_mode") or [word for key, word in _LEGACY.items() if found.get(key)] or "mean"
    modes = [mode] if isinstance(mode, str) else list(mode)
    if len(modes) != 1 or modes[0] not in _POOLINGS:
        raise BadInput(
            str(folder / pooling / CONFIG),
            f"pooling by {' and '.join(map(str, modes))} is not one of {', '.join(_POOLINGS)}",
            remedy=SERVE_IT,
        )
    return str(modes[0])
