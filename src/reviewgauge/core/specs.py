"""Plug-in specs and the catalogue.

A spec is a name with literal parameters: `chrf`, `chrf(beta=3)`, or a dotted path for a class outside the package
(`my_package.my_metric`, `my_package.my_metric.MyMetric(beta=3)`). Parameters are read with `ast.literal_eval`,
never evaluated. `load(kind, signature(plugin)) == plugin` holds for every plug-in.
"""

from __future__ import annotations

import ast
import dataclasses
import difflib
import importlib
import inspect
import re
import shlex
import types
import typing
from abc import ABC
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import resources
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, NamedTuple, TypeVar

from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError, one_line
from reviewgauge.core.parameters import check_bounds, misfit
from reviewgauge.core.secrets import secret_in
from reviewgauge.core.trust import (
    FromFile,
    check_model,
    check_parameters,
    import_dotted,
    is_imported,
    source_digest,
    texts_in,
    would_import,
)

PACKAGE = "reviewgauge"
_KINDS = "datasets stages reviewers metrics formats judges contexts operators exports forges"
KINDS = (*_KINDS.split(" "),)


class Plugin(ABC):
    """Base of the kinds below. Parameters are the dataclass fields and must be Python literals."""

    kind: ClassVar[str]
    example: ClassVar[str] = ""  # the spec, or the whole command, that `info` shows; empty: made from the parameters

    def __post_init__(self) -> None:
        """Raise ValueError for a parameter out of the bounds of its type (`k: Positive = 3`)."""
        check_bounds(self)
        if beside := getattr(super(), "__post_init__", None):  # of a class that is mixed in
            beside()

    def pins(self) -> Mapping[str, str]:
        """What this plug-in rests on beyond its parameters: weights, library versions, data hashes, prompts."""
        return {}

    @classmethod
    def more(cls) -> str:
        """What `info` says below the words of the class."""
        return ""

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
        if field.init and ((everything and field.compare) or getattr(plugin, field.name) != field.default)
    ]
    return plugin_name(plugin) + (f"({', '.join(parameters)})" if parameters else "")


def signature(plugin: Plugin) -> str:
    """The full spec, every parameter written out: what a score carries, so that a changed default shows."""
    return _spec(plugin, everything=True)


def short_spec(plugin: Plugin) -> str:
    """The spec with only the parameters that differ from their defaults: what people read."""
    return _spec(plugin, everything=False)


def all_pins(plugin: Plugin) -> dict[str, str]:
    """The plug-in's pins, and the source of the code outside the package that its spec names: it may be edited."""
    assert dataclasses.is_dataclass(plugin)
    spec = Spec(plugin_name(plugin), {one.name: getattr(plugin, one.name) for one in dataclasses.fields(plugin)})
    pins = dict(plugin.pins())  # first: it imports what the parameters name
    sources = {f"source of {name}": source_digest(name) for name in _dotted_names(spec)}
    return pins | {name: digest for name, digest in sources.items() if digest}


P = TypeVar("P", bound=Plugin)
_LONGEST = 200_000  # characters of a spec; one of ours with all its parameters has some hundred
_PARSING = Lock()  # CPython 3.11 counts the depth of a syntax tree for all threads together: SystemError
_MOST_PARTS = 50  # of a dotted path
_SECRET = re.compile(r"(?i)api_?key|(^|_)(token|password|passwd|secret|credentials?)$")


class Spec(NamedTuple):
    """A parsed plug-in spec."""

    name: str
    parameters: Mapping[str, object]


class CatalogueEntry(Record):
    """One plug-in: its kind, its name, and the first line of its docstring. Or one recipe, with its title."""

    kind: str
    name: str
    summary: str


def parse_spec(text: str) -> Spec:
    """Read `name` or `name(key=literal, ...)`. Raises UserError for anything else."""
    if len(text) > _LONGEST:
        raise UserError(f"the spec {text[:60]!r}... has {len(text):,} characters, over {_LONGEST:,}")
    try:
        with _PARSING:
            node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise UserError(f"cannot read the spec {text[:500]!r}", remedy="write name or name(key=value)") from None
    if not isinstance(node, ast.Call):
        return Spec(_dotted(node, text), {})
    if node.args:
        raise UserError(f"{text!r}: parameters are given by name", remedy="write name(key=value)")
    parameters: dict[str, object] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise UserError(f"{text!r}: '**' is not allowed in a spec")
        try:
            parameters[keyword.arg] = ast.literal_eval(keyword.value)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            raise UserError(
                f"{text!r}: {keyword.arg} must be a plain value",
                remedy="a number, a quoted text, True, False, None, or a tuple of them",
            ) from None
    return Spec(_dotted(node.func, text), parameters)


def _dotted(node: ast.expr, text: str) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < _MOST_PARTS:
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        raise UserError(f"cannot read the spec {text[:200]!r}", remedy="write name or name(key=value)")
    return ".".join([node.id, *reversed(parts)])


def names(kind: str) -> list[str]:
    """The plug-ins of a kind that ship with the package, from the file names; imports none of them."""
    folder = resources.files(f"{PACKAGE}.{kind}")
    found = (entry.name for entry in folder.iterdir())
    return sorted(n[:-3] for n in found if n.endswith(".py") and not n.startswith("_"))


def catalogue(kind: str) -> Iterator[CatalogueEntry]:
    """Name and first docstring line of each plug-in of a kind, read from the files without importing them."""
    for name in names(kind):
        source = resources.files(f"{PACKAGE}.{kind}").joinpath(f"{name}.py").read_text(encoding="utf-8")
        doc = ast.get_docstring(ast.parse(source)) or ""
        yield CatalogueEntry(kind=kind, name=name, summary=doc.partition("\n")[0])


def near_names(name: str, known: Sequence[str]) -> list[str]:
    """The names that may have been meant; the likeliest first."""
    return [one for one in known if one.startswith(name)] or difflib.get_close_matches(name, known, n=3)


def find_class(kind: type[P], name: str) -> type[P]:
    """The class behind a plug-in name or dotted path. Raises UserError that names near misses."""
    if "." not in name:
        if name not in names(kind.kind):
            near = near_names(name, names(kind.kind))
            hint = f"did you mean {near[0]}?" if near else f"reviewgauge list {kind.kind}"
            if Path(f"{name}.py").is_file():
                hint = f"a class in {name}.py is named with both: {name}.CLASS"
            raise UserError(f"no {kind.kind[:-1]} is called {name!r}", remedy=hint)
        return _public_class(kind, importlib.import_module(f"{PACKAGE}.{kind.kind}.{name}"))
    found = import_dotted(name, getattr(kind, "kind", "plug-ins")[:-1])
    if isinstance(found, types.ModuleType):
        return _public_class(kind, found)
    if not (isinstance(found, type) and issubclass(found, kind)):
        raise UserError(f"{name} is not a {kind.__name__}")
    return _whole(found)


def names_class(kind: type[P], name: str) -> bool:
    """Whether a plug-in name or dotted path leads to a class of this kind. Runs the code that it names."""
    try:
        return bool(find_class(kind, name))
    except UserError:
        return False


def _public_class(kind: type[P], module: types.ModuleType) -> type[P]:
    own = [
        item
        for key, item in vars(module).items()
        if isinstance(item, type)
        and issubclass(item, kind)
        and item.__module__ == module.__name__
        and not key.startswith("_")
    ]
    own = [one for one in own if not inspect.isabstract(one)] or own
    if len(own) != 1:
        count = "no" if not own else "more than one"
        raise UserError(f"{module.__name__} holds {count} public {kind.__name__} class", remedy="one class a file")
    return _whole(own[0])


def _whole(found: type[P]) -> type[P]:
    if inspect.isabstract(found):
        missing = min(found.__abstractmethods__)
        near = near_names(missing, [name for name in vars(found) if not name.startswith("_")])
        slip = f"rename {near[0]} to {missing}" if near else f"define {missing}"
        raise UserError(f"{found.__module__}.{found.__name__} has no method {missing}", remedy=slip)
    return found


def load(kind: type[P], text: str) -> P:
    """The plug-in that a spec names. Raises UserError for unknown names and wrong parameters."""
    spec = parse_spec(text)
    return build(find_class(kind, spec.name), spec)


def load_recorded(kind: type[P], text: str) -> P:
    """The plug-in of a spec found in a file, to read figures with and to run nothing: see `load_from` for that.

    It imports no code. A class outside the package is found only where its module was imported already: naming it on
    the command line does so (`import_named`), or making it in Python. Otherwise the author of the file would choose
    what runs here. Making a plug-in opens no file. Raises UserError.
    """
    spec = parse_spec(text)
    option = "--metric" if kind.kind == "metrics" else "--plugin"
    _refuse_foreign_code(spec, f"if you trust it, name it yourself: {option} {in_shell(text)}")
    return build(find_class(kind, spec.name), spec)


def load_from(kind: type[P], spec: str | Spec, origin: FromFile) -> P:
    """The plug-in of a spec found in a file, to be run here. Raises UserError for what only the user may decide.

    Code, programs, addresses, environment variables and files outside of the file's folder: see `core.trust`.
    """
    if isinstance(spec, str):
        spec = parse_spec(spec)
    _refuse_foreign_code(spec, origin.remedy)
    cls = find_class(kind, spec.name)
    _check(cls, spec, origin)
    return build(cls, spec)


def _check(cls: type[Plugin], spec: Spec, origin: FromFile) -> None:
    """The gate, also for the specs inside of this one, whatever kind of plug-in they name."""
    known: set[str] = {field.name for field in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else set()
    parameters = {name: value for name, value in spec.parameters.items() if name in known}  # `build` refuses others
    for text in check_parameters(cls, parameters, origin):
        try:
            inner = parse_spec(text)
        except UserError:  # a judge may be named by its model alone
            check_model(text, one_line(repr(text), 80), origin)
            continue
        if "." in inner.name:
            _check(find_class(Plugin, inner.name), inner, origin)
        for kind in KINDS:
            if inner.name in names(kind):
                module = importlib.import_module(f"{PACKAGE}.{kind}.{inner.name}")
                _check(_public_class(Plugin, module), inner, origin)


def _refuse_foreign_code(spec: Spec, remedy: str) -> None:
    for name in _to_import(spec):
        raise UserError(
            f"{name} is code outside ReviewGauge, and code that only a file names is not run", remedy=remedy
        )


def in_shell(text: str) -> str:
    """As a shell takes it, in double quotes where nothing in it would be replaced there."""
    return shlex.quote(text) if set(text) & set('"$`\\!') or "'" not in text else f'"{text}"'


def import_named(text: str) -> None:
    """Import the code that a spec given by the user names, also inside of parameters; then files may name it too."""
    for name in _to_import(parse_spec(text)):
        import_dotted(name, "plug-in")


def _to_import(spec: Spec) -> Iterator[str]:
    """The code that a spec names, also inside of parameters, and that is not imported yet."""
    for name in dict.fromkeys(_dotted_names(spec)):
        if not is_imported(name) and (name == spec.name or would_import(name)):
            yield name


def replace_texts(spec: Spec, known: Mapping[str, str]) -> Spec:
    """The spec with the texts among its parameters replaced, also those in the specs inside of it."""

    def new(value: Any) -> Any:
        if isinstance(value, tuple | list):
            return type(value)(map(new, value))
        if not isinstance(value, str) or value in known:
            return known.get(value, value) if isinstance(value, str) else value
        try:
            inner = parse_spec(value)
        except UserError:
            return value
        replaced = replace_texts(inner, known)
        if replaced == inner:
            return value
        return f"{inner.name}({', '.join(f'{name}={one!r}' for name, one in replaced.parameters.items())})"

    return Spec(spec.name, {name: new(value) for name, value in spec.parameters.items()})


def texts_of(text: str) -> Iterator[str]:
    """Every text among the parameters of a spec, also of the specs inside of it."""
    try:
        spec = parse_spec(text)
    except UserError:
        return
    for inner in _with_inner(spec):
        yield from texts_in(inner.parameters.values())


def _with_inner(spec: Spec) -> Iterator[Spec]:
    """A spec, and those in the texts among its parameters; a file's name may look like one."""
    yield spec
    for text in texts_in(spec.parameters.values()):
        with suppress(UserError):
            yield from _with_inner(parse_spec(text))


def _dotted_names(spec: Spec) -> list[str]:
    """The dotted paths in a spec, also in the specs that are parameters of it."""
    return [one.name for one in _with_inner(spec) if "." in one.name]


def is_ours(text: str) -> bool:
    """Whether a spec names no code outside this package, also inside of its parameters."""
    return not _dotted_names(parse_spec(text))


def build(cls: type[P], spec: Spec) -> P:
    """An instance of `cls` with the parameters of `spec`, each checked against the field's type."""
    if not dataclasses.is_dataclass(cls):
        raise UserError(f"{cls.__name__} is not a dataclass", remedy="decorate it with @dataclass(frozen=True)")
    fields = {field.name for field in dataclasses.fields(cls) if field.init}
    unknown = sorted(set(spec.parameters) - fields)
    if unknown:
        known = ", ".join(sorted(fields)) or "none"
        raise UserError(f"{spec.name} has no parameter {unknown[0]!r}", remedy=f"it has: {known}")
    needed = [name for name, one in inspect.signature(cls).parameters.items() if one.default is one.empty]
    if missing := [name for name in needed if name not in spec.parameters]:
        raise UserError(f"{spec.name} needs {missing[0]}", remedy=f"write {spec.name}({missing[0]}=...)")
    for key, value in spec.parameters.items():
        if isinstance(value, str) and value and _SECRET.search(key):
            raise UserError(
                f"{spec.name}: {key} looks like a secret, and parameters are written into manifests and reports",
                remedy="let the plug-in read it from the environment",
            )
    if variable := next(filter(None, map(secret_in, texts_in(spec.parameters.values()))), ""):
        raise UserError(
            f"{spec.name}: the value of {variable} is in a parameter, and parameters are written into manifests and "
            "reports",
            remedy=f"leave it out: {variable} is read where it is needed",
        )
    hints = typing.get_type_hints(cls)
    for key, value in spec.parameters.items():
        if why := misfit(value, hints[key]):
            raise UserError(f"{spec.name}: {key}={value!r} {why}")
    try:
        return cls(**spec.parameters)
    except (ValueError, TypeError) as error:
        raise UserError(f"{spec.name}: {error}") from error
