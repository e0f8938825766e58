"""`reviewgauge info`: a data set's card with what the local files hold, or what a plug-in does and takes."""

from __future__ import annotations

import dataclasses
import inspect
import sys
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import Field

from reviewgauge.api.resolve import dataset_label, find_dataset
from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Card, Context, Dataset, Format, Judge, Metric, Reviewer, Stage
from reviewgauge.core.reports.plugin_info import Parameter, PluginInfo
from reviewgauge.core.specs import KINDS, Plugin, find_class, names
from reviewgauge.core.trust import Use, uses

_PROTOCOLS: Mapping[str, type[Plugin]] = {
    one.kind: one for one in (Dataset, Stage, Reviewer, Metric, Format, Judge, Context)
}
_EXAMPLES = {
    "datasets": "reviewgauge review '{}' silent -o runs/mine",
    "stages": "reviewgauge review sample silent -o runs/mine --stage '{}'",
    "reviewers": "reviewgauge review sample '{}' -o runs/mine",
    "metrics": "reviewgauge score runs/mine '{}'",
    "formats": 'reviewgauge review sample \'replay(path="reviews", format="{}")\' -o runs/mine',
    "judges": "reviewgauge score runs/mine \"hits(judge='{}')\"",
    "contexts": "reviewgauge review BENCH \"prompt(model='fake:rules', context='{}')\" -o runs/mine",
}
_PLACEHOLDERS = {Use.MODEL: "fake:rules", Use.PROGRAM: "./my-tool.sh", Use.SPEC: "prompt(model=...)"}
_TYPES: Mapping[object, str] = {
    str: "text",
    float: "number",
    int: "whole number",
    bool: "True | False",
    type(None): "None",
}
_NEEDS = {  # attributes of plug-ins, and what they need of the user
    "runs_programs": "a program of yours",
    "needs_code": "the repository's code (build, or get --with-code)",
    "learns": "cases to learn from (--train)",
}


class DatasetInfo(Record):
    """A card with the counts of the local files; `counts` is empty when they are missing, and `missing` says why."""

    schema_version: int = 1
    dataset: str
    card: Card
    counts: Mapping[str, int] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()
    missing: str = ""


def info(name: str | Dataset, source: str | Path | None = None) -> DatasetInfo | PluginInfo:
    """The card of a data set and the counts of its local files, or what a plug-in of another kind does and takes.

    A name that several kinds have is the data set's; `formats/martian` names another one.
    """
    if isinstance(name, str) and (kind := _kind_of(name)):
        return plugin_info(kind, name.rpartition("/")[2])
    found = find_dataset(name, source)
    try:
        counts, notes = found.counts(), found.notes()
    except UserError as error:
        if source or found.path:
            raise
        return DatasetInfo(dataset=dataset_label(found), card=found.card, missing=str(error))
    return DatasetInfo(
        dataset=dataset_label(found),
        card=found.card,
        counts=counts,
        notes=(*_of_a_build(found), *(f"{drop.item}: {drop.reason}" for drop in notes)),
    )


def _kind_of(name: str) -> str:
    """The kind of a plug-in that is not a data set's; empty for data sets, files and folders."""
    before, slash, plain = name.rpartition("/")
    if slash:
        return before if before in KINDS and plain in names(before) and not Path(name).exists() else ""
    return next((kind for kind in KINDS if plain in names(kind)), "").replace(Dataset.kind, "")


def plugin_info(kind: str, name: str) -> PluginInfo:
    """What is known of a plug-in by its class. Raises UserError for a name that there is not."""
    cls = find_class(_PROTOCOLS[kind], name)
    module = inspect.cleandoc(sys.modules[cls.__module__].__doc__ or "")
    parameters = tuple(parameters_of(cls))
    return PluginInfo(
        kind=kind,
        name=name,
        text=f"{module}\n\n{inspect.cleandoc(cls.__doc__ or '')}",
        parameters=parameters,
        needs=tuple(_needs(cls)),
        example=_EXAMPLES[kind].format(_spec(cls, name)),
    )


def parameters_of(cls: type[Plugin]) -> Iterator[Parameter]:
    """The parameters of a plug-in, in their order."""
    hints = typing.get_type_hints(cls)
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]  # each plug-in is a dataclass
        if field.init:
            default = None if field.default is dataclasses.MISSING else repr(field.default)
            yield Parameter(name=field.name, type=_words(hints[field.name]), default=default)


def _words(hint: object) -> str:
    """A type as a user reads it: `'a' | 'b'`, `text`, `text, ...`."""
    inner = typing.get_args(hint)
    if typing.get_origin(hint) is typing.Literal:
        return " | ".join(map(repr, inner))
    if typing.get_origin(hint) in (tuple, list):
        return ", ".join("..." if one is ... else _words(one) for one in inner)
    if inner:
        return " | ".join(dict.fromkeys(map(_words, inner)))
    return _TYPES.get(hint, getattr(hint, "__name__", str(hint)))


def _needs(cls: type[Plugin]) -> Iterator[str]:
    hints = typing.get_type_hints(cls, include_extras=True)
    if any(Use.MODEL in uses(hints[one.name]) for one in parameters_of(cls) if one.default is None):
        yield "a model, such as openai:gpt-5-mini"
    yield from (words for name, words in _NEEDS.items() if getattr(cls, name, False))


def _spec(cls: type[Plugin], name: str) -> str:
    """The shortest spec that names all that must be given."""
    hints = typing.get_type_hints(cls, include_extras=True)
    given = []
    for parameter in parameters_of(cls):
        if parameter.default is None:
            use = next(iter(uses(hints[parameter.name])), Use.WORD)
            given.append(f'{parameter.name}="{_PLACEHOLDERS.get(use, "...")}"')
    return f"{name}({', '.join(given)})" if given else name


def _of_a_build(found: Dataset) -> list[str]:
    """Where to read how a benchmark was built."""
    card = Path(found.path or "", "card.md")
    return [f"made by reviewgauge build: {card} says how, and how sure its labels are"] if card.is_file() else []
