"""The HTTP connections that the SDKs' clients are given.

httpx2's pool looks through all its connections at each call, so with hundreds in flight it costs more than the call.
Several small pools side by side do not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewbench.core.errors import MissingExtra

if TYPE_CHECKING:
    import httpx2

CONNECT = 10.0  # seconds to be connected


def open_connections(address: str, in_flight: int) -> httpx2.AsyncClient:
    """An HTTP client for so many calls at once. It follows no redirects, as they would carry the key elsewhere."""
    try:
        import httpx2
    except ImportError:
        raise MissingExtra("openai", "models") from None
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=in_flight, keepalive_expiry=30)
    return httpx2.AsyncClient(limits=limits, timeout=httpx2.Timeout(None, connect=CONNECT), follow_redirects=False)
