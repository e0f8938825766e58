"""`reviewgauge info`: a data set's card, what a plug-in takes, or what a run was scored with."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import shlex
import sys
import typing
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path

from pydantic import Field

from reviewgauge.api.list import KINDS as LISTED
from reviewgauge.api.list import RECIPES
from reviewgauge.api.resolve import dataset_label, find_dataset
from reviewgauge.api.scores import ScoresResult, scores
from reviewgauge.core.base import Record
from reviewgauge.core.data_card import Card
from reviewgauge.core.errors import UserError
from reviewgauge.core.parameters import limits
from reviewgauge.core.protocols import Context, Dataset, Format, Judge, Metric, Reviewer, Stage
from reviewgauge.core.reports.plugin_info import Parameter, PluginInfo
from reviewgauge.core.specs import PACKAGE, Plugin, find_class, names, names_class, near_names, plugin_name, short_spec
from reviewgauge.core.trust import Use, uses
from reviewgauge.engine.build.recipes import read_recipe, recipe_names
from reviewgauge.engine.run.manifest import MANIFEST
from reviewgauge.exports.writing.export import Export
from reviewgauge.models.request.messages import load_prompt
from reviewgauge.operators.code.operator import Operator
from reviewgauge.repo.forge.api import ForgeKind

_PROTOCOLS: Mapping[str, type[Plugin]] = {
    one.kind: one for one in (Dataset, Stage, Reviewer, Metric, Format, Judge, Context, Operator, Export, ForgeKind)
}
_EXAMPLES = {
    "datasets": "reviewgauge review {} 'prompt(model=\"fake:example\")' -o runs/mine",
    "stages": "reviewgauge review sample silent -o runs/mine --stage {}",
    "reviewers": "reviewgauge review sample {} -o runs/mine",
    "metrics": "reviewgauge score runs/mine {}",
    "formats": "reviewgauge review sample {} -o runs/mine",
    "judges": "reviewgauge score runs/mine {}",
    "contexts": "reviewgauge review sample {} -o runs/mine",
    "operators": "reviewgauge build . -o bench --recipe injected --set 'operators={}'",
    "forges": "reviewgauge build {}:OWNER/NAME -o bench",
    "exports": "reviewgauge export {} runs/mine -o mine.out",
}
_INSIDE = {  # where a plug-in is the parameter of another one
    "judges": "hits(judge={})",
    "contexts": 'prompt(model="fake:example", context={})',
}
_IN_BUILDS = {
    "needs_build": "reviewgauge build . -o bench --stage {}",
    "needs_pulls": "reviewgauge build github:OWNER/NAME -o bench --stage {}",
}
_PLACEHOLDERS = {Use.MODEL: "fake:example", Use.PROGRAM: "./my-tool.sh"}
_TYPES: Mapping[object, str] = {
    str: "text",
    float: "number",
    int: "whole number",
    bool: "True | False",
    type(None): "None",
    list: "a list",
}
_GIVEN = {  # what recipes require: its type, and how it is given
    "model": ("text", "--model openai:gpt-5"),
    "reviews_by": ("text, ...", "--reviews-by 'coderabbitai[bot]'"),
    "reviewers": ("text, ...", '--set \'reviewers=("prompt(model=\\"openai:gpt-5\\")",)\''),
}
_NEEDS = {  # attributes of plug-ins, and what they need of the user
    "runs_programs": "a program of yours",
    "needs_code": "the repository's code (build, or get --with-code)",
    "learns": "cases to learn from (--train)",
    "needs_build": "a build: its folder, or the history that it reads",
    "needs_pulls": "the pull requests of a build (github:OWNER/NAME)",
}


class DatasetInfo(Record):
    """A card with the counts of the local files; `counts` is empty when they are missing, and `missing` says why.

    `also`: see PluginInfo.
    """

    schema_version: int = 1
    dataset: str
    card: Card
    counts: Mapping[str, int] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()
    missing: str = ""
    example: str = ""
    also: tuple[str, ...] = ()


def info(
    name: str | Dataset, source: str | Path | None = None, show: str = ""
) -> DatasetInfo | PluginInfo | ScoresResult:
    """The card of a data set, what a plug-in or a recipe takes, or what a run was scored with.

    `show` is a prompt of the plug-in's kind: `info("prompt", show="swr").text` can be a file to begin with.
    Of a name that several kinds have the first one's is shown, and `also` names the others: `formats/martian`.
    """
    also: tuple[str, ...] = ()
    if isinstance(name, str):
        if Path(name, MANIFEST).is_file():
            return scores(name)
        kind, *others = _kinds_of(name) or [Dataset.kind]
        plain = name.rpartition("/")[2]
        also = tuple(f"{other}/{plain}" for other in others)
        if show:
            return PluginInfo(kind=kind, name=plain, text=_shipped_prompt(kind, show), shown=show)
        if kind == RECIPES:
            return _recipe_info(plain, also)
        if kind != Dataset.kind:
            return plugin_info(kind, plain).model_copy(update={"also": also})
        name = name.removeprefix(f"{kind}/") if plain in names(kind) else name
    found = find_dataset(name, source)
    known = DatasetInfo(
        dataset=dataset_label(found),
        card=found.card,
        example=found.example or _EXAMPLES[Dataset.kind].format(_shell(_named(name, found))),
        also=also,
    )
    try:
        counts, notes = found.counts(), found.notes()
    except UserError as error:
        if source or found.path:
            raise
        return known.model_copy(update={"missing": str(error)})
    remarks = (*_of_a_build(found), *(f"{drop.item}: {drop.reason}" for drop in notes))
    return known.model_copy(update={"counts": counts, "notes": remarks})


def _shipped_prompt(kind: str, name: str) -> str:
    """A prompt of ours as a file; of a published one the words with the fence, which are the default."""
    folder = resources.files(f"{PACKAGE}.{kind}").joinpath("prompts")
    known = sorted(one.name.removesuffix(".txt") for one in folder.iterdir()) if folder.is_dir() else []
    if name not in known:
        there = f"there are {', '.join(known)}" if known else f"{kind} have none"
        raise UserError(f"no prompt of {kind} is called {name!r}", remedy=there)
    return load_prompt(f"{PACKAGE}.{kind}", f"{name}_fenced" if f"{name}_fenced" in known else name).text


def _named(name: str | Dataset, found: Dataset) -> str:
    """The data set as `review` takes it."""
    if plugin_name(found) == "jsonl" and not found.path:
        return "my-cases.jsonl"
    return name if isinstance(name, str) else short_spec(found)


def _kinds_of(name: str) -> list[str]:
    """The kinds that have a plug-in or recipe of this name; none for a file, a folder, a spec or a dotted path.

    Raises UserError for a name that there is not, and says what may have been meant.
    """
    before, slash, plain = name.rpartition("/")
    homes = [kind for kind in LISTED if plain in _names(kind)]
    if Path(name).exists() and (slash or not homes):
        return []
    if slash and before in LISTED:
        if before not in homes:
            near = near_names(plain, _names(before))
            hint = f"did you mean {before}/{near[0]}?" if near else f"reviewgauge list {before}"
            raise UserError(f"nothing is called {name!r}", remedy=hint)
        return [before, *(kind for kind in homes if kind != before)]
    if "." in name and not slash:
        return [kind for kind, protocol in _PROTOCOLS.items() if names_class(protocol, name)][:1]
    if homes or not name.isidentifier():
        return [] if slash else homes
    if name in LISTED:
        raise UserError(f"{name} are many", remedy=f"reviewgauge list {name}")
    near = near_names(name, list(dict.fromkeys(one for kind in LISTED for one in _names(kind))))
    shown = " or ".join(f"{kind}/{near[0]}" for kind in LISTED if near and near[0] in _names(kind))
    raise UserError(f"nothing is called {name!r}", remedy=f"did you mean {shown}?" if near else "reviewgauge list")


def _names(kind: str) -> list[str]:
    return recipe_names() if kind == RECIPES else names(kind)


def _recipe_info(name: str, also: tuple[str, ...]) -> PluginInfo:
    """What a recipe does, its stages and parameters, and how to build with it."""
    recipe = read_recipe(name)
    steps = (f"{step.use.partition('(')[0]}: {' '.join(step.why.split())}" for step in recipe.stage)
    stages = "\n\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
    where = "." if name == "local" else "github:OWNER/NAME"
    return PluginInfo(
        kind=RECIPES,
        name=name,
        text=f"{recipe.title}\n\n{recipe.summary.strip()}\n\nSource: {recipe.source.strip()}\n\n{stages}",
        parameters=(
            *(Parameter(name=one, type=_GIVEN.get(one, ("text", ""))[0]) for one in recipe.required),
            *(
                Parameter(name=one, type=_words(type(value)), default=repr(value))
                for one, value in recipe.parameters.items()
            ),
        ),
        example=" ".join(
            [f"reviewgauge build {where} --recipe {name}", *(_GIVEN[one][1] for one in recipe.required), "-o bench"]
        ),
        also=also,
    )


def plugin_info(kind: str, name: str) -> PluginInfo:
    """What is known of a plug-in by its class. Raises UserError for a name that there is not."""
    cls = find_class(_PROTOCOLS[kind], name)
    module = inspect.cleandoc(sys.modules[cls.__module__].__doc__ or "")
    parameters = tuple(parameters_of(cls))
    return PluginInfo(
        kind=kind,
        name=name,
        text="\n\n".join(filter(None, (module, inspect.cleandoc(cls.__doc__ or ""), cls.more()))),
        parameters=parameters,
        needs=tuple(_needs(cls)),
        example=_example(cls, kind, name),
    )


def parameters_of(cls: type[Plugin]) -> Iterator[Parameter]:
    """The parameters of a plug-in, in their order."""
    hints = typing.get_type_hints(cls, include_extras=True)
    fields = dataclasses.fields(cls)  # type: ignore[arg-type]  # each plug-in is a dataclass
    for field in sorted(fields, key=lambda field: field.kw_only is True):  # what all reviewers take comes last
        if field.init:
            default = None if field.default is dataclasses.MISSING else repr(field.default)
            yield Parameter(name=field.name, type=_words(hints[field.name]), default=default)


def _words(hint: object) -> str:
    """A type as a user reads it: `'a' | 'b'`, `text`, `text, ...`."""
    inner = typing.get_args(hint)
    if typing.get_origin(hint) is typing.Annotated:
        return ", ".join([_words(inner[0]), *limits(hint)])
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
    yield from (words for name, words in _NEEDS.items() if getattr(cls, name, False) is True)  # a property varies


def _example(cls: type[Plugin], kind: str, name: str) -> str:
    """A command that uses it, as a shell takes it."""
    if cls.example.startswith("reviewgauge "):
        return cls.example
    spec = example_spec(cls, name)
    if kind == Format.kind:
        suffix = cls.suffixes[0]  # type: ignore[attr-defined]  # each format has some
        spec = f'replay(path="{"reviews" * suffix.startswith(".")}{suffix}", format="{spec}")'
    spec = _INSIDE.get(kind, "{}").format(json.dumps(spec) if kind in _INSIDE else spec)
    pattern = next((words for need, words in _IN_BUILDS.items() if getattr(cls, need, False)), _EXAMPLES[kind])
    return pattern.format(_shell(spec)) + (" --train sample" if getattr(cls, "learns", False) is True else "")


def _shell(spec: str) -> str:
    return spec if re.fullmatch(r"[\w./-]+", spec) else shlex.quote(spec)


def example_spec(cls: type[Plugin], name: str) -> str:
    """The class's own example, or the shortest spec that names what must be given, and a model where one is asked."""
    if cls.example and not cls.example.startswith("reviewgauge "):
        return cls.example
    hints = typing.get_type_hints(cls, include_extras=True)
    given = []
    for parameter in parameters_of(cls):
        found = uses(hints[parameter.name])
        if parameter.default is None or (
            parameter.default == "''" and parameter.name == "model" and Use.MODEL in found
        ):
            given.append(f'{parameter.name}="{_PLACEHOLDERS.get(next(iter(found), Use.WORD), "...")}"')
    return f"{name}({', '.join(given)})" if given else name


def _of_a_build(found: Dataset) -> list[str]:
    """Where to read how a benchmark was built."""
    card = Path(found.path or "", "card.md")
    return [f"made by reviewgauge build: {card} says how, and how sure its labels are"] if card.is_file() else []
