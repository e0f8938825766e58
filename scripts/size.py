"""Print how large the project is: lines, files, verbs, options, dependencies, and what is imported by nobody else.

$ .venv/bin/python scripts/size.py
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from reviewgauge.cli.main import VERBS, group
from reviewgauge.core.specs import KINDS

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "reviewgauge"
BOUNDS = {"value", "low", "high"}


def lines(paths: Iterable[Path]) -> int:
    """Lines of text, blank ones too."""
    return sum(len(path.read_text("utf-8").splitlines()) for path in paths)


def python(folder: str) -> list[Path]:
    """The Python files below a folder of the project."""
    return sorted((ROOT / folder).rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    """The dotted names that a file imports, at its top or within a function."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def lonely_modules() -> list[str]:
    """Modules that at most one other imports, but for plug-ins, providers, analysers, verbs, found by their names, and
    programs of their own.
    """
    names = {".".join(path.relative_to(ROOT / "src").with_suffix("").parts): path for path in python("src")}
    importers = Counter(name for path in names.values() for name in set(imports(path)) & set(names))
    found_by_name = {SOURCE / kind for kind in (*KINDS, "cli", "api", "models/providers", "repo/analysers")}
    programs = ("__init__", "__main__", "worker", "guard")
    return [
        name
        for name, path in names.items()
        if importers[name] <= 1 and path.stem not in programs and path.parent not in found_by_name
    ]


def _fields(record: ast.ClassDef) -> Iterator[str]:
    yield from (
        one.target.id for one in record.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
    )


def bounded_records() -> list[str]:
    """Classes of which a value and its bounds are fields."""
    return [
        node.name
        for path in python("src")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef) and set(_fields(node)) >= BOUNDS
    ]


def options() -> int:
    """Options of all verbs and of those below them, without --help."""

    def of(command: click.Command) -> int:
        own = sum(isinstance(one, click.Option) for one in command.params)
        return own + sum(map(of, command.commands.values() if isinstance(command, click.Group) else ()))

    context = click.Context(group)
    return sum(of(command) for verb in VERBS if (command := group.get_command(context, verb)))


def main() -> None:
    """Print one line a figure."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needs = [re.split(r"[^\w-]", one)[0] for one in project["dependencies"]]
    figures = {
        "lines of src (Python)": lines(python("src")),
        "files of src": len(python("src")),
        "modules with at most one importer": len(lonely_modules()),
        "records for a value with an interval": len(bounded_records()),
        "verbs": len(VERBS),
        "options": options(),
        "lines of tests": lines(python("tests")),
        "lines of benchmarks": lines(python("benchmarks")),
        "words of docs": sum(len(path.read_text("utf-8").split()) for path in (ROOT / "docs").rglob("*.md")),
        "base dependencies (grammars count as one)": len(
            {re.sub(r"^tree-sitter-.*", "grammars", one) for one in needs}
        ),
    }
    for name, figure in figures.items():
        print(f"{figure:>8,}  {name}")
    print("modules with at most one importer:", *lonely_modules(), sep="\n  ")


if __name__ == "__main__":
    main()
