"""Where a forge is, and which token it is asked with."""

from __future__ import annotations

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.repo.forge.access import Address, address, read_token, repository_name


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("", Address("https://api.github.com", "https://api.github.com/graphql", "https://github.com")),
        (
            "https://api.github.com/",
            Address("https://api.github.com", "https://api.github.com/graphql", "https://github.com"),
        ),
        (
            "https://ghe.acme.org/api/v3",
            Address("https://ghe.acme.org/api/v3", "https://ghe.acme.org/api/graphql", "https://ghe.acme.org"),
        ),
        (
            "https://ghe.acme.org",
            Address("https://ghe.acme.org/api/v3", "https://ghe.acme.org/api/graphql", "https://ghe.acme.org"),
        ),
        (
            "http://127.0.0.1:8080",
            Address("http://127.0.0.1:8080", "http://127.0.0.1:8080/graphql", "http://127.0.0.1:8080"),
        ),
    ],
)
def test_a_forge_is_found_by_the_address_of_its_api(given: str, found: Address) -> None:
    assert address(given) == found


@pytest.mark.parametrize(
    "given",
    [
        "ftp://x.org",
        "ghe.acme.org",
        "https://",
        "https://user:secret@x.org",
        "https://x.org/?a=b",
        "https://x.org/../y",
        "file:///etc",
    ],
)
def test_what_is_no_address_of_a_forge_is_refused(given: str) -> None:
    with pytest.raises(UserError) as error:
        address(given)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("text", ["github:acme/shop", "acme/shop", " acme/shop.git ", "github:acme/shop/"])
def test_names_of_repositories(text: str) -> None:
    assert repository_name(text) == "acme/shop"


@pytest.mark.parametrize("text", ["", "shop", "a/b/c", "../..", "./x", "acme/sh op", "github:", "https://x.org/a/b"])
def test_what_names_no_repository_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="is not the name of a repository"):
        repository_name(text)


def test_the_token_stands_in_the_variable_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "one_token")
    monkeypatch.setenv("CI_GITHUB", " two_token\n")
    assert (read_token(), read_token("CI_GITHUB")) == ("one_token", "two_token")
    monkeypatch.delenv("GITHUB_TOKEN")
    assert read_token() == ""


@pytest.mark.parametrize("value", ["with a\nbreak", "one,a break", "break here", "bréak"])
def test_a_token_that_cannot_be_one_is_refused_without_showing_it(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="MY_TOKEN is not set"):
        read_token("MY_TOKEN")
    monkeypatch.setenv("MY_TOKEN", value)
    with pytest.raises(UserError, match="MY_TOKEN holds something that is not a token") as error:
        read_token("MY_TOKEN")
    assert "break" not in str(error.value)
