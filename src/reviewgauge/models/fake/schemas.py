"""The plainest value that a JSON schema allows: what the fake model answers where it knows the shape and no task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

_PLAIN: Mapping[str, JsonValue] = {"boolean": False, "null": None, "string": "fake"}
_DEEPEST = 20


def plainest(schema: Mapping[str, Any], root: Mapping[str, Any] | None = None, depth: int = 0) -> JsonValue:
    """A value of the schema: constants and first choices as given, numbers at their minimum, lists as short as may be.

    Only the properties that are required are there, or all where none is.
    """
    root = schema if root is None else root
    if depth > _DEEPEST:
        return None
    if isinstance(reference := schema.get("$ref"), str):
        return plainest(_referenced(reference, root), root, depth + 1)
    for word in ("anyOf", "oneOf", "allOf"):
        if schema.get(word):
            return plainest(schema[word][0], root, depth + 1)
    if "const" in schema:
        return schema["const"]  # type: ignore[no-any-return]
    if schema.get("enum"):
        return schema["enum"][0]  # type: ignore[no-any-return]
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = kind[0]
    if kind == "object" or (kind is None and "properties" in schema):
        properties = schema.get("properties") or {}
        names = schema.get("required") or list(properties)
        return {name: plainest(properties.get(name) or {}, root, depth + 1) for name in names}
    if kind == "array":
        one = schema.get("items")
        return [plainest(one if isinstance(one, Mapping) else {}, root, depth + 1)] * int(schema.get("minItems", 0))
    if kind in ("integer", "number"):
        low = schema.get("minimum", 0)
        return low if kind == "number" or isinstance(low, int) else int(low)
    if kind == "string":
        return "fake".ljust(int(schema.get("minLength", 0)), ".")
    return _PLAIN.get(str(kind), None)


def _referenced(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Any = root
    for part in reference.removeprefix("#").strip("/").split("/"):
        found = found.get(part, {}) if isinstance(found, Mapping) else {}
    return found if isinstance(found, Mapping) else {}
