"""Messages keep to one line, steer no terminal and give no secret away."""

from __future__ import annotations

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.core.secrets import hide_secrets
from reviewgauge.engine.run.executors import failure_of


def test_credentials_in_an_address_and_secrets_of_the_environment_are_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-0123456789")
    monkeypatch.setenv("EMPTY_TOKEN", "")
    monkeypatch.setenv("SHORT_TOKEN", "not")
    words = "https://ann:pass@host/x said: sk-0123456789 is not valid"
    assert hide_secrets(words) == "https://***@host/x said: *** is not valid"
    assert hide_secrets("ann@host and https://host/@x") == "ann@host and https://host/@x"
    for message in (str(UserError(words, remedy=words)), failure_of(ConnectionError(words)).message):
        assert "pass" not in message and "sk-0" not in message and "***@host" in message
