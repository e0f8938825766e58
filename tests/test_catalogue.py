"""Every plug-in: a docstring with its source, a spec that round-trips, literal defaults."""

from __future__ import annotations

import dataclasses
import inspect
import re

import pytest

from reviewgauge.api.info import example_spec
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Context, Dataset, Format, Judge, Metric, Reviewer, Stage
from reviewgauge.core.specs import Plugin, find_class, load, names, short_spec, signature
from reviewgauge.operators.code.operator import Operator
from reviewgauge.repo.forge.api import ForgeKind

KINDS: tuple[type[Plugin], ...] = (Dataset, Stage, Reviewer, Metric, Format, Judge, Context, Operator, ForgeKind)
EVERY = [(kind, name) for kind in KINDS for name in names(kind.kind)]


@pytest.mark.parametrize(("kind", "name"), EVERY, ids=lambda value: value if isinstance(value, str) else value.kind)
def test_plugin(kind: type[Plugin], name: str) -> None:
    cls = find_class(kind, name)
    module = inspect.getmodule(cls)
    assert module is not None
    assert module.__doc__ is not None
    assert dataclasses.is_dataclass(cls)
    assert cls.__dataclass_params__.frozen
    assert cls.__name__.rstrip("_") == "".join(part.capitalize() for part in name.split("_")), (
        "file and class name differ"
    )
    first, _, _ = module.__doc__.partition("\n")
    assert 15 < len(first) <= 120, f"{name}: the first line is its line in the catalogue"
    assert re.search(r"https?://|arXiv|[Ss]ource|appendix|\w#\d+", module.__doc__), f"{name} cites no source"
    try:
        plugin = load(kind, name)
    except UserError:  # a parameter has to be given
        plugin = load(kind, example_spec(cls, name))
    assert load(kind, signature(plugin)) == plugin
    assert load(kind, short_spec(plugin)) == plugin
    assert hash(plugin) == hash(load(kind, signature(plugin)))
    assert all(isinstance(key, str) and isinstance(value, str) for key, value in plugin.pins().items())


def test_each_kind_has_plugins() -> None:
    for kind in KINDS:
        assert names(kind.kind), kind.kind
