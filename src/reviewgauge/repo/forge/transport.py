"""One HTTP exchange with a forge: no redirects, no retries, never more than a fixed size."""

from __future__ import annotations

import time
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from reviewgauge.core.errors import MissingExtra, one_line

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse, PoolManager

LARGEST = 32 * 1024**2  # bytes of one answer, unpacked; a page of 100 pull requests is about 2 MB
CONNECT, SILENCE, WHOLE = 10.0, 60.0, 300.0  # seconds to connect, without a byte, and for the whole answer
_PIECE = 64 * 1024


class Broken(Exception):
    """One try failed in a way that another may not."""


class Unreached(Broken):
    """Nothing answers there, or there is no way to it."""


class TooLarge(Exception):
    """The answer is over the limit; another try would be as well."""


class ForgeResponse(NamedTuple):
    """An answer. The names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """Connections to one host."""

    def __init__(self, root: str, largest: int = LARGEST, silence: float = SILENCE) -> None:
        self._largest, self._silence = largest, silence
        self._pool = _pool(root)

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None) -> ForgeResponse:
        """One answer, whatever its status. Raises Broken and TooLarge."""
        import urllib3

        try:
            answer = self._pool.request(
                method,
                url,
                headers=dict(headers),
                body=body,
                redirect=False,
                retries=False,
                preload_content=False,
                timeout=urllib3.Timeout(connect=CONNECT, read=self._silence),
            )
            try:
                content = self._read(answer)
            except BaseException:
                answer.close()
                raise
            answer.release_conn()
        except (urllib3.exceptions.NewConnectionError, urllib3.exceptions.ConnectTimeoutError) as error:
            raise Unreached(f"cannot reach it: {_said(error)}") from None
        except urllib3.exceptions.SSLError as error:
            raise Unreached(f"its certificate is not accepted: {_said(error)}") from None
        except urllib3.exceptions.TimeoutError:
            raise Broken(f"no answer within {self._silence:.0f} s") from None
        except urllib3.exceptions.HTTPError as error:
            raise Broken(f"the connection broke: {_said(error)}") from None
        return ForgeResponse(answer.status, {name.lower(): value for name, value in answer.headers.items()}, content)

    def _read(self, answer: BaseHTTPResponse) -> bytes:
        began = time.monotonic()
        content = bytearray()
        while piece := answer.read(_PIECE, decode_content=True):
            content += piece
            if len(content) > self._largest:
                raise TooLarge(f"its answer is over {self._largest:,} bytes")
            if time.monotonic() - began > WHOLE:
                raise Broken(f"the answer takes longer than {WHOLE:.0f} s")
        return bytes(content)

    def close(self) -> None:
        """Close the connections."""
        self._pool.clear()


def _pool(root: str) -> PoolManager:
    try:
        import urllib3
    except ImportError:
        raise MissingExtra("urllib3, which asks forges,", "build") from None
    parts = urllib.parse.urlsplit(root)
    proxies = urllib.request.getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if proxy and not urllib.request.proxy_bypass(parts.hostname or ""):
        return urllib3.ProxyManager(proxy, maxsize=2)
    return urllib3.PoolManager(maxsize=2)


def _said(error: Exception) -> str:
    return one_line(str(error).rpartition(": ")[2] or type(error).__name__, 160)
