"""A run is killed again and again beside a failing server: what it promises, and the drill with a promise broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from fault_drill import Setting, drill

pytestmark = [pytest.mark.processes, pytest.mark.drill]


@pytest.mark.parametrize("verb", ["review", "score"])
def test_killed_again_and_again_it_loses_nothing_and_pays_nothing_twice(verb: str, tmp_path: Path) -> None:
    found = drill(Setting(verb=verb, cases=16, kills=2), tmp_path)
    assert found.broken == []
    assert found.kills == 2
    assert found.results + sum(found.failures.values()) == 16
    assert found.repeated <= 2 * 16
    assert found.useless >= found.failures.get("refusal", 0) + found.failures.get("budget", 0)
    assert sum(found.faults.values()) > 0.25 * found.calls, "the server failed too seldom for a drill"
    assert set(found.failures) <= {"refusal", "budget", "request", "unreadable", "network", "timeout"}


def test_the_drill_notices_calls_that_are_made_again(tmp_path: Path) -> None:
    """With the cache taken away at each kill, answers that were paid for are paid for again, and it says so."""
    found = drill(Setting(cases=32, kills=5, in_flight=4, fail="", forget=True), tmp_path)
    signs = ("committed calls", "given again", "paid more than once")
    assert any(sign in line for line in found.broken for sign in signs), found.broken
