"""What every plug-in is, and the spec that names it: `chrf`, `chrf(beta=3)`."""

from __future__ import annotations

import dataclasses
from abc import ABC
from collections.abc import Mapping
from typing import ClassVar

PACKAGE = "reviewgauge"


class Plugin(ABC):
    """Base of the kinds below. Parameters are the dataclass fields and must be Python literals."""

    kind: ClassVar[str]

    def pins(self) -> Mapping[str, str]:
        """What this plug-in rests on beyond its parameters: weights, library versions, data hashes, prompts."""
        return {}

    @property
    def models(self) -> tuple[str, ...]:
        """The specs of the chat models that it asks (`openai:gpt-5`); empty where it asks none.

        What asks a model waits for answers, so the engine runs it in threads, one item at a time.
        """
        return ()


def plugin_name(plugin: Plugin) -> str:
    """The name that a spec calls this plug-in by."""
    cls = type(plugin)
    home = f"{PACKAGE}.{cls.kind}."
    if cls.__module__.startswith(home):
        return cls.__module__.removeprefix(home)
    return f"{cls.__module__}.{cls.__qualname__}"


def _spec(plugin: Plugin, everything: bool) -> str:
    assert dataclasses.is_dataclass(plugin)
    parameters = [
        f"{field.name}={getattr(plugin, field.name)!r}"
        for field in dataclasses.fields(plugin)
        if field.init and (everything or getattr(plugin, field.name) != field.default)
    ]
    return plugin_name(plugin) + (f"({', '.join(parameters)})" if parameters else "")


def signature(plugin: Plugin) -> str:
    """The full spec, every parameter written out: what a score carries, so that a changed default shows."""
    return _spec(plugin, everything=True)


def short_spec(plugin: Plugin) -> str:
    """The spec with only the parameters that differ from their defaults: what people read."""
    return _spec(plugin, everything=False)
