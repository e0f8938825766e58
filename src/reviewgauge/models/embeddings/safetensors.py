"""The safetensors file format, read by hand: 8 bytes of header length, a JSON header, the tensors' bytes.

Source: https://github.com/huggingface/safetensors#format.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from reviewgauge.core.errors import BadInput

Floats = npt.NDArray[np.float32]

_LONGEST_HEADER = 100_000_000  # bytes; the format's own limit
_FLOATS = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}  # bytes a number
_REMEDY = "download the file again"


def read_safetensors(file: Path) -> dict[str, Floats]:
    """The tensors of floating-point numbers, by name, as float32; others (stored position ids) are left out.

    float32 tensors are views of the file, which is mapped into memory. Raises BadInput for what is not such a file.
    """
    source = str(file)
    try:
        data: npt.NDArray[np.uint8] = np.memmap(file, dtype=np.uint8, mode="r")
    except (OSError, ValueError) as error:  # numpy refuses to map an empty file
        raise BadInput(source, f"cannot be read: {error}", remedy=_REMEDY) from None
    header, start = _header(data, source)
    tensors: dict[str, Floats] = {}
    for name, entry in header.items():
        if name != "__metadata__":
            tensor = _tensor(data, start, name, entry, source)
            if tensor is not None:
                tensors[name] = tensor
    return tensors


def _header(data: npt.NDArray[np.uint8], source: str) -> tuple[dict[str, Any], int]:
    if data.size < 8:
        raise BadInput(source, "is not a safetensors file: it ends before its header", remedy=_REMEDY)
    length = int.from_bytes(data[:8].tobytes(), "little")
    if length > _LONGEST_HEADER or 8 + length > data.size:
        raise BadInput(source, "is not a safetensors file: its header is longer than the file", remedy=_REMEDY)
    try:
        header = json.loads(data[8 : 8 + length].tobytes())
    except (ValueError, RecursionError):
        raise BadInput(source, "is not a safetensors file: its header is not JSON", remedy=_REMEDY) from None
    if not isinstance(header, dict):
        raise BadInput(source, "is not a safetensors file: its header is not JSON object", remedy=_REMEDY)
    return header, 8 + length


def _tensor(data: npt.NDArray[np.uint8], start: int, name: str, entry: object, source: str) -> Floats | None:
    try:
        kind, shape, (begin, end) = entry["dtype"], tuple(entry["shape"]), entry["data_offsets"]  # type: ignore[index]
        size = math.prod(shape) * _FLOATS.get(kind, 0)
        inside = 0 <= begin <= end <= data.size - start
    except (KeyError, TypeError, ValueError):
        raise BadInput(source, "the header entry is not readable", record=name, remedy=_REMEDY) from None
    if kind not in _FLOATS:
        return None
    if not inside or end - begin != size:
        raise BadInput(source, "the file is cut off or broken", record=name, remedy=_REMEDY)
    raw = data[start + begin : start + end]
    if begin % 4 or start % 4:
        raw = raw.copy()  # numpy reads aligned numbers only
    return _as_float32(raw, kind).reshape(shape)


def _as_float32(raw: npt.NDArray[np.uint8], kind: str) -> Floats:
    if kind == "F32":
        return raw.view("<f4")
    if kind == "BF16":  # the upper half of a float32
        return (raw.view("<u2").astype(np.uint32) << 16).view(np.float32)
    return raw.view("<f8" if kind == "F64" else "<f2").astype(np.float32)
