"""`reviewgauge list`: what there is."""

from __future__ import annotations

from collections.abc import Sequence

from reviewgauge.core.specs import KINDS as PLUGIN_KINDS
from reviewgauge.core.specs import CatalogueEntry, catalogue
from reviewgauge.engine.build.recipes import read_recipe, recipe_names

RECIPES = "recipes"
KINDS = (*PLUGIN_KINDS, RECIPES)


def list_plugins(kind: str | None = None) -> Sequence[CatalogueEntry]:
    """The catalogue, of one kind or of all. Imports no plug-in."""
    kinds = (kind,) if kind else KINDS
    return [entry for k in kinds for entry in (_recipes() if k == RECIPES else catalogue(k))]


def _recipes() -> list[CatalogueEntry]:
    return [CatalogueEntry(kind=RECIPES, name=name, summary=read_recipe(name).title) for name in recipe_names()]
