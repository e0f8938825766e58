"""What a forge says of repositories that may be chosen: stars, activity, languages, how much was filed.

`version` names the state of the world that is asked about: what was answered for it is not asked again, so a choice
that was killed goes on with the lists it had.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from reviewgauge.core.building import RepositoryCandidate
from reviewgauge.core.errors import UserError
from reviewgauge.core.json_reader import flag, node, number, text
from reviewgauge.repo.forge.access import repository_name
from reviewgauge.repo.forge.client import Forge

_MOST = 1000  # results that a search gives


def most_starred(forge: Forge, language: str, top: int, version: str) -> Iterator[RepositoryCandidate]:
    """The `top` repositories of a language with most stars. Forks and archived ones are none of them."""
    words = f'language:"{language}" stars:>100 fork:false archived:false'
    asked = {"q": words, "sort": "stars", "order": "desc"}
    for item in islice(forge.pages("search/repositories", asked, version=version), min(top, _MOST)):
        found = node(item)
        name = text(found, "full_name")
        if not _is_name(name) or flag(found, "fork") or flag(found, "archived"):
            continue
        yield RepositoryCandidate(
            name=name,
            language=text(found, "language") or language,
            stars=number(found, "stargazers_count"),
            active=text(found, "pushed_at")[:10],
        )


def language_share(forge: Forge, one: RepositoryCandidate, version: str) -> float | None:
    """The share of its language in its code, in bytes. Raises Unavailable."""
    counted = node(forge.get(f"repos/{one.name}/languages", version=version))
    sizes = {name: number(counted, name) or 0 for name in counted}
    whole = sum(sizes.values())
    return sizes.get(one.language, 0) / whole if whole else None


def count_items(forge: Forge, name: str, version: str) -> int | None:
    """The number of its issues and pull requests, open and closed. Raises Unavailable.

    Two searches: one without `is:` is refused for some kinds of token.
    """
    counts: list[int] = []
    for kind in ("issue", "pull-request"):
        asked: dict[str, str | int] = {"q": f"repo:{name} is:{kind}", "per_page": 1}
        count = number(node(forge.get("search/issues", asked, version=version)), "total_count")
        if count is None:
            return None
        counts.append(count)
    return sum(counts)


def _is_name(name: str) -> bool:
    try:
        return repository_name(name) == name
    except UserError:
        return False
