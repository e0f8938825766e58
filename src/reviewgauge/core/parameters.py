"""What a parameter of a plug-in may be: the bounds that its type states, and why a value does not fit."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator
from functools import lru_cache
from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

Positive = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=0)]
AboveZero = Annotated[float, Field(gt=0)]
_LIMITS = {"ge": "{:g} or more", "gt": "above {:g}", "le": "{:g} or less", "lt": "below {:g}"}


def limits(hint: object) -> Iterator[str]:
    """The bounds that a type states, in words: `1 or more`."""
    for field in getattr(hint, "__metadata__", ()):
        for one in field.metadata if isinstance(field, FieldInfo) else ():
            yield from (words.format(getattr(one, name)) for name, words in _LIMITS.items() if hasattr(one, name))
    for inner in typing.get_args(hint):
        yield from limits(inner)


def check_bounds(plugin: Any) -> None:
    """Raise ValueError for a parameter out of the bounds of its type, or not one of its words."""
    cls: Any = type(plugin)
    for name, hint in _bounded(cls):
        if why := misfit(getattr(plugin, name), hint):
            raise ValueError(f"{name}={getattr(plugin, name)!r} {why}")


@lru_cache(maxsize=512)
def _bounded(cls: Any) -> tuple[tuple[str, object], ...]:
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except NameError:  # a class of the user's own, made within a function: it states none
        return ()
    found = ((one.name, hints[one.name]) for one in dataclasses.fields(cls) if one.init)
    return tuple((name, hint) for name, hint in found if any(limits(hint)) or typing.get_origin(hint) is typing.Literal)


@lru_cache
def _checker(hint: Any) -> TypeAdapter[Any]:
    # 1e400 reads as infinity, which no spec can write: a score under such a name could never be read again
    return TypeAdapter(hint, config=ConfigDict(strict=True, allow_inf_nan=False, arbitrary_types_allowed=True))


def misfit(value: object, hint: object) -> str:
    """Why a value is none of a parameter of this type; empty where it is one."""
    try:
        _checker(hint).validate_python(value)
    except ValidationError:
        if typing.get_origin(hint) is typing.Literal:
            return f"must be one of {', '.join(repr(word) for word in typing.get_args(hint))}"
        if bounds := " and ".join(limits(hint)):
            return f"must be {bounds}"
        finite = " (a finite number)" if hint is float else ""
        return f"is not of type {getattr(hint, '__name__', str(hint).replace('typing.', ''))}{finite}"
    return ""
