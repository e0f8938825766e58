"""`reviewgauge fake-server`: the fake model behind a local server, which fails as often and in such ways as asked."""

from __future__ import annotations

import signal
import threading
from typing import Any

import click

from reviewgauge.api.fake_server import FakeServerResult, fake_server
from reviewgauge.cli.options import json_option, seed_option
from reviewgauge.cli.output import emit, note


@click.command("fake-server")
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="The port to listen on (default: a free one).")
@click.option("--latency", default="0", show_default=True, help="Seconds until an answer comes: 0.2, or 0.1-2.0.")
@click.option("--fail", default="", help="What goes wrong, and how often: 429:0.2,timeout:0.05,drop:first=3.")
@seed_option
@click.option("--model", default="", help="The behaviour of the model, whatever a call asks for: noisy-30, gullible.")
@click.option("--key", default=None, help="Refuse calls without this key.")
@json_option
def command(as_json: bool, **options: Any) -> None:
    """Serve the fake model over the OpenAI and the Anthropic protocol, on this machine only, until Ctrl-C.

    With --json the address goes to standard error, and the counts are printed as JSON at the end.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with fake_server(**options) as server:
        say = note if as_json else click.echo
        say(f"listening on {server.url} until Ctrl-C")
        say("a model for every verb that takes one, in the OpenAI and in the Anthropic protocol:")
        say(f"  {server.spec()}")
        say(f"  {server.spec(provider='anthropic')}")
        say(f"try: reviewgauge review sample 'prompt(model=\"{server.spec()}\")' -o runs/fake")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            stats = server.stats()
    result = FakeServerResult(
        url=server.url,
        openai=server.spec(),
        anthropic=server.spec(provider="anthropic"),
        **{name: stats[name] for name in ("calls", "answered", "peak_in_flight", "faults")},
    )
    emit(result, as_json, lambda: _summary(result))


def _summary(result: FakeServerResult) -> str:
    lines = [
        f"{result.calls:,} calls, {result.answered:,} answered, at most {result.peak_in_flight:,} at the same time"
    ]
    lines += [f"  {fault}: {count:,}" for fault, count in result.faults.items()]
    return "\n".join(lines)
