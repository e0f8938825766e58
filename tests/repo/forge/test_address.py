"""Where a forge is, and which token it is asked with."""

from __future__ import annotations

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.forges.github import Github
from reviewgauge.forges.gitlab import Gitlab
from reviewgauge.repo.forge.access import Address, read_token
from reviewgauge.repo.forge.api import forge_of, repositories


@pytest.mark.parametrize(("given", "found"), [
    ("", Address("https://api.github.com", "https://github.com", "https://api.github.com/graphql")),
    ("https://api.github.com/", Address("https://api.github.com", "https://github.com",
        "https://api.github.com/graphql")),
    ("https://ghe.acme.org/api/v3", Address("https://ghe.acme.org/api/v3", "https://ghe.acme.org",
        "https://ghe.acme.org/api/graphql")),
    ("https://ghe.acme.org", Address("https://ghe.acme.org/api/v3", "https://ghe.acme.org",
        "https://ghe.acme.org/api/graphql")),
    ("http://127.0.0.1:8080", Address("http://127.0.0.1:8080", "http://127.0.0.1:8080",
        "http://127.0.0.1:8080/graphql")),
])  # fmt: skip
def test_a_forge_is_found_by_the_address_of_its_api(given: str, found: Address) -> None:
    assert Github().address(given) == found


@pytest.mark.parametrize("given", [
    "ftp://x.org", "ghe.acme.org", "https://", "https://user:secret@x.org", "https://x.org/?a=b", "https://x.org/../y",
    "file:///etc",
])  # fmt: skip
def test_what_is_no_address_of_a_forge_is_refused(given: str) -> None:
    with pytest.raises(UserError) as error:
        Github().address(given)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("text", ["github:acme/shop", "acme/shop", " acme/shop.git ", "github:acme/shop/"])
def test_names_of_repositories(text: str) -> None:
    assert repositories(text, Github()) == ("", ("acme/shop",))


@pytest.mark.parametrize("text", ["shop", "a/b/c", "../..", "./x", "github:", "https://x.org/a/b"])
def test_what_names_no_repository_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="is not the name of a repository"):
        repositories(text, Github())


def test_the_token_stands_in_the_variable_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "one_token")
    monkeypatch.setenv("CI_GITHUB", " two_token\n")
    assert (read_token("GITHUB_TOKEN", "GITHUB_TOKEN"), read_token("CI_GITHUB", "GITHUB_TOKEN")) == (
        "one_token",
        "two_token",
    )
    monkeypatch.delenv("GITHUB_TOKEN")
    assert read_token("GITHUB_TOKEN", "GITHUB_TOKEN") == ""


@pytest.mark.parametrize("value", ["with a\nbreak", "one,a break", "break here", "bréak"])
def test_a_token_that_cannot_be_one_is_refused_without_showing_it(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="MY_TOKEN is not set"):
        read_token("MY_TOKEN", "GITHUB_TOKEN")
    monkeypatch.setenv("MY_TOKEN", value)
    with pytest.raises(UserError, match="MY_TOKEN holds something that is not a token") as error:
        read_token("MY_TOKEN", "GITHUB_TOKEN")
    assert "break" not in str(error.value)


@pytest.mark.parametrize(("given", "rest"), [
    ("", "https://gitlab.com/api/v4"),
    ("https://git.acme.org", "https://git.acme.org/api/v4"),
    ("https://git.acme.org:8443/api/v4/", "https://git.acme.org:8443/api/v4"),
    ("https://acme.org/gitlab", "https://acme.org/gitlab/api/v4"),
])  # fmt: skip
def test_gitlab_is_found_with_and_without_the_path_of_its_api(given: str, rest: str) -> None:
    assert Gitlab().address(given) == Address(rest, rest.removesuffix("/api/v4"))


@pytest.mark.parametrize(("source", "host", "names"), [
    ("gitlab:acme/shop", "", ("acme/shop",)),
    ("gitlab:acme/tools/shop.git", "", ("acme/tools/shop",)),
    ("gitlab:my.group/shop", "", ("my.group/shop",)),
    ("gitlab:git.acme.org/acme/tools/shop", "https://git.acme.org", ("acme/tools/shop",)),
    ("gitlab:localhost:8080/acme/shop,localhost:8080/acme/store", "https://localhost:8080", ("acme/shop",
        "acme/store")),
])  # fmt: skip
def test_a_source_names_a_host_and_projects_of_gitlab(source: str, host: str, names: tuple[str, ...]) -> None:
    assert isinstance(kind := forge_of(source), Gitlab)
    assert repositories(source, kind) == (host, names)


@pytest.mark.parametrize(("source", "says"), [
    ("gitlab:shop", "GROUP/NAME, or HOST/GROUP/SUBGROUP/NAME"),
    ("gitlab:acme/../shop", "is not the name of a repository"),
    ("gitlab:a.org/acme/shop,b.org/acme/shop", "names several hosts"),
])  # fmt: skip
def test_what_names_no_project_of_gitlab_is_refused(source: str, says: str) -> None:
    with pytest.raises(UserError) as error:
        repositories(source, Gitlab())
    assert says in str(error.value)


@pytest.mark.parametrize("source", [".", "/a/gitlab:b", "C:/work", "gitea:a/b"])
def test_other_sources_are_paths(source: str) -> None:
    assert forge_of(source) is None
