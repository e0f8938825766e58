"""Recipes: a list of stages in a TOML file that reads top to bottom, with parameters that a user may set.

title = "..."            summary = "..."            source = "whose procedure it is"
required = ["model"]     # parameters without a default, which a user has to set
[parameters]             # defaults; `$lines` in a spec below stands for the value of `lines`
lines = 1000
[[stage]]
use = "where(fact='changed_lines', at_most=$lines)"
why = "one line, shown in the funnel"

A recipe is data, and may come from others. Programs to run, addresses, names of tokens and files outside of the
current folder are taken from it only where the user's own words (`--set`, `--stage`, `--model`) hold them too.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from pydantic import Field, JsonValue, ValidationError

from reviewgauge.core.base import Record, Text
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.files import read_file
from reviewgauge.core.parsing import first_problem, refuse_long_keys
from reviewgauge.core.protocols import Stage
from reviewgauge.core.specs import load, load_from, near_names, texts_of
from reviewgauge.core.trust import FromFile, texts_in

LONGEST = 65_536  # bytes of a recipe
_SLOT = re.compile(r"\$([a-z_][a-z0-9_]*)")


class Step(Record):
    """One stage of a recipe, as it is written there."""

    use: Text
    why: Text = ""


class Recipe(Record):
    """The content of a recipe file. `name` is its file's name. `shipped`: it came with us; else its `folder`."""

    name: str = ""
    shipped: bool = False
    folder: str = ""
    title: Text
    summary: Text = ""
    source: Text = ""
    required: tuple[str, ...] = ()
    parameters: Mapping[str, JsonValue] = Field(default_factory=dict)
    stage: Annotated[tuple[Step, ...], Field(min_length=1)]


def recipe_names() -> list[str]:
    """The recipes that ship with the package."""
    return sorted(f.name.removesuffix(".toml") for f in files("reviewgauge.stages").joinpath("recipes").iterdir())


def read_recipe(word: str) -> Recipe:
    """The recipe of that name, or in that file. Raises UserError, or BadInput that names the file and the field."""
    if word in recipe_names():
        text = files("reviewgauge.stages").joinpath("recipes", f"{word}.toml").read_text("utf-8")
    elif word.endswith(".toml"):
        try:
            text = read_file(Path(word), LONGEST).decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"cannot read the recipe {word}: {error}") from None
    else:
        near = near_names(word, recipe_names())
        hint = f"did you mean {near[0]}?" if near else f"choose {', '.join(recipe_names())}, or a .toml file"
        raise UserError(f"{word!r} is not a recipe", remedy=hint)
    source = Path(word).name
    refuse_long_keys(text, source)
    try:
        found = Recipe.model_validate(tomllib.loads(text))
    except RecursionError:
        raise BadInput(source, "is nested too deeply") from None
    except ValidationError as error:
        where, problem = first_problem(error)
        raise BadInput(source, problem, field=where) from None
    except ValueError as error:  # a TOMLDecodeError, or a number of too many digits
        raise BadInput(source, f"is not valid TOML: {error}") from None
    shipped = word in recipe_names()
    folder = "" if shipped else str(Path(word).resolve().parent)
    return found.model_copy(update={"name": Path(word).stem, "shipped": shipped, "folder": folder})


def set_parameters(recipe: Recipe, settings: Mapping[str, str]) -> Mapping[str, JsonValue]:
    """The recipe's parameters, with the user's values in place of defaults.

    A value is a Python literal or text; where the default is text it stays text, even if it looks like a number. `true`
    and `false` are as in the recipe's file, and one text stands for a list of one.
    """
    known = (*recipe.required, *recipe.parameters)
    unknown = sorted(settings.keys() - set(known))
    if unknown:
        has = ", ".join(known) or "none"
        raise UserError(f"the recipe {recipe.name} has no parameter {unknown[0]!r}", remedy=f"it has {has}")
    missing = [name for name in recipe.required if name not in settings]
    if missing:
        usual = {"model": "--model SPEC", "reviews_by": "--reviews-by LOGIN"}
        how = usual.get(missing[0], f"--set {missing[0]}=VALUE")
        raise UserError(f"the recipe {recipe.name} needs {missing[0]}", remedy=how)
    return {**recipe.parameters, **{name: _value(word, recipe.parameters.get(name)) for name, word in settings.items()}}


def _value(word: str, default: JsonValue = None) -> JsonValue:
    try:
        value = ast.literal_eval(word)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = word
    if isinstance(default, bool) and word in ("true", "false"):
        return word == "true"
    if isinstance(default, str) and not isinstance(value, str):
        return word
    if isinstance(default, list) and isinstance(value, str):
        return [value]
    return list(value) if isinstance(value, tuple) else value


def make_stages(
    recipe: Recipe, parameters: Mapping[str, JsonValue], given: Iterable[str] = (), settings: FromFile | None = None
) -> list[tuple[Stage, Step]]:
    """The stages of a recipe with the parameters put in. Raises UserError that names the recipe and the stage.

    `given` are the user's own words: values of parameters and specs of stages. See `core.trust` for what a recipe file
    may not decide without them, nor a file of `settings` that parameters of a recipe of ours come from.
    """
    stages: list[tuple[Stage, Step]] = []
    words = list(given)
    said = own_words([*words, *map(_value, words)])
    origin = FromFile("", Path(recipe.folder), said, _REMEDY)
    if recipe.shipped and settings is not None:
        origin = replace(settings, said=said | own_words(recipe.parameters.values()))
    free = recipe.shipped and settings is None
    for number, step in enumerate(recipe.stage, 1):
        spec = _SLOT.sub(lambda slot: _literal(recipe, slot[1], parameters), step.use)
        try:
            stages.append((load(Stage, spec) if free else load_from(Stage, spec, origin), step))
        except UserError as error:
            raise UserError(f"recipe {recipe.name}, stage {number}: {error.problem}", remedy=error.remedy) from None
    return stages


def _literal(recipe: Recipe, name: str, parameters: Mapping[str, JsonValue]) -> str:
    if name not in parameters:
        raise UserError(f"recipe {recipe.name} uses ${name}, which is not among its [parameters]")
    value = parameters[name]
    return repr(tuple(value) if isinstance(value, list) else value)


_REMEDY = "if you trust it, make it a parameter of the recipe, and give that with --set"


def own_words(words: Iterable[object]) -> frozenset[str]:
    """Every text that the user gave: values of parameters and specs of stages, and the texts inside of those."""
    found = frozenset(texts_in(words))
    return found | {inner for text in found for inner in texts_of(text)}
