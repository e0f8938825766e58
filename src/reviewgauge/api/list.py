"""`reviewgauge list`: what there is."""

from __future__ import annotations

from collections.abc import Sequence

from reviewgauge.core.base import Record
from reviewgauge.core.specs import catalogue
from reviewgauge.engine.build.recipes import read_recipe, recipe_names

RECIPES = "recipes"


KINDS = ("datasets", "stages", "reviewers", "metrics", "formats", "judges", RECIPES)


class CatalogueLine(Record):
    """One plug-in: its kind, its name, and the first line of its docstring. Or one recipe, with its title."""

    kind: str
    name: str
    summary: str


def list_plugins(kind: str | None = None) -> Sequence[CatalogueLine]:
    """The catalogue, of one kind or of all. Imports no plug-in."""
    kinds = (kind,) if kind else KINDS
    return [line for k in kinds for line in (_recipes() if k == RECIPES else _plugins(k))]


def _plugins(kind: str) -> list[CatalogueLine]:
    return [CatalogueLine(kind=e.kind, name=e.name, summary=e.summary) for e in catalogue(kind)]


def _recipes() -> list[CatalogueLine]:
    return [CatalogueLine(kind=RECIPES, name=name, summary=read_recipe(name).title) for name in recipe_names()]
