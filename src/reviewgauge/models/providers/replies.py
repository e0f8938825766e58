"""What an answer of an endpoint says, whatever its protocol, and the careful reading that both protocols need."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from reviewgauge.models.providers.errors import Broken
from reviewgauge.models.providers.rate_limits import Trouble
from reviewgauge.models.request.messages import ToolCall

FAKE = "reviewgauge-fake"  # how the fake model's name and fingerprint begin
_SURROGATE = re.compile("[\ud800-\udfff]")  # half characters, which no encoding can hold
_MOST = 2**53


class ProviderReply(NamedTuple):
    """An answer as read. `tokens_in` and `tokens_out` are None where the endpoint does not count them.

    `refusal` and `cut` say why it is not a whole answer, in the endpoint's words; `thought` are the tokens of
    `tokens_out` that went into reasoning, as far as it says.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    thought: int = 0
    refusal: str = ""
    cut: str = ""
    fake: bool = False


def read_json(body: bytes) -> dict[str, Any]:
    """The JSON object in a body. Raises Broken where it is none: not UTF-8, cut off, another page."""
    try:
        found = json.loads(body.decode())
    except UnicodeDecodeError:
        raise Broken("the answer is not UTF-8", Trouble.GARBLED) from None
    except (ValueError, RecursionError):
        raise Broken(
            "the answer is not JSON, or cut off" if body.strip() else "the answer is empty", Trouble.GARBLED
        ) from None
    if not isinstance(found, dict):
        raise Broken("the answer is not what the protocol says", Trouble.GARBLED)
    return found


def words(value: object) -> str:
    """A text from an answer, without half characters; "" for anything else."""
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value)


def count(where: object, *path: str) -> int | None:
    """A number of tokens; None where there is none that can be true."""
    for name in path:
        where = where.get(name) if isinstance(where, Mapping) else None
    if isinstance(where, bool) or not isinstance(where, int | float) or not 0 <= where < _MOST:
        return None
    return int(where)


def is_fake(*names: object) -> bool:
    """Whether one of the names that an endpoint gives is the fake model's."""
    return any(isinstance(name, str) and name.startswith(FAKE) for name in names)


def whole_seed(seed: int, attempt: int) -> int:
    """The seed of a repeat: repeats that share a seed would be one answer."""
    return seed + attempt - 1
