"""Code outside the package: whether a dotted path names some, and its import once the user has named it."""

from __future__ import annotations

import hashlib
import importlib
import importlib.machinery
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from reviewgauge.core.errors import UserError

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
            raise UserError(f"importing {module_name} failed: {type(error).__name__}: {error}") from error
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
