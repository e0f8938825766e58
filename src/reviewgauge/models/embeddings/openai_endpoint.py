"""Embeddings by any OpenAI-compatible endpoint: `openai:MODEL` or `openai:MODEL@http://HOST/v1`.

The key is read from OPENAI_API_KEY at each call and written nowhere; without a key none is sent. Over plain http it
is sent to this machine alone. Redirects are not followed, as they would carry the key elsewhere.
Source: https://platform.openai.com/docs/api-reference/embeddings.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import random
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from functools import cached_property
from http import HTTPStatus
from typing import Any, NamedTuple

import numpy as np

from reviewgauge.core.backoff import retry_after
from reviewgauge.core.errors import UserError, hide_secrets, one_line
from reviewgauge.core.records import Usage
from reviewgauge.models.cache.vector_cache import VectorCache
from reviewgauge.models.chat.client import is_offline
from reviewgauge.models.embeddings.embedder import Embedder, Floats, Refused
from reviewgauge.models.providers.endpoints import sendable

OFFICIAL = "https://api.openai.com/v1"
TIMEOUT = 60.0  # seconds without an answer
ATTEMPTS = 6
LONGEST_WAIT = 60.0  # seconds between two attempts
_TEXTS_AT_ONCE = 128
_CHARACTERS_AT_ONCE = 100_000  # in one call; the official endpoint reads 300,000 tokens
_LARGEST = 256 * 1024**2  # bytes of one answer
_AGAIN = (408, 409, 425, 429, 500, 502, 503, 504, 529)
_LOCAL = ("localhost", "127.0.0.1", "::1")


class _Broken(Exception):
    """One attempt failed in a way that another may not. `wait` is what the server asks for, in seconds."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class _Refused(Exception):
    """The endpoint will not take this call (400, 413, 422)."""


class _Address(NamedTuple):
    url: str
    sends_key: bool


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class EndpointEmbedder(Embedder):
    """A model behind an address. `patience` is the first wait between attempts, in seconds; it doubles."""

    def __init__(self, name: str, rest: str, cache: VectorCache | None = None, *, patience: float = 1.0) -> None:
        super().__init__(name, cache)
        self.model, _, given = rest.partition("@")
        if not self.model:
            raise UserError(f"{name} names no model", remedy="write openai:MODEL or openai:MODEL@http://HOST/v1")
        self._address = _address(given or os.environ.get("OPENAI_BASE_URL") or OFFICIAL)
        self._patience = patience
        self._calls, self._tokens, self._seconds = 0, 0, 0.0
        self._size = 0
        self._opener = urllib.request.build_opener(_NoRedirects)

    @property
    def fingerprint(self) -> str:
        """A hash of address and model. Nobody can tell from here whether the weights behind them stay the same."""
        return hashlib.sha256(f"{self._address.url}\n{self.model}".encode()).hexdigest()

    @cached_property
    def dimensions(self) -> int:
        """See `Embedder.dimensions`. Costs a call where nothing was embedded yet."""
        return self._size or self.vectors(["dimensions"]).shape[1]

    @property
    def usage(self) -> Usage:
        """Calls, tokens as the endpoint counts them, and seconds spent waiting for it."""
        return Usage(calls=self._calls, tokens_in=self._tokens, seconds=self._seconds)

    def _encode(self, texts: Sequence[str]) -> Floats:
        """A blank text is not sent, as endpoints refuse it: its vector is all zeros."""
        sent = [row for row, text in enumerate(texts) if text.strip()]
        found: dict[int, Floats] = {}
        refusals: list[str] = []
        for rows in _calls(texts, sent):
            for row, answer in zip(rows, self._embed([texts[row] for row in rows]), strict=True):
                if isinstance(answer, str):
                    refusals.append(answer)
                else:
                    found[row] = answer
        if refusals:
            raise Refused(refusals[0], {texts[row]: vector for row, vector in found.items()})
        nothing = np.zeros(self._size or self.dimensions, dtype=np.float32)
        return np.stack([found.get(row, nothing) for row in range(len(texts))])

    def _embed(self, texts: Sequence[str]) -> list[Floats | str]:
        """The vectors of one call, in place of each the endpoint's reason where it refuses that text.

        A refused call does not say which text is at fault, so each is sent alone. Raises UserError where several
        were sent and all are refused.
        """
        try:
            return list(self._persist(texts))
        except _Refused as refusal:
            reason = str(refusal)
        if len(texts) == 1:
            return [f"{self.name} refuses a text of {len(texts[0]):,} characters: {reason}"]
        found = [self._embed([text])[0] for text in texts]
        if all(isinstance(answer, str) for answer in found):
            raise UserError(f"{self.name} refuses every text: {reason}")
        return found

    def _persist(self, texts: Sequence[str]) -> list[Floats]:
        """As many attempts as it takes, at most ATTEMPTS."""
        body = json.dumps({"model": self.model, "input": list(texts), "encoding_format": "float"}).encode()
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._read(self._call(body), len(texts))
            except _Broken as broken:
                if attempt == ATTEMPTS:
                    raise UserError(
                        f"{self.name}: gave up after {ATTEMPTS} attempts: {broken}",
                        remedy="run it again later: what was embedded is kept",
                    ) from None
                backoff = self._patience * 2 ** (attempt - 1) * random.uniform(0.75, 1.25)
                time.sleep(min(LONGEST_WAIT, backoff if broken.wait is None else broken.wait))
        raise AssertionError("unreachable")

    def _call(self, body: bytes) -> bytes:
        headers = {"Content-Type": "application/json", "User-Agent": "reviewgauge"}
        if is_offline():
            raise UserError(
                f"{self.name} is not asked: this is done offline", remedy="score the run yourself to ask it"
            )
        key = os.environ.get("OPENAI_API_KEY", "").strip()
        if key and self._address.sends_key:
            headers["Authorization"] = f"Bearer {sendable('OPENAI_API_KEY', key)}"
        request = urllib.request.Request(self._address.url + "/embeddings", data=body, headers=headers)
        began = time.monotonic()
        self._calls += 1
        try:
            with self._opener.open(request, timeout=TIMEOUT) as answer:
                content: bytes = answer.read(_LARGEST + 1)
        except urllib.error.HTTPError as error:
            with error:
                self._raise_for(error)
        except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as error:
            raise _Broken(f"cannot reach it: {one_line(str(getattr(error, 'reason', error)), 120)}") from None
        finally:
            self._seconds += time.monotonic() - began
        if len(content) > _LARGEST:
            raise UserError(f"{self.name}: the answer is over {_LARGEST:,} bytes")
        return content

    def _raise_for(self, error: urllib.error.HTTPError) -> None:
        """Raise what an answer with an error status means."""
        said = one_line(hide_secrets(_message(error.read(65_536))), 200)
        words = f"{error.code} {one_line(str(error.reason), 60)}{': ' if said else ''}{said}"
        if error.code in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            remedy = "set OPENAI_API_KEY" if self._address.sends_key else "it takes https for the key to be sent"
            raise UserError(f"{self.name}: {words}", remedy=remedy) from None
        if error.code == HTTPStatus.TOO_MANY_REQUESTS and "insufficient_quota" in said:
            raise UserError(f"{self.name}: {words}", remedy="the account has no credit left") from None
        if error.code in _AGAIN:
            raise _Broken(words, retry_after({name.lower(): value for name, value in error.headers.items()})) from None
        if error.code in (400, 413, 422):
            raise _Refused(words) from None
        raise UserError(f"{self.name}: {words}", remedy="check the model's name and the address") from None

    def _read(self, content: bytes, wanted: int) -> list[Floats]:
        """The vectors in an answer, by their `index`. Raises _Broken where it is not what it should be."""
        try:
            answer = json.loads(content)
            with np.errstate(over="ignore"):  # what is too large for a float32 becomes infinite, and is refused below
                rows = {int(row["index"]): np.array(row["embedding"], dtype=np.float32) for row in answer["data"]}
            tokens = int((answer.get("usage") or {}).get("total_tokens") or 0)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
            raise _Broken("the answer is not the JSON that it should be") from None
        if sorted(rows) != list(range(wanted)) or len(answer["data"]) != wanted:
            raise _Broken(f"the answer holds {len(answer['data'])} vectors that are not the {wanted} asked for")
        if any(row.ndim != 1 or not row.size or not np.isfinite(row).all() for row in rows.values()):
            raise _Broken("the answer holds vectors that are not lists of finite numbers")
        sizes = {row.size for row in rows.values()} | ({self._size} if self._size else set())
        if len(sizes) > 1:
            raise UserError(f"{self.name} gave vectors of {' and '.join(map(str, sorted(sizes)))} numbers")
        self._size = sizes.pop()
        self._tokens += tokens
        return [rows[row] for row in range(wanted)]


def _address(given: str) -> _Address:
    parts = urllib.parse.urlsplit(given)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UserError(f"{given} is not an http or https address", remedy="write openai:MODEL@http://HOST/v1")
    if parts.username or parts.password or parts.query:
        raise UserError(
            "the address of an endpoint stands in manifests and reports, and holds more than host and path",
            remedy="put the key into OPENAI_API_KEY",
        )
    return _Address(given.rstrip("/"), parts.scheme == "https" or parts.hostname in _LOCAL)


def _calls(texts: Sequence[str], rows: Sequence[int]) -> list[list[int]]:
    """`rows` in runs that one call can hold."""
    calls: list[list[int]] = []
    room, characters = 0, 0
    for row in rows:
        size = len(texts[row])
        if not calls or not room or characters + size > _CHARACTERS_AT_ONCE:
            calls.append([])
            room, characters = _TEXTS_AT_ONCE, 0
        calls[-1].append(row)
        room, characters = room - 1, characters + size
    return calls


def _message(content: bytes) -> str:
    """What an error answer says, with its code where it has one."""
    try:
        error = json.loads(content)["error"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return content.decode("utf-8", "replace")
    if not isinstance(error, dict):
        return str(error)
    return " ".join(str(error[key]) for key in ("code", "message") if error.get(key))
