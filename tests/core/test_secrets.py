"""Credentials never reach an output: by name, form, randomness, and place in an address."""

from __future__ import annotations

from base64 import b64encode

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.core.secrets import hide_in, hide_secrets, is_secret, secret_in
from reviewgauge.engine.run.executors import failure_of

RANDOM = "q7RtX2mVb9KpL4sWz8Hn3Yc"


@pytest.mark.parametrize("value", [
    "sk-proj-abcdefghijklmnop1234", "ghp_0123456789abcdefghijABCDEFGHIJ", "glpat-abcdefghij0123456789",
    "AKIAIOSFODNN7EXAMPLE",    "hf_abcdefghijklmnopqrstuvwxyz", "xoxb-123456789012-abcdef",
    "gsk_abcdefghijklmnopqrstuvwx",
])  # fmt: skip
def test_a_form_tells_whatever_the_name_and_wherever_it_stands(value: str) -> None:
    assert is_secret("HARMLESS", value)
    assert value not in hide_secrets(f"a header held {value}, it says")


NAMES = "OPENAI_API_KEY OPENAI_API_KEY_2 GH_PAT DB_PASS MY_TOKEN_STAGING REDIS_AUTH apikey SENTRY_DSN"
SECRET = [(name, "hunter2-and-more") for name in NAMES.split()] + [("X", RANDOM), ("MY_SERVICE", RANDOM)]
PUBLIC = [
    ("GITHUB_SHA", "0123456789abcdef0123456789abcdef01234567"), ("COMMIT", "0123456789abcdef0123456789abcdef01234567"),
    ("PATH", "/usr/local/bin:/usr/bin"), ("PWD", "/home/me/project"), ("OLDPWD", "/home/me"), ("LANG", "en_US.UTF-8"),
    ("HOSTNAME", RANDOM), ("EDITOR", "vim"), ("SSH_AUTH_SOCK", "/tmp/ssh-x/agent.1"), ("VERSION", "1.2.3"),
    ("KEYBOARD", "english-us-international"), ("AUTHOR", "somebody with a long name"), ("RUN", "2026-11-22T10:00:00Z"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), [*SECRET, *PUBLIC])
def test_a_name_or_randomness_tells_and_what_may_stand_in_any_text_is_left(name: str, value: str) -> None:
    assert is_secret(name, value) == ((name, value) in SECRET)


def test_values_are_masked_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GH_PAT", "hunter2-and-more")
    assert secret_in("x hunter2-and-more y") == "GH_PAT"
    assert "hunter2" not in str(UserError("it said hunter2-and-more"))
    assert hide_in({"a": ["hunter2-and-more", 1, None], "hunter2-and-more": True}) == {
        "a": ["***", 1, None],
        "***": True,
    }


@pytest.mark.parametrize("user", ["", ":", "x:", "me:", "x-access-token:"])
def test_a_key_in_a_basic_authentication_header_is_masked(monkeypatch: pytest.MonkeyPatch, user: str) -> None:
    monkeypatch.setenv("GH_PAT", "hunter2-and-more")
    for whole in (f"{user}hunter2-and-more", f"{user}hunter2-and-more:", f"{user}hunter2-and-more:tail"):
        coded = b64encode(whole.encode()).decode()
        said = hide_secrets(f"Authorization: Basic {coded}")
        assert "***" in said and len(said) < len(f"Authorization: Basic {coded}") - 14
        left = said.partition("Basic ")[2].partition("***")[2].rstrip("=")
        assert len(left) <= 8 or "tail" in whole


@pytest.mark.parametrize(("text", "masked"), [
    ("https://me:pw@host/x", "https://***@host/x"),
    ("https://host/v1?key=SECRET", "https://host/v1?key=***"),
    ("https://host/v1?k=a&page=2#part", "https://host/v1?k=***&page=2#part"),
    ("openai:m@http://h/v1?temperature=0.7&top_p=1", "openai:m@http://h/v1?temperature=0.7&top_p=1"),
    ("see https://host/a?b (it says)", "see https://host/a?*** (it says)"),
])  # fmt: skip
def test_addresses(text: str, masked: str) -> None:
    assert hide_secrets(text) == masked


def test_credentials_in_an_address_and_secrets_of_the_environment_are_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-0123456789")
    monkeypatch.setenv("EMPTY_TOKEN", "")
    monkeypatch.setenv("SHORT_TOKEN", "not")
    words = "https://ann:pass@host/x said: sk-0123456789 is not valid"
    assert hide_secrets(words) == "https://***@host/x said: *** is not valid"
    assert hide_secrets("ann@host and https://host/@x") == "ann@host and https://host/@x"
    for message in (str(UserError(words, remedy=words)), failure_of(ConnectionError(words)).message):
        assert "pass" not in message and "sk-0" not in message and "***@host" in message
