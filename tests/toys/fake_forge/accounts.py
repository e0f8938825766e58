"""Accounts and repositories as the REST API writes them."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from fake_forge.script import Project

Json = dict[str, Any]
GONE = "ghost"
OWNERS = {"mel": "MEMBER", "bob": "MEMBER", "ann": "CONTRIBUTOR", "cy": "CONTRIBUTOR"}


def stamp(when: datetime | None) -> str | None:
    """A time as GitHub writes it."""
    return None if when is None else when.strftime("%Y-%m-%dT%H:%M:%SZ")


def number_of(*parts: str) -> int:
    """A stable id."""
    return 1_000_000 + zlib.crc32("\x1f".join(parts).encode()) % 900_000_000


def user(login: str) -> Json:
    """A simple user; an app is of type Bot."""
    slug = login.removesuffix("[bot]")
    return {
        "login": login,
        "id": number_of("user", login),
        "node_id": f"U_{number_of('user', login)}",
        "avatar_url": f"https://avatars.example.invalid/u/{number_of('user', login)}?v=4",
        "gravatar_id": "",
        "url": f"https://api.github.com/users/{login}",
        "html_url": f"https://github.com/{'apps/' + slug if slug != login else login}",
        "type": "Bot" if login.endswith("[bot]") else "User",
        "user_view_type": "public",
        "site_admin": False,
    }


def speaker(login: str) -> Json | None:
    """Who wrote a review or a comment on code: null for an account that is gone."""
    return None if login == GONE else user(login)


def association(login: str) -> str:
    """GitHub's `author_association`."""
    return OWNERS.get(login, "NONE")


def reactions(url: str, thumbs: int) -> Json:
    """Counts of reactions."""
    kinds = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")
    return {"url": f"{url}/reactions", "total_count": thumbs, **{k: thumbs if k == "+1" else 0 for k in kinds}}


def repository(project: Project, root: str, main_language: str) -> Json:
    """A repository as `/repos/O/N` tells of it."""
    owner, name = project.name.split("/")
    url = f"{root}/repos/{project.name}"
    return {
        "id": number_of("repo", project.name),
        "node_id": f"R_{number_of('repo', project.name)}",
        "name": name,
        "full_name": project.name,
        "private": False,
        "owner": {**user(owner), "type": "Organization"},
        "html_url": f"https://github.com/{project.name}",
        "description": project.description,
        "fork": False,
        "url": url,
        "languages_url": f"{url}/languages",
        "pulls_url": f"{url}/pulls{{/number}}",
        "created_at": "2019-03-01T10:00:00Z",
        "updated_at": "2025-03-01T10:00:00Z",
        "pushed_at": "2025-03-01T10:00:00Z",
        "clone_url": f"https://github.com/{project.name}.git",
        "size": 1234,
        "stargazers_count": project.stars,
        "watchers_count": project.stars,
        "language": main_language,
        "has_issues": True,
        "archived": False,
        "disabled": False,
        "license": {"key": "apache-2.0", "name": "Apache License 2.0", "spdx_id": "Apache-2.0", "url": None},
        "allow_forking": True,
        "topics": [],
        "visibility": "public",
        "forks_count": 7,
        "open_issues_count": 3,
        "default_branch": "main",
        "subscribers_count": 12,
    }


def main_language(languages: Mapping[str, int]) -> str:
    """The language with most bytes."""
    return max(languages, key=lambda name: languages[name], default="")
