"""What a recipe file from others may not decide: which program runs here, who gets a token or code, what else is read.

A recipe is data. Programs, addresses, names of tokens and files outside of the folder that one is in are taken from it
only where the user's own words (`--set`, `--stage`, `--model`) hold them too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath

from reviewgauge.core.errors import UserError, one_line
from reviewgauge.core.specs import find_class, parse_spec, texts_of
from reviewgauge.core.protocols import Reviewer

USUAL_TOKENS = ("GITHUB_TOKEN",)
_FILES = frozenset({"archive", "candidates", "clone", "home", "path"})  # parameters that name one on this machine
_REMEDY = "if you trust it, say it yourself: let the recipe take it from a parameter, and give that with --set"


def own_words(words: Iterable[object]) -> frozenset[str]:
    """Every text in what a user gave: values of parameters and specs of stages, and what stands inside of those."""
    found = frozenset(_texts(words))
    return found | {inner for text in found for inner in texts_of(text)}


def check_step(spec: str, own: frozenset[str]) -> None:
    """Raise UserError where `spec`, a file's with its parameters put in, decides what is not its to decide."""
    for problem in _problems(spec, own):
        raise UserError(f"{problem}, which a recipe file does not decide", remedy=_REMEDY)


def _problems(text: str, own: frozenset[str]) -> Iterator[str]:
    if text in own:
        return
    try:
        spec = parse_spec(text)
    except UserError:
        if "//" in text:
            yield f"it names the address {one_line(text, 80)}"
        return
    if _runs_programs(spec.name):
        yield f"it runs a program: {one_line(text, 80)}"
    for name, value in spec.parameters.items():
        for word in _texts([value]):
            if word in own:
                continue
            if name == "api" and word:
                yield f"it names the address {one_line(word, 80)}"
            elif name == "tokens" and word not in USUAL_TOKENS:
                yield f"it sends what {one_line(word, 80)} holds"
            elif name in _FILES and _is_outside(word):
                yield f"it reads {one_line(word, 80)}"
            else:
                yield from _problems(word, own)


def _runs_programs(name: str) -> bool:
    """Whether a reviewer of that name does. A dotted name whose code is not here yet is refused elsewhere."""
    if "." in name and name.rpartition(".")[0] not in sys.modules:
        return False
    try:
        return find_class(Reviewer, name).runs_programs
    except UserError:
        return False


def _is_outside(path: str) -> bool:
    return path.startswith("~") or PurePath(path).is_absolute() or ".." in PurePath(path).parts


def _texts(values: Iterable[object]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            yield from _texts([*value.keys(), *value.values()])
        elif isinstance(value, list | tuple | set | frozenset):
            yield from _texts(value)
