"""How reviewers in use are run: the presets of `command`, which `programs.toml` holds."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from reviewgauge.core.errors import UserError

_WORDS = ("title", "install", "checked", "programs")  # of a preset that are no parameters


@cache
def presets() -> Mapping[str, Mapping[str, Any]]:
    """Every preset by its name; lists are tuples, as parameters are."""
    text = resources.files("reviewgauge.reviewers").joinpath("reading", "programs.toml").read_text(encoding="utf-8")
    return {
        name: {key: tuple(map(_word, value)) if isinstance(value, list) else value for key, value in table.items()}
        for name, table in tomllib.loads(text).items()
    }


def _word(given: Any) -> Any:
    return json.dumps(given) if isinstance(given, dict) else given


def preset(name: str) -> Mapping[str, Any]:
    """What a preset holds. Raises UserError for a name that there is not."""
    if name not in presets():
        raise UserError(f"command has no preset {name!r}", remedy=f"there are {', '.join(presets())}")
    return presets()[name]


def parameters(name: str) -> Mapping[str, Any]:
    """The parameters that a preset gives."""
    return {key: value for key, value in preset(name).items() if key not in _WORDS}


def described() -> str:
    """The presets as `info` lists them: what each needs, and which version its flags were read from."""
    return "\n\n".join(
        f'preset="{name}": {table["title"]}. Needs {table["install"]}'
        + "".join(f", ${one}" for one in table.get("env", ()) if one != "PATH")
        + f". Checked with {table['checked']}."
        for name, table in presets().items()
    )
