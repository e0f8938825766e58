"""What one always says, said once in a file: `reviewgauge.toml`, or `[tool.reviewgauge]` in `pyproject.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from pydantic import Field, ValidationError

from reviewgauge.core.base import Record
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.files import read_file
from reviewgauge.core.parsing import first_problem
from reviewgauge.core.protocols import Metric
from reviewgauge.core.specs import load_from
from reviewgauge.core.trust import FromFile, check_file, check_model

FILES = ("reviewgauge.toml", "pyproject.toml")
_LARGEST = 1_000_000  # bytes


class SettingsFile(Record):
    """Defaults of the command line; a flag overrides each. `file` says where they stand, empty where nowhere.

    `model` is that of `build` and `evolve`, `metrics` are those of `score`; the others are options of every verb that
    has them.
    """

    schema_version: int = 1
    file: str = ""
    model: str | None = None
    metrics: tuple[str, ...] | None = None
    budget: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    in_flight: int | None = Field(default=None, ge=1)
    requests_per_minute: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    tokens_per_minute: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    prices: str | None = None
    seed: int | None = Field(default=None, ge=0)

    def stated(self) -> dict[str, object]:
        """What the file says, by key."""
        return self.model_dump(exclude={"schema_version", "file"}, exclude_none=True)


def read_settings(folder: str | Path = ".") -> SettingsFile:
    """The settings in the file of a folder.

    Raises UserError for an unknown key, a value that cannot be, and what a file of somebody else may not decide:
    addresses, and files outside of its folder.
    """
    for name in FILES:
        path = Path(folder) / name
        if path.is_file() and (found := _table(path)) is not None:
            return _checked(path, found)
    return SettingsFile()


def _table(path: Path) -> Mapping[str, object] | None:
    """What the file says of ReviewGauge; None where a `pyproject.toml` says nothing."""
    raw = read_file(path, _LARGEST)
    ours = path.name == FILES[0]
    if not ours and b"reviewgauge" not in raw:
        return None
    try:
        found = tomllib.loads(raw.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(str(path), f"is not valid TOML: {error}") from None
    if ours:
        return found
    tools = found.get("tool")
    table = tools.get("reviewgauge") if isinstance(tools, dict) else None
    return table if isinstance(table, dict) else None


def _checked(path: Path, found: Mapping[str, object]) -> SettingsFile:
    known = [name for name in SettingsFile.model_fields if name not in ("schema_version", "file")]
    if unknown := [key for key in found if key not in known]:
        raise BadInput(str(path), f"does not know the setting {unknown[0]!r}", remedy=f"there are: {', '.join(known)}")
    try:
        settings = SettingsFile.model_validate({**found, "file": str(path)})
    except ValidationError as error:
        field, problem = first_problem(error)
        raise BadInput(str(path), problem, field=field) from None
    origin = FromFile(str(path), path.parent, remedy="give it as an option of the command")
    if settings.model:
        check_model(settings.model, f"model={settings.model!r}", origin)
    if settings.prices:
        place = str(path.parent / settings.prices)
        check_file(place, f"prices={settings.prices!r}", origin)
        settings = settings.model_copy(update={"prices": place})
    for spec in settings.metrics or ():
        try:
            load_from(Metric, spec, origin)
        except UserError as error:
            raise UserError(f"{path}: {error.problem.removeprefix(f'{path}: ')}", remedy=error.remedy) from None
    return settings
