"""HTTP by urllib3: one exchange with a forge, without redirects or retries, bounded in size and time."""

from __future__ import annotations

import time
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import NamedTuple

import urllib3

from reviewgauge.core.errors import one_line

LARGEST = 32 * 1024**2  # bytes of one answer, unpacked; a page of 100 pull requests is about 2 MB
CONNECT, SILENCE, WHOLE = 10.0, 60.0, 300.0  # seconds to connect, without a byte, and for the whole answer
_PIECE = 64 * 1024


class Clock:
    """The clock of this machine; tests replace it to wait for hours in no time."""

    def now(self) -> float:
        """Seconds since 1970."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(max(0.0, seconds))


class Broken(Exception):
    """One try failed in a way that another may not."""


class Unreached(Broken):
    """Nothing answers at the address, or the network does not lead there."""


class TooLarge(Exception):
    """The answer is over the size limit; another try would be as well."""


class ForgeResponse(NamedTuple):
    """An answer. The names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """Connections to one host."""

    def __init__(self, root: str, largest: int = LARGEST, silence: float = SILENCE) -> None:
        self._largest, self._silence = largest, silence
        self._pool = connection_pool(root)

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None) -> ForgeResponse:
        """One answer, whatever its status. Raises Broken and TooLarge."""
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
            raise Unreached(f"cannot reach it: {network_problem(error)}") from None
        except urllib3.exceptions.SSLError as error:
            raise Unreached(f"its TLS certificate is not trusted: {network_problem(error)}") from None
        except urllib3.exceptions.TimeoutError:
            raise Broken(f"no answer within {self._silence:.0f} s") from None
        except urllib3.exceptions.HTTPError as error:
            raise Broken(f"the connection broke: {network_problem(error)}") from None
        return ForgeResponse(answer.status, {name.lower(): value for name, value in answer.headers.items()}, content)

    def _read(self, answer: urllib3.BaseHTTPResponse) -> bytes:
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


def connection_pool(url: str) -> urllib3.PoolManager:
    """Connections to the host of `url`, through the proxy that the environment names for it."""
    parts = urllib.parse.urlsplit(url)
    proxies = urllib.request.getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if proxy and not urllib.request.proxy_bypass(parts.hostname or ""):
        return urllib3.ProxyManager(proxy, maxsize=2)
    return urllib3.PoolManager(maxsize=2)


def network_problem(error: Exception) -> str:
    """The cause of a failed connection, in one line."""
    return one_line(str(error).rpartition(": ")[2] or type(error).__name__, 160)
