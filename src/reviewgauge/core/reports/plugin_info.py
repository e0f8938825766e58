"""What `info` says of a plug-in."""

from __future__ import annotations

from reviewgauge.core.base import Record


class Parameter(Record):
    """A parameter of a plug-in. `default` is None where one must be given."""

    name: str
    type: str
    default: str | None = None


class PluginInfo(Record):
    """What a plug-in or a recipe is, its parameters, what it needs, and a command that uses it.

    With `shown`, the name of a prompt, `text` is that prompt.

    `also` are the others of this name, as `info` takes them: `contexts/embedding`.
    """

    schema_version: int = 1
    kind: str
    name: str
    text: str
    parameters: tuple[Parameter, ...] = ()
    needs: tuple[str, ...] = ()
    example: str = ""
    also: tuple[str, ...] = ()
    shown: str = ""
