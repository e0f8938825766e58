"""POST JSON to an endpoint over aiohttp. Answers are bounded, redirects are not followed, and no cookies are kept."""

from __future__ import annotations

import json
import os
import platform
import ssl
import urllib.request
from collections.abc import Mapping
from typing import Any, NamedTuple

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError
from yarl import URL

from reviewgauge.core.errors import one_line
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.core.secrets import hide_secrets
from reviewgauge.models.http.limits import Trouble
from reviewgauge.models.http.replies import RetryableError

MOST_CHUNKS = 20_000  # in one answer; each costs processor time, which all calls share
CONNECT = 10.0  # seconds to connect
IDLE = 30.0  # seconds after which a connection is not used again

_open: set[HttpClient] = set()  # never freed while open: freeing them in a fork would break the parent's connections


class HttpReply(NamedTuple):
    """An answer with its body unpacked. `headers` are looked up in any case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class HttpClient:
    """Calls to one address, as many at once as there are. Used on one event loop; close it there."""

    def __init__(self, url: str, headers: Mapping[str, str], largest: int) -> None:
        self.url, self._largest = url, largest
        _open.add(self)
        self._proxy = _proxy_of(URL(url))
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE, ssl=_trusted(url)),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": "reviewgauge", "Content-Type": "application/json", **headers},
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT),  # the caller sets the deadline
        )

    async def post(self, path: str, body: Mapping[str, Any]) -> HttpReply:
        """The answer, whatever its status. Raises RetryableError without one, Failed where another try is useless."""
        try:
            async with self._session.post(
                f"{self.url}{path}", data=json.dumps(body).encode(), proxy=self._proxy, allow_redirects=False
            ) as response:
                return HttpReply(response.status, response.headers, await self._read(response))
        except aiohttp.ClientConnectorCertificateError:
            raise Failed(
                FailureKind.NETWORK,
                f"{self.url}: its TLS certificate is not trusted",
                remedy="if you trust it, set SSL_CERT_FILE to a PEM file with the certificate or its authority",
                stops=True,
            ) from None
        except (aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError, aiohttp.ConnectionTimeoutError) as error:
            raise RetryableError(f"{self.url} cannot be reached: {_reason(error)}", Trouble.UNREACHED) from None
        except (aiohttp.ClientError, OSError) as error:
            raise RetryableError(f"{self.url}: the connection broke: {_reason(error)}", Trouble.DROPPED) from None

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        """The body. Raises RetryableError for one that is too large, or comes in too many chunks."""
        body, chunks = bytearray(), 0
        if (response.content_length or 0) > self._largest:
            raise self._too_large()
        async for part, ends_chunk in response.content.iter_chunks():
            body += part
            chunks += ends_chunk
            if len(body) > self._largest:
                raise self._too_large()
            if chunks > MOST_CHUNKS:
                raise RetryableError(f"{self.url}: the answer comes in too many pieces", Trouble.DROPPED)
        return bytes(body)

    def _too_large(self) -> RetryableError:
        return RetryableError(f"{self.url}: the answer is over {self._largest:,} bytes", Trouble.DROPPED)

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()
        _open.discard(self)


def _trusted(url: str) -> ssl.SSLContext | bool:
    """The authorities to trust: those of SSL_CERT_FILE and SSL_CERT_DIR, else those of the system."""
    if not url.startswith("https"):
        return True
    own = os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR")
    if not own and platform.system() in ("Windows", "Darwin"):
        import truststore

        return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return ssl.create_default_context()


def _proxy_of(url: URL) -> str | None:
    """The proxy that the environment names for an address."""
    proxies = urllib.request.getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    return None if not proxy or urllib.request.proxy_bypass(url.host or "") else proxy


def _reason(error: Exception) -> str:
    for problem in (error, error.__cause__, error.__context__):  # a payload that breaks off carries what broke it
        if isinstance(problem, aiohttp.ClientResponseError | HttpProcessingError):
            return f"the answer is not valid HTTP: {one_line(hide_secrets(problem.message), 120)}"
    return one_line(hide_secrets(str(error) or type(error).__name__), 160)
