"""Made histories of which it is known which commit brought each bug, and what happened to its line until the fix.

Programs are functions of calls such as `total_3 = combine(item_3, weight_7, 12)`. A bug is a wrong function or number
in one of them; between the bug and its fix the line may be reformatted, moved, renamed, copied, merged. Everything
comes from one seed, and goes into git by fast-import.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from dataclasses import dataclass, field

EVENTS = (
    "white space",
    "broken into lines",
    "put into an if",
    "comment on it changed",
    "variable renamed",
    "function moved in its file",
    "function moved to another file",
    "file renamed",
    "file copied, the copy mended",
    "joined with another change by a merge",
    "mode of the file changed",
    "changed again, for another reason",
)
_VERBS = ("combine", "select", "measure", "collect", "reduce", "publish", "resolve", "convert", "balance", "arrange")
_HOUR = 3600


@dataclass
class Call:
    """One statement. `shape` is how it is written; it changes without changing what the statement means."""

    target: str
    verb: str
    arguments: list[str]
    number: int
    note: str = ""
    spaced: bool = False
    broken: bool = False
    guard: str = ""

    def rows(self) -> list[str]:
        """Its lines."""
        deep = "    " * (2 if self.guard else 1)
        note = f"  # {self.note}" if self.note else ""
        inside = [*self.arguments, str(self.number)]
        if self.broken:
            rows = [f"{deep}{self.target} = {self.verb}({note}", *(f"{deep}    {one}," for one in inside), f"{deep})"]
        elif self.spaced:
            rows = [f"{deep}{self.target}  =  {self.verb}( {' , '.join(inside)} ){note}"]
        else:
            rows = [f"{deep}{self.target} = {self.verb}({', '.join(inside)}){note}"]
        return [f"    if {self.guard}:", *rows] if self.guard else rows


@dataclass
class Function:
    """A function whose first statement defines the subject that the others use."""

    name: str
    subject: str
    calls: list[Call]
    remark: str
    bugs: list[Bug] = field(default_factory=list)

    def rows(self) -> list[str]:
        """Its lines."""
        body = [row for call in self.calls for row in call.rows()]
        return [
            "",
            "",
            f"def {self.name}(source):",
            f"    # {self.remark}",
            *body,
            f"    return {self.calls[-1].target}",
        ]


@dataclass
class Bug:
    """A wrong statement: the commit that brought it and, once it is mended, the fix and its kind."""

    brought: int
    call: Call
    planned: list[str]
    events: list[str] = field(default_factory=list)
    fix: int = 0
    kind: str = ""


class History:
    """A repository in the making. Commits are numbered from 1, one an hour."""

    def __init__(self, seed: int, bugs: int) -> None:
        self.random = random.Random(seed)
        self.files: dict[str, list[Function]] = {}
        self.written: dict[str, str] = {}
        self.bugs: list[Bug] = []
        self.stream: list[bytes] = []
        self.commits = self.names = 0
        self.aside = False
        for number in range(12):
            self.files[f"src/module_{number}.py"] = [self._function() for _ in range(6)]
        self._commit("first version")
        self._tell(bugs)

    def script(self) -> bytes:
        """What fast-import reads."""
        return b"".join(self.stream)

    # --- the story ---

    def _tell(self, bugs: int) -> None:
        open_bugs: list[tuple[Function, Bug]] = []
        while len(self.bugs) < bugs or open_bugs:
            chance = self.random.random()
            if len(self.bugs) < bugs and (chance < 0.3 or not open_bugs):
                open_bugs.append(self._break())
            elif chance < 0.5 or not open_bugs:
                self._grow()
            else:
                at = self.random.randrange(len(open_bugs))
                function, bug = open_bugs[at]
                if bug.planned:
                    open_bugs[at] = self._happen(function, bug, bug.planned.pop()), bug
                else:
                    self._mend(function, bug)
                    function.bugs.remove(bug)
                    open_bugs.pop(at)

    def _break(self) -> tuple[Function, Bug]:
        """A commit that brings a bug, by a change of a statement or with a new function."""
        planned = self.random.choices(EVENTS, k=self.random.choice((0, 1, 1, 1, 2)))
        _, functions = self._some_file()
        free = [function for function in functions if not function.bugs]
        if free and self.random.random() < 0.6:
            function = self.random.choice(free)
            call = self.random.choice(function.calls[1:])
            self._other_meaning(call)
        else:
            function = self._function()
            functions.insert(self.random.randrange(len(functions) + 1), function)
            call = self.random.choice(function.calls[1:])
        bug = Bug(self._commit("a feature"), call, planned)
        function.bugs.append(bug)
        self.bugs.append(bug)
        return function, bug

    def _grow(self) -> None:
        """A commit that has nothing to do with any bug: another function, another number, another comment."""
        _, functions = self._some_file()
        sound = [function for function in functions if not function.bugs]
        choice = self.random.random()
        if choice < 0.4 or not sound:
            functions.append(self._function())
        elif choice < 0.7:
            self._other_meaning(self.random.choice(self.random.choice(sound).calls))
        else:
            self.random.choice(functions).remark = self._name("remark")
        self._commit("more")

    def _mend(self, function: Function, bug: Bug) -> None:
        """The fix: it replaces or deletes the statement, or adds one; it may do something else besides."""
        bug.kind = self.random.choices(("replaces", "deletes", "only adds"), (0.8, 0.1, 0.1))[0]
        if bug.kind == "deletes" and (bug.call is function.calls[-1] or len(function.calls) < 4):
            bug.kind = "replaces"
        if bug.kind == "replaces":
            self._other_meaning(bug.call)
        elif bug.kind == "deletes":
            function.calls.remove(bug.call)
        else:
            function.calls.insert(function.calls.index(bug.call), self._call(function.subject))
        if bug.kind != "only adds":
            self._beside(function, bug)
        bug.fix = self._commit("fix")

    def _beside(self, function: Function, bug: Bug) -> None:
        others = [call for call in function.calls if call is not bug.call]
        also = self.random.random()
        if also < 0.2:
            function.remark = self._name("remark")
        elif also < 0.4:
            one = self.random.choice(others)
            one.broken = not one.broken
        elif also < 0.5:
            self._other_meaning(self.random.choice(others))  # a tangled change, which no variant can tell apart

    # --- what happens to the line of a bug ---

    def _happen(self, function: Function, bug: Bug, event: str) -> Function:
        """One event; the function in which the bug is afterwards."""
        path = next(path for path, functions in self.files.items() if any(f is function for f in functions))
        deeds: dict[str, Callable[[str, Function, Bug], Function | None]] = {
            "variable renamed": self._rename,
            "function moved in its file": self._move,
            "function moved to another file": self._move_away,
            "file renamed": self._rename_file,
            "file copied, the copy mended": self._copy,
            "joined with another change by a merge": self._merge,
        }
        for one in {id(one): one for one in (bug, *self._sharing(event, path, function))}.values():
            one.events.append(event)
        found = deeds.get(event, self._reshape)(path, function, bug)
        if event == "mode of the file changed":
            self._commit("mode", modes={path: "100755"})
        elif event != "joined with another change by a merge":
            self._commit(event)
        return found or function

    def _sharing(self, event: str, path: str, function: Function) -> list[Bug]:
        """Other open bugs that an event of a whole function or file happens to as well."""
        if event == "file renamed":
            return [
                bug for functions in self.files.values() if function in functions for f in functions for bug in f.bugs
            ]
        return list(function.bugs) if "function" in event or "variable" in event else []

    def _reshape(self, path: str, function: Function, bug: Bug) -> None:
        """What happens to the one line: it is written in another way, or means something else."""
        call, event = bug.call, bug.events[-1]
        if event == "white space":
            call.spaced = not call.spaced
        elif event == "broken into lines":
            call.broken = not call.broken
        elif event == "put into an if":
            call.guard = call.guard or self._name("ready")
        elif event == "comment on it changed":
            call.note = self._name("note")
        elif event == "changed again, for another reason":
            call.number += self.random.randint(1, 50)

    def _rename(self, path: str, function: Function, bug: Bug) -> None:
        old, function.subject = function.subject, self._name("item")
        for call in function.calls:
            call.arguments = [function.subject if one == old else one for one in call.arguments]
            call.target = function.subject if call.target == old else call.target

    def _move(self, path: str, function: Function, bug: Bug) -> None:
        functions = self.files[path]
        at = next(n for n, one in enumerate(functions) if one is function)
        functions.insert((at + len(functions) // 2) % len(functions), functions.pop(at))

    def _move_away(self, path: str, function: Function, bug: Bug) -> None:
        self.files[path] = [one for one in self.files[path] if one is not function]
        other = self.random.choice([name for name in self.files if name != path])
        self.files[other].append(function)

    def _rename_file(self, path: str, function: Function, bug: Bug) -> None:
        self.files[f"src/{self._name('module')}.py"] = self.files.pop(path)

    def _copy(self, path: str, function: Function, bug: Bug) -> Function:
        """The bug goes on in the copy; what else is open stays where it was."""
        at = next(n for n, one in enumerate(self.files[path]) if one is function)
        where = function.calls.index(bug.call)
        keep = [one.bugs for one in self.files[path]]
        for one in self.files[path]:
            one.bugs = []
        copied = copy.deepcopy(self.files[path])
        for one, bugs in zip(self.files[path], keep, strict=True):
            one.bugs = [other for other in bugs if other is not bug]
        self.files[f"src/{self._name('branch')}.py"] = copied
        bug.call, copied[at].bugs = copied[at].calls[where], [bug]
        return copied[at]

    def _merge(self, path: str, function: Function, bug: Bug) -> None:
        """The bug comes in once more, on a branch; the main line changes the comment; the merge joins both."""
        before, verb = self.commits, bug.call.verb
        self._other_meaning(bug.call)
        wrong = bug.call.verb
        bug.brought = self._commit("side", parents=(before,), branch="side")
        bug.events = bug.events[-1:]
        bug.call.verb, bug.call.note = verb, self._name("note")
        main = self._commit("main", parents=(before,))
        bug.call.verb = wrong
        self._commit("merge", parents=(main, bug.brought))

    # --- small things ---

    def _some_file(self) -> tuple[str, list[Function]]:
        path = self.random.choice(sorted(self.files))
        return path, self.files[path]

    def _function(self) -> Function:
        subject = self._name("item")
        first = Call(subject, "load", ["source", self._name("path")], self.random.randrange(100))
        calls = [first, *(self._call(subject) for _ in range(self.random.randint(3, 6)))]
        return Function(self._name("task"), subject, calls, self._name("remark"))

    def _call(self, subject: str) -> Call:
        arguments = [subject, self._name("weight")]
        return Call(self._name("total"), self.random.choice(_VERBS), arguments, self.random.randrange(1000))

    def _other_meaning(self, call: Call) -> None:
        call.verb = self.random.choice([verb for verb in _VERBS if verb != call.verb])

    def _name(self, what: str) -> str:
        self.names += 1
        return f"{what}_{self.names}"

    # --- to git ---

    def _commit(
        self, message: str, parents: tuple[int, ...] = (), branch: str = "main", modes: dict[str, str] | None = None
    ) -> int:
        """Write what changed since the last commit of this stream; the commit's number."""
        self.commits += 1
        when = 1_500_000_000 + self.commits * _HOUR
        rows = [f"commit refs/heads/{branch}", f"mark :{self.commits}", f"committer a <a@example.invalid> {when} +0000"]
        rows += [f"data {len(message)}", message]
        parents = parents or ((self.commits - 1,) if self.commits > 1 else ())
        rows += [f"{'merge' if n else 'from'} :{parent}" for n, parent in enumerate(parents)]
        contents = {path: _text(functions) for path, functions in self.files.items()}
        rows += [f"D {path}" for path in self.written if path not in contents]
        everything = len(parents) > 1 or branch != "main" or self.aside
        for path, content in contents.items():
            mode = (modes or {}).get(path, "100644")
            if everything or self.written.get(path) != content or mode != "100644":
                rows += [f"M {mode} inline {path}", f"data {len(content.encode())}", content]
        self.aside = branch != "main"  # then `written` is not what the next commit's parent has
        self.written = contents
        self.stream.append(("\n".join(rows) + "\n").encode())
        return self.commits


def _text(functions: list[Function]) -> str:
    return "\n".join(row for function in functions for row in function.rows()) + "\n"
