"""Words and patterns that stand as TOML beside the code."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from typing import Any


def read_table(package: str, name: str) -> dict[str, Any]:
    """The table `name.toml` beside the modules of a package."""
    return tomllib.loads(files(package).joinpath(f"{name}.toml").read_text("utf-8"))


def pattern(text: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    """The regular expression of a text that may be broken into indented lines."""
    return re.compile("".join(map(str.lstrip, text.split("\n"))), flags)
