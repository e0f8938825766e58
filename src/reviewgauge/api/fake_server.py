"""`reviewgauge fake-server`: the fake model behind a local server, which fails as often and in such ways as asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from reviewgauge.core.base import Record

if TYPE_CHECKING:
    from reviewgauge.models.fake.server import FakeServer


class FakeServerResult(Record):
    """What a server that has ended was asked. `answered` counts whole answers; `faults` counts the calls that met one.

    `openai` and `anthropic` are the specs by which its model was reached.
    """

    schema_version: int = 1
    url: str
    openai: str
    anthropic: str
    calls: int
    answered: int
    peak_in_flight: int
    faults: Mapping[str, int]


def fake_server(
    *,
    fail: str = "",
    latency: str | float = 0.0,
    seed: int = 0,
    model: str = "",
    key: str | None = None,
    port: int = 0,
) -> FakeServer:
    """A local server with the fake model behind it, as a context: `with fake_server(fail="429:0.2") as server`.

    `server.spec()` names its model, `server.stats()` counts what it was asked. `fail`: see
    docs/reference/fake.md. `latency` is in seconds, also as `"0.1-2.0"`.
    """
    from reviewgauge.models.fake.server import FakeServer

    return FakeServer(fail=fail, latency=latency, seed=seed, model=model, key=key, port=port)
