"""What one always says, said once in a file: `reviewgauge.toml`, or `[tool.reviewgauge]` in `pyproject.toml`.

A file that merely lies in the current folder may be a stranger's, and is gated as recipes are (`core.trust`). The one
that the user names in `$REVIEWGAUGE_SETTINGS` is the user's own word, and may say all that a command line may.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from pydantic import Field, JsonValue, ValidationError

from reviewgauge.core.base import Record
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.files import read_file
from reviewgauge.core.parsing import first_problem, refuse_long_keys
from reviewgauge.core.protocols import Metric
from reviewgauge.core.specs import Spec, load_from, near_names
from reviewgauge.core.trust import FromFile, Use, check_file, check_model
from reviewgauge.engine.build.recipes import Recipe, read_recipe, recipe_names

FILES = ("reviewgauge.toml", "pyproject.toml")
VARIABLE = "REVIEWGAUGE_SETTINGS"
_LARGEST = 1_000_000  # bytes
_OF_THE_FILE = {"schema_version", "file", "trusted"}
_Name = Annotated[str, Field(min_length=1, max_length=200)]


class SettingsFile(Record):
    """Defaults of the command line; a flag overrides each. `file` says where they stand, empty where nowhere.

    `settings.toml` beside this file says what each means. `trusted`: the user named the file.
    """

    schema_version: int = 1
    file: str = ""
    trusted: bool = False
    model: str | None = None
    judge: str | None = None
    metrics: tuple[str, ...] | None = None
    budget: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    in_flight: int | None = Field(default=None, ge=1)
    requests_per_minute: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    tokens_per_minute: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    prices: str | None = None
    seed: int | None = Field(default=None, ge=0)
    test: str | None = None
    recipes: Mapping[str, Mapping[str, JsonValue]] = Field(default_factory=dict)
    names: Mapping[str, _Name] = Field(default_factory=dict)

    def stated(self) -> dict[str, object]:
        """What the file says, by key."""
        return self.model_dump(exclude=_OF_THE_FILE, exclude_defaults=True)

    @property
    def origin(self) -> FromFile | None:
        """What the file may not decide is refused by this; None where the user named it."""
        remedy = (
            f"give it on the command line, or name the file yourself: export {VARIABLE}={Path(self.file).absolute()}"
        )
        return None if self.trusted or not self.file else FromFile(self.file, Path(self.file).parent, remedy=remedy)

    def parameters(self, recipe: Recipe) -> dict[str, str]:
        """What it says of a recipe, as `build --set` takes it; of one that does not ship, the model alone."""
        said = {"model": self.model, **(self.recipes.get(recipe.name, {}) if recipe.shipped else {})}
        known = {*recipe.required, *recipe.parameters}
        return {key: repr(value) for key, value in said.items() if key in known and value is not None}


@cache
def descriptions() -> Mapping[str, Mapping[str, str]]:
    """Of each setting its meaning, its default and an example."""
    return tomllib.loads(files(__package__).joinpath("settings.toml").read_text("utf-8"))


def read_settings(folder: str | Path = ".") -> SettingsFile:
    """The settings in the file that the user named, else in that of a folder.

    Raises UserError for an unknown key, a value that cannot be, and what a file of somebody else may not decide:
    programs, addresses, and files outside of its folder.
    """
    if word := os.environ.get(VARIABLE, ""):
        named = Path(word).expanduser()
        if not named.is_absolute():
            raise UserError(
                f"{VARIABLE}={word} is not an absolute path", remedy="in another folder it would be another file"
            )
        if not named.is_file():
            raise UserError(f"{VARIABLE}={word} is not a file", remedy=f"unset {VARIABLE}, or reviewgauge init")
        return _checked(named, _table(named) or {}, trusted=True)
    for name in FILES:
        path = Path(folder) / name
        if path.is_file() and (found := _table(path)) is not None:
            return _checked(path, found)
    return SettingsFile()


def _table(path: Path) -> Mapping[str, object] | None:
    """What the file says of ReviewGauge; None where a `pyproject.toml` says nothing."""
    raw = read_file(path, _LARGEST)
    ours = path.name != FILES[1]
    if not ours and b"reviewgauge" not in raw:
        return None
    try:
        text = raw.decode("utf-8-sig")
        refuse_long_keys(text, str(path))
        found = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, a number of too many digits
        raise BadInput(str(path), f"is not valid TOML: {error}") from None
    if ours:
        return found
    tools = found.get("tool")
    table = tools.get("reviewgauge") if isinstance(tools, dict) else None
    return table if isinstance(table, dict) else None


def _checked(path: Path, found: Mapping[str, object], trusted: bool = False) -> SettingsFile:
    known = [name for name in SettingsFile.model_fields if name not in _OF_THE_FILE]
    if unknown := [key for key in found if key not in known]:
        near = near_names(unknown[0], known)
        remedy = f"did you mean {near[0]}?" if near else f"there are: {', '.join(known)}"
        raise BadInput(str(path), f"does not know the setting {unknown[0]!r}", remedy=remedy)
    try:
        settings = SettingsFile.model_validate({**found, "file": str(path), "trusted": trusted})
    except ValidationError as error:
        field, problem = first_problem(error)
        raise BadInput(str(path), problem, field=field) from None
    for name, given in settings.recipes.items():
        _check_recipe(path, name, given)
    if settings.prices:
        settings = settings.model_copy(update={"prices": str(path.parent / settings.prices)})
    if settings.origin is not None:
        _gate(settings, settings.origin)
    return settings


def _check_recipe(path: Path, name: str, given: Mapping[str, JsonValue]) -> None:
    """What it may say of a recipe is checked where it is built; here, that there is such a recipe and parameter."""
    field = f"recipes.{name}"
    if name not in recipe_names():
        raise BadInput(str(path), "is not a recipe", field=field, remedy=f"there are: {', '.join(recipe_names())}")
    recipe = read_recipe(name)
    known = [*recipe.required, *recipe.parameters]
    if unknown := [key for key in given if key not in known]:
        raise BadInput(str(path), f"has no parameter {unknown[0]!r}", field=field, remedy=f"it has {', '.join(known)}")


def _gate(settings: SettingsFile, origin: FromFile) -> None:
    """Raise UserError for what only the user may decide; recipes are gated where their stages are made."""
    if settings.test:
        raise origin.refuse(f"test={settings.test!r} is {Use.PROGRAM.value}")
    if settings.model:
        check_model(settings.model, f"model={settings.model!r}", origin)
    if settings.prices:
        check_file(settings.prices, f"prices={settings.prices!r}", origin)
    specs: list[str | Spec] = [*(settings.metrics or ())]
    for spec in [*specs, Spec("hits", {"judge": settings.judge})] if settings.judge else specs:
        try:
            load_from(Metric, spec, origin)
        except UserError as error:
            problem = error.problem.removeprefix(f"{settings.file}: ")
            raise UserError(f"{settings.file}: {problem}", remedy=error.remedy) from None
