"""Who wrote a spec, and what the specs in files from others may say: the one gate for everything that is to be run.

What the user says on the command line, or in Python, is free. A file (a recipe, a bundle, a run's manifest, a weights
file) may name plug-ins of ours with plain values. It may not decide on a program, an address, an environment variable,
code outside the package, or a file outside of its own folder after links are resolved.

Every parameter of a plug-in that holds text says what the text is for by its type (`path: FilePath = ""`); for ours
tests/core/test_trust.py holds that. One of the user's own classes that says nothing is taken for a path or address
where it looks like one, and for a word elsewhere.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import importlib.machinery
import re
import stat
import sys
import typing
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import Enum
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

from reviewgauge.core.errors import UserError, crash_message, one_line


class Use(Enum):
    """What a text parameter is for."""

    WORD = "a word that is compared or printed"
    FILE = "a file or folder that is read"
    ADDRESS = "an address on the network"
    PROGRAM = "a program, its arguments, or what it may see"
    VARIABLE = "an environment variable whose value is sent"
    SPEC = "the spec of another plug-in"
    MODEL = "a chat or embedding model"


Word = Annotated[str, Use.WORD]
FilePath = Annotated[str, Use.FILE]
Address = Annotated[str, Use.ADDRESS]
ProgramText = Annotated[str, Use.PROGRAM]
Variable = Annotated[str, Use.VARIABLE]
PluginSpec = Annotated[str, Use.SPEC]
ModelName = Annotated[str, Use.MODEL]


@dataclasses.dataclass(frozen=True)
class FromFile:
    """The origin of a spec that stands in a file from others.

    `file` names it in errors, unless the caller does; `folder` is where the files lie that it may name. `said` are
    texts that the user gave in this command: those are the user's own wherever they stand. `remedy` tells how to give
    one. `offline`: recorded calls answer in the place of models, so that the address of one is a mere name.
    """

    file: str
    folder: Path | None = None
    said: frozenset[str] = frozenset()
    remedy: str = "if you trust it, name it yourself on the command line"
    offline: bool = False

    def refuse(self, problem: str) -> UserError:
        """The error for what only the user may decide."""
        where = f"{self.file}: " if self.file else ""
        return UserError(f"{where}{problem}, which a file may not decide", remedy=self.remedy)


def uses(hint: object) -> frozenset[Use]:
    """What the texts of a parameter of this type are for; empty where it states nothing."""
    found = {item for item in getattr(hint, "__metadata__", ()) if isinstance(item, Use)}
    return frozenset(found.union(*map(uses, typing.get_args(hint))))


def holds_text(hint: object) -> bool:
    """Whether a parameter of this type can hold any text."""
    if typing.get_origin(hint) is typing.Literal:
        return False
    return hint in (str, object, Any) or any(map(holds_text, typing.get_args(hint)))


def texts_in(values: Iterable[object]) -> Iterator[str]:
    """Every text in literal values, also within mappings and sequences."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            yield from texts_in([*value.keys(), *value.values()])
        elif isinstance(value, tuple | list | set | frozenset):
            yield from texts_in(value)


def check_parameters(cls: type, parameters: Mapping[str, object], origin: FromFile) -> Iterator[str]:
    """Raise UserError for a parameter that only the user may decide. Yields the specs inside, which are to be checked.

    A default is ours, and what the user said is the user's.
    """
    if getattr(cls, "runs_programs", False):
        raise origin.refuse(f"it runs a program ({cls.__module__.rpartition('.')[2]})")
    hints = typing.get_type_hints(cls, include_extras=True)
    defaults = {field.name: field.default for field in dataclasses.fields(cls)}
    for name, value in parameters.items():
        usual = set(texts_in([defaults.get(name)]))
        for text in texts_in([value]):
            if not text or text in usual or text in origin.said:
                continue
            found = uses(hints[name])
            if Use.SPEC in found:
                yield text
            elif found != {Use.WORD}:
                _check_text(text, found, f"{name}={one_line(repr(text), 80)}", origin)


def _check_text(text: str, found: frozenset[Use], shown: str, origin: FromFile) -> None:
    if found == {Use.MODEL}:
        check_model(text, shown, origin)
    elif found == {Use.FILE} or (not found and any(mark in text for mark in "/\\~")):
        check_file(text, shown, origin)
    elif found:
        raise origin.refuse(f"{shown} is {' or '.join(use.value for use in found)}")


@cache
def _providers() -> frozenset[str]:
    """The providers of chat models, by the names of their files, and the fake one; none is imported."""
    files = resources.files("reviewgauge.models").joinpath("providers").iterdir()
    return frozenset({"fake", *(file.name.removesuffix(".py") for file in files if file.name[0] not in "_.")})


def check_model(text: str, shown: str, origin: FromFile) -> None:
    """Raise UserError for a model at an address, one that would be fetched, or one in a folder elsewhere."""
    chat = text.partition(":")[0] in _providers() and ":" in text
    if chat and origin.offline:
        return
    if "//" in text or "@" in text or text.startswith("hub:"):
        raise origin.refuse(f"{shown} is an address on the network")
    if not chat:
        check_file(text, shown, origin)


def check_file(text: str, shown: str, origin: FromFile) -> None:
    """Raise UserError unless the path, all links followed, is a file or folder within the folder of the origin."""
    if origin.folder is None:
        raise origin.refuse(f"{shown} is a file of this machine")
    try:
        there = Path(text).expanduser().resolve()
        inside = there.is_relative_to(origin.folder.resolve())
        kind = there.stat().st_mode if inside and there.exists() else stat.S_IFREG
    except (OSError, RuntimeError, ValueError):  # a loop of links, a home that is not there, a NUL
        raise origin.refuse(f"{shown} cannot be followed") from None
    if not inside:
        raise origin.refuse(f"{shown} is outside of its folder")
    if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
        raise origin.refuse(f"{shown} is neither a file nor a folder")


# --- code outside the package, which is imported once the user has named it -------------------------------------------

_FILE_ENDING = re.compile(
    r"(?i)bz2|csv|gz|html?|js|json|jsonl|jsonlines|log|md|ndjson|parquet|pickle|pkl|py|rdjson|rst|sarif|sh|sqlite"
    r"|tar|tgz|toml|tsv|txt|xlsx|xml|xz|ya?ml|zip|zst"
)


@contextmanager
def _in_current_folder() -> Iterator[None]:
    """The current folder is looked into for code that the user names, and at no other time: it may be a stranger's."""
    here = str(Path.cwd())
    if here in sys.path:
        yield
        return
    sys.path.append(here)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        with suppress(ValueError):
            sys.path.remove(here)


@_in_current_folder()
def import_dotted(name: str, what: str) -> object:
    """The module or attribute at a dotted path; `what` it should be, for the UserError where there is none."""
    if _names_file(name):
        raise UserError(f"there is no file or folder {name}", remedy="reviewgauge list")
    for module_name, attribute in ((name, ""), name.rpartition(".")[::2]):
        try:
            module = importlib.import_module(module_name)
        except ModuleNotFoundError as error:
            if error.name is None or not (module_name + ".").startswith(error.name + "."):
                raise UserError(f"{module_name} needs {error.name}, which is not installed") from error
            continue
        except Exception as error:
            raise UserError(f"importing {module_name} failed: {crash_message(error)}") from error
        if not attribute:
            return module
        if hasattr(module, attribute):
            return getattr(module, attribute)
    raise UserError(f"no {what} found at {name}", remedy="is its folder the current one or on PYTHONPATH?")


def _names_file(name: str) -> bool:
    """Whether it reads as the name of a file: `cases.json` that is not there must not run `cases.py`."""
    return _FILE_ENDING.fullmatch(name.rpartition(".")[2]) is not None


def is_imported(name: str) -> bool:
    """Whether a dotted path can be followed without importing anything."""
    module, _, attribute = name.rpartition(".")
    return name in sys.modules or (module in sys.modules and attribute in vars(sys.modules[module]))


def source_digest(name: str) -> str:
    """A hash of the file of the module that a dotted path leads into; empty where none is imported, or it has none."""
    while name and name not in sys.modules:
        name = name.rpartition(".")[0]
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None or not Path(file).is_file():
        return ""
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]


@_in_current_folder()
def would_import(name: str) -> bool:
    """Whether following a dotted path would run a module's code. Namespace packages are looked into."""
    if _names_file(name):
        return False
    places = None
    walked = ""
    for part in name.split("."):
        walked = f"{walked}.{part}" if walked else part
        if walked in sys.modules:
            places = getattr(sys.modules[walked], "__path__", None)
            if places is None:
                return False
            continue
        try:
            found = importlib.machinery.PathFinder.find_spec(walked, places)
        except (ImportError, ValueError):
            return True
        if found is None:
            return False
        if found.origin is not None or found.submodule_search_locations is None:
            return True
        places = found.submodule_search_locations
    return False
