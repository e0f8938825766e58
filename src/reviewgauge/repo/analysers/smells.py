"""Code smells in Python files, computed from the syntax tree: those of PyScent, which CRScore takes its issues from.

Long method, long parameter list, long branch, many attributes, many methods, shotgun surgery, low cohesion, long
lambda, long comprehension, and complexity of rank C or worse, counted as radon counts. The worker
loads this file by its path, so it imports nothing of ReviewGauge. Nodes are visited in a loop, once each, so deep or
long files cost no recursion.

Source: github.com/whyjay17/Pyscent, which sums up pylint (R0902, R0904, R0912, R0913, R0915), cohesion
(github.com/mschwager/cohesion) and counts of its own; CRScore (Naik et al. 2025), Table 14 and appendix C.2.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]
_Lines = list[tuple[int, int]]  # the first and the last of each range, in their order
_BUILTINS = frozenset(dir(builtins))
_COMPREHENSIONS = {
    ast.ListComp: "list comprehension",
    ast.SetComp: "set comprehension",
    ast.DictComp: "dict comprehension",
}
_FEWEST_METHODS = 2  # a class with one method cannot fall apart
_FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


def find_smells(source: str, limits: Mapping[str, int]) -> Iterator[Row]:
    """The smells in `source`, a row each; `limits` are the fields of SmellLimits. Raises what `ast.parse` raises."""
    tree = ast.parse(source)
    found = _collect(tree)
    yield from _too_complex(tree, limits["complexity"])
    for function in found.functions:
        yield from _of_function(function, limits)
    for owner in found.classes:
        yield from _of_class(owner, limits)
    text = _Text(source)
    for node in found.long:
        word = _COMPREHENSIONS.get(type(node))
        rule = "long-comprehension" if word else "long-lambda"
        limit = limits["comprehension_length" if word else "lambda_length"]
        length = text.length(node)
        if length > limit:
            yield _over(rule, f"This {word or 'lambda'} is long: {length} characters", length, limit, _lines(node))


@dataclass
class _Function:
    """A function and its counts; `outer` is the function around it. `own` is what a method calls its instance."""

    node: _FunctionNode
    name: str
    outer: _Function | None
    is_method: bool
    own: str = ""
    statements: int = 0
    branches: int = 0
    uses: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)


@dataclass
class _Class:
    """A class: its methods, its variables, and the calls in it. Classes inside it are left out."""

    node: ast.ClassDef
    name: str
    methods: dict[str, _Function] = field(default_factory=dict)
    variables: set[str] = field(default_factory=set)
    attributes: dict[str, int] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)

    def assign(self, attribute: str, line: int) -> None:
        """Note an attribute of the instance, by the first line that assigns it."""
        self.attributes[attribute] = min(line, self.attributes.get(attribute, line))


@dataclass
class _Found:
    functions: list[_Function] = field(default_factory=list)
    classes: list[_Class] = field(default_factory=list)
    long: list[ast.expr] = field(default_factory=list)


@dataclass(frozen=True)
class _Scope:
    """The position of a node: the name so far, the innermost function, class, and method of that class."""

    name: str = ""
    function: _Function | None = None
    owner: _Class | None = None
    method: _Function | None = None


def _collect(tree: ast.Module) -> _Found:
    found = _Found()
    stack: list[tuple[ast.AST, _Scope]] = [(tree, _Scope())]
    while stack:
        node, scope = stack.pop()
        for child in ast.iter_child_nodes(node):
            if scope.function is not None:
                _count(child, scope.function)
            inner = scope
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                inner = _enter_function(child, scope, found)
            elif isinstance(child, ast.ClassDef):
                inner = _enter_class(child, scope, found)
            elif isinstance(child, ast.Lambda) or type(child) in _COMPREHENSIONS:
                found.long.append(child)  # type: ignore[arg-type]
            elif scope.owner is not None:
                _note(child, scope.owner, scope.method)
            stack.append((child, inner))
    for function in reversed(found.functions):  # an inner function comes after the one around it
        if function.outer is not None:
            function.outer.statements += function.statements
    return found


def _enter_function(node: _FunctionNode, scope: _Scope, found: _Found) -> _Scope:
    name = f"{scope.name}.{node.name}" if scope.name else node.name
    is_method = scope.owner is not None and scope.method is None
    function = _Function(node, name, scope.function, is_method)
    function.statements = -(ast.get_docstring(node, clean=False) is not None)
    found.functions.append(function)
    if not is_method:
        return _Scope(name, function, scope.owner, scope.method)
    assert scope.owner is not None
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    if names and not _decorators(node) & {"staticmethod", "classmethod"}:
        function.own = names[0]
    scope.owner.methods[node.name] = function
    return _Scope(name, function, scope.owner, function)


def _enter_class(node: ast.ClassDef, scope: _Scope, found: _Found) -> _Scope:
    name = f"{scope.name}.{node.name}" if scope.name else node.name
    owner = _Class(node, name)
    found.classes.append(owner)
    fields = "dataclass" in _decorators(node)
    for item in node.body:
        targets = item.targets if isinstance(item, ast.Assign) else []
        if isinstance(item, ast.AnnAssign):
            targets = [item.target]
            if fields and isinstance(item.target, ast.Name) and _called(item.annotation) != "ClassVar":
                owner.assign(item.target.id, item.lineno)
        owner.variables.update(target.id for target in targets if isinstance(target, ast.Name))
    return _Scope(name, scope.function, owner, None)


def _count(node: ast.AST, function: _Function) -> None:
    """One statement more, and its branches, as pylint counts those: an `elif` is one, an `else` another."""
    function.statements += isinstance(node, ast.stmt)
    if isinstance(node, ast.If):
        is_elif = len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)
        function.branches += 1 + (bool(node.orelse) and not is_elif)
    elif isinstance(node, ast.For | ast.AsyncFor | ast.While):
        function.branches += 1 + bool(node.orelse)
    elif isinstance(node, ast.Try | ast.TryStar):
        function.branches += len(node.handlers) + bool(node.orelse) + bool(node.finalbody)
    elif isinstance(node, ast.Match):
        function.branches += len(node.cases)


def _note(node: ast.AST, owner: _Class, method: _Function | None) -> None:
    """Add a call in a class, or a use of the instance's attribute, to what is known of the class."""
    if isinstance(node, ast.Call):
        name = _called(node.func)
        owner.calls.append(name)
        if method is not None:
            method.calls.add(name)
    elif isinstance(node, ast.Attribute) and method is not None and isinstance(node.value, ast.Name):
        if node.value.id != method.own:
            return
        method.uses.add(node.attr)
        if isinstance(node.ctx, ast.Store):
            owner.assign(node.attr, node.lineno)


def _called(node: ast.expr) -> str:
    """The last name of an expression that is called or indexed: `c` of `a.b.c`, `a[0].c` and `c()()`."""
    while isinstance(node, ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _decorators(node: _FunctionNode | ast.ClassDef) -> set[str]:
    return {_called(item) for item in node.decorator_list}


def _lines(node: ast.expr | ast.stmt) -> _Lines:
    return [(node.lineno, node.end_lineno or node.lineno)]


def _each(lines: Iterable[int]) -> _Lines:
    return [(line, line) for line in sorted(set(lines))]


def _row(rule: str, message: str, level: float, lines: _Lines) -> Row:
    """`level` is how often the figure holds its limit."""
    span = {"start": lines[0][0], "end": lines[-1][1], "lines": lines}
    return {"rule": rule, "message": message, "level": str(level)} | span


def _over(rule: str, message: str, figure: int, limit: int, lines: _Lines) -> Row:
    return _row(rule, f"{message}, over {limit}", figure / limit, lines)


def _of_function(function: _Function, limits: Mapping[str, int]) -> Iterator[Row]:
    node, name = function.node, f"`{function.name}`"
    whole = {"function": function.name, "lines": ()}
    if function.statements > (limit := limits["statements"]):
        message = f"{name} is a long method: {function.statements} statements"
        yield _over("long-method", message, function.statements, limit, _lines(node)) | whole
    if function.branches > (limit := limits["branches"]):
        message = f"{name} has too many branches: {function.branches}"
        yield _over("long-branch", message, function.branches, limit, _lines(node)) | whole
    arguments = node.args
    count = len(arguments.posonlyargs) + len(arguments.args) + len(arguments.kwonlyargs)
    count -= function.is_method and count > 0 and "staticmethod" not in _decorators(node)  # `self` is no choice
    if count > (limit := limits["parameters"]):
        message = f"{name} has a long parameter list: {count} parameters"
        signature = [(node.lineno, max(node.lineno, node.body[0].lineno - 1))]
        yield _over("long-parameter-list", message, count, limit, signature)


def _of_class(owner: _Class, limits: Mapping[str, int]) -> Iterator[Row]:
    """The smells of a class. Its calls and its cohesion are about all of it: what brings the class is to blame, since
    otherwise every change of a class that has grown would be."""
    name, top = f"`{owner.name}`", owner.node.lineno
    if len(owner.attributes) > (limit := limits["attributes"]):
        message = f"{name} has many attributes: {len(owner.attributes)}"
        yield _over("many-attributes", message, len(owner.attributes), limit, _each([top, *owner.attributes.values()]))
    public = [method.node.lineno for word, method in owner.methods.items() if not word.startswith("_")]
    if len(public) > (limit := limits["methods"]):
        message = f"{name} has many public methods: {len(public)}"
        yield _over("many-methods", message, len(public), limit, _each([top, *public]))
    outside = sum(word not in owner.methods and word not in _BUILTINS for word in owner.calls)
    if outside > (limit := limits["external_calls"]):
        message = f"{name} invites shotgun surgery: {outside} calls to code outside of it"
        yield _over("shotgun-surgery", message, outside, limit, _each([top]))
    cohesion = _cohesion(owner)
    if cohesion is not None and cohesion < (limit := limits["cohesion"]):
        share = f"its methods use {cohesion:.0f}% of its variables on average, under {limit}%"
        yield _row("low-cohesion", f"{name} has low cohesion: {share}", limit / cohesion, _each([top]))


def _cohesion(owner: _Class) -> float | None:
    """The share of the class's variables that a method uses, mean over its methods, in percent.

    As the program `cohesion` counts: a variable is one of the class's body or of the instance, and is never called.
    None where it says nothing: few methods, or none that uses a variable.
    """
    called = set(owner.calls)
    used = owner.variables.union(*(method.uses for method in owner.methods.values()))
    variables = {word for word in used if word not in called or word in owner.variables}
    shared = sum(len((method.uses - method.calls) & variables) for method in owner.methods.values())
    if len(owner.methods) < _FEWEST_METHODS or not shared:
        return None
    return 100 * shared / (len(variables) * len(owner.methods))


def _too_complex(tree: ast.Module, limit: int) -> Iterator[Row]:
    """The functions and methods over the limit, without those inside of others."""
    todo: list[tuple[ast.AST, str]] = [(tree, "")]
    while todo:
        node, owner = todo.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                todo += [(child, child.name)] * (not owner)
            elif not isinstance(child, _FunctionNode):
                todo.append((child, owner))
            elif (complexity := 1 + sum(map(_paths, _own_nodes(child)))) > limit:
                name = f"{owner}.{child.name}" if owner else child.name
                rank = "ABCDEF"[min(5, math.ceil(complexity / 10) - (complexity <= 5))]
                message = f"cyclomatic complexity is {complexity} (rank {rank})"
                row = _over("cyclomatic", message, complexity, limit, _lines(child))
                yield row | {"function": name, "lines": ()}


def _own_nodes(function: _FunctionNode) -> Iterator[ast.AST]:
    """The nodes of a function's body, without functions and classes inside, and what an `assert` asserts."""
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop()
        if not isinstance(node, _FunctionNode | ast.ClassDef):
            yield node
            todo += [] if isinstance(node, ast.Assert) else ast.iter_child_nodes(node)


def _paths(node: ast.AST) -> int:
    """The paths that a node adds."""
    if isinstance(node, ast.If | ast.IfExp | ast.Assert):
        return 1
    if isinstance(node, ast.For | ast.AsyncFor | ast.While):
        return 1 + bool(node.orelse)
    if isinstance(node, ast.Try):
        return len(node.handlers) + bool(node.orelse)
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    if isinstance(node, ast.Match):
        return len(node.cases) - any(getattr(case.pattern, "pattern", False) is None for case in node.cases)
    return 0


class _Text:
    """The lines of a file, to measure nodes whose places are counted in bytes of UTF-8."""

    def __init__(self, source: str) -> None:
        text = source.replace("\r\n", "\n").replace("\r", "\n")
        self._lines = [line.encode("utf-8", "surrogatepass") for line in text.split("\n")]
        self._before = [0]  # characters before a line, without indentation, with one for each line's end
        for line in text.split("\n"):
            self._before.append(self._before[-1] + len(line.strip()) + 1)

    def length(self, node: ast.expr) -> int:
        """The characters of a node, without indentation and with one for each line's end."""
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        if first == last:
            return _characters(self._lines[first][node.col_offset : node.end_col_offset])
        ends = _characters(self._lines[first][node.col_offset :]) + _characters(
            self._lines[last][: node.end_col_offset]
        )
        return ends + 1 + self._before[last] - self._before[first + 1]


def _characters(part: bytes) -> int:
    return len(part.decode("utf-8", "surrogatepass").strip())
