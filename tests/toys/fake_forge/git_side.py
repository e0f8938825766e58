"""Makes the git repository of a scripted project: real commits, branches that were merged, refs/pull/N/head."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from fake_forge.script import Commit, Edits, Move, Project, Pull, Push, Swap

Tree = dict[str, bytes]
_CLEAN = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}


def git(folder: Path, *args: str, stdin: bytes | None = None) -> bytes:
    """What git prints."""
    done = subprocess.run(
        ["git", *args], cwd=folder, env=os.environ | _CLEAN, input=stdin, capture_output=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"git {args}: {done.stderr.decode()}")
    return done.stdout


@dataclass
class MadeCommit:
    """A commit that is in the repository; `id` is known once all are written."""

    mark: int
    message: str
    author: str
    when: datetime
    parents: tuple[MadeCommit, ...]
    tree: Tree
    id: str = ""


@dataclass
class MadePull:
    """A pull request's side of git. `heads` and `bases` are after each push: the branch's tip, and main's then."""

    script: Pull
    fork: MadeCommit
    heads: list[MadeCommit] = field(default_factory=list)
    bases: list[MadeCommit] = field(default_factory=list)
    merged_as: MadeCommit | None = None

    def commits(self, push: int = -1) -> list[MadeCommit]:
        """The branch's own commits after a push, oldest first."""
        found: list[MadeCommit] = []
        commit = self.heads[push]
        stop = self.merge_base(push)
        while commit is not stop:
            found.append(commit)
            commit = commit.parents[0]
        return found[::-1]

    def merge_base(self, push: int = -1) -> MadeCommit:
        """Where the branch left main, as of that push."""
        forced = [n for n, one in enumerate(self.script.pushes) if one.forced and n <= push % len(self.heads)]
        return self.bases[forced[-1]] if forced else self.fork


@dataclass
class MadeProject:
    """A bare repository at `git_dir`, and what the script's parts became in it. `main` holds main's commits."""

    script: Project
    git_dir: Path
    main: list[MadeCommit]
    pulls: dict[int, MadePull]
    commits: dict[str, MadeCommit]


def make_project(script: Project, git_dir: Path) -> MadeProject:
    """The bare repository of a project, made in the order in which things happened."""
    writer = _Writer()
    first = writer.commit("Start", "ann", _first_time(script), (), _tree({}, script.files))
    made = MadeProject(script, git_dir, [first], {}, {})
    for when, what in sorted(_happenings(script), key=lambda pair: pair[0]):
        what.happen(made, writer, when)
    writer.write(git_dir)
    made.commits = {one.id: one for one in writer.made}
    refs = [f"create refs/heads/main {made.main[-1].id}"]
    refs += [f"create refs/pull/{number}/head {pull.heads[-1].id}" for number, pull in made.pulls.items()]
    git(git_dir, "update-ref", "--stdin", stdin="".join(f"{line}\n" for line in refs).encode())
    return made


def _first_time(script: Project) -> datetime:
    times = [p.opened - timedelta(hours=p.forked) for p in script.pulls] + [d.when for d in script.direct]
    return min(times) - timedelta(days=1) if times else datetime.fromisoformat("2024-01-01T00:00:00+00:00")


# --- what happens --------------------------------------------------------------------------------------------------


class _Forked:
    def __init__(self, pull: Pull) -> None:
        self.pull = pull

    def happen(self, made: MadeProject, writer: _Writer, when: datetime) -> None:
        made.pulls[self.pull.number] = MadePull(self.pull, fork=made.main[-1])


class _Pushed:
    def __init__(self, pull: Pull, push: Push) -> None:
        self.pull, self.push = pull, push

    def happen(self, made: MadeProject, writer: _Writer, when: datetime) -> None:
        branch = made.pulls[self.pull.number]
        tip = made.main[-1] if self.push.forced else branch.heads[-1] if branch.heads else branch.fork
        for number, one in enumerate(self.push.commits):
            minutes = timedelta(minutes=5 * (len(self.push.commits) - number))
            who = one.author or self.pull.author
            tip = writer.commit(one.message, who, when - minutes, (tip,), _tree(tip.tree, one.files))
        branch.heads.append(tip)
        branch.bases.append(made.main[-1])


class _Merged:
    def __init__(self, pull: Pull) -> None:
        self.pull = pull

    def happen(self, made: MadeProject, writer: _Writer, when: datetime) -> None:
        branch = made.pulls[self.pull.number]
        main, head, fork = made.main[-1], branch.heads[-1], branch.merge_base()
        tree = _merge(fork.tree, main.tree, head.tree)
        if self.pull.end == "merged":
            message = f"Merge pull request #{self.pull.number} from {self.pull.author}/topic\n\n{self.pull.title}"
            branch.merged_as = writer.commit(message, "mel", when, (main, head), tree)
        else:
            message = f"{self.pull.title} (#{self.pull.number})"
            branch.merged_as = writer.commit(message, self.pull.author, when, (main,), tree)
        made.main.append(branch.merged_as)


class _Direct:
    def __init__(self, commit: Commit) -> None:
        self.commit = commit

    def happen(self, made: MadeProject, writer: _Writer, when: datetime) -> None:
        tip = made.main[-1]
        tree = _tree(tip.tree, self.commit.files)
        made.main.append(writer.commit(self.commit.message, self.commit.author or "mel", when, (tip,), tree))


_Happening = _Forked | _Pushed | _Merged | _Direct


def _happenings(script: Project) -> Iterator[tuple[datetime, _Happening]]:
    for pull in script.pulls:
        yield pull.at(-max(pull.forked, 0.5)), _Forked(pull)
        for push in pull.pushes:
            yield pull.at(push.hours), _Pushed(pull, push)
        if pull.end in ("merged", "squashed"):
            yield pull.at(pull.ended), _Merged(pull)
    for one in script.direct:
        yield one.when, _Direct(one.commit)


# --- trees ---------------------------------------------------------------------------------------------------------


def _tree(before: Mapping[str, bytes], edits: Edits) -> Tree:
    tree = dict(before)
    for path, edit in edits.items():
        if isinstance(edit, Move):
            tree[path] = tree.pop(edit.old)
        elif edit is None:
            del tree[path]
        elif isinstance(edit, Swap | tuple):
            text = tree[path].decode()
            for swap in edit if isinstance(edit, tuple) else (edit,):
                if text.count(swap.old) != 1:
                    raise ValueError(f"{path} holds {swap.old!r} {text.count(swap.old)} times")
                text = text.replace(swap.old, swap.new)
            tree[path] = text.encode()
        else:
            tree[path] = edit.encode() if isinstance(edit, str) else edit
    return tree


def _merge(fork: Tree, ours: Tree, theirs: Tree) -> Tree:
    tree = dict(ours)
    for path in fork.keys() | theirs.keys():
        if fork.get(path) == theirs.get(path):
            continue
        if ours.get(path) not in (fork.get(path), theirs.get(path)):
            raise ValueError(f"{path} was changed on both sides: script them apart")
        if path in theirs:
            tree[path] = theirs[path]
        else:
            tree.pop(path, None)
    return tree


# --- writing -------------------------------------------------------------------------------------------------------


class _Writer:
    """Collects commits, then writes them all through one `git fast-import`."""

    def __init__(self) -> None:
        self.made: list[MadeCommit] = []

    def commit(
        self, message: str, author: str, when: datetime, parents: tuple[MadeCommit, ...], tree: Tree
    ) -> MadeCommit:
        one = MadeCommit(len(self.made) + 1, message, author, when, parents, tree)
        self.made.append(one)
        return one

    def write(self, git_dir: Path) -> None:
        git_dir.mkdir(parents=True)
        git(git_dir, "init", "-q", "--bare", "-b", "main")
        for key, value in (
            ("uploadpack.allowAnySHA1InWant", "true"),
            ("uploadpack.allowFilter", "true"),
            ("gc.auto", "0"),
        ):
            git(git_dir, "config", key, value)
        stream = b"".join(part for one in self.made for part in _import(one))
        git(git_dir, "fast-import", "--quiet", "--export-marks=marks", stdin=stream)
        marks = dict(line.split() for line in (git_dir / "marks").read_text().splitlines())
        for one in self.made:
            one.id = marks[f":{one.mark}"]
        gone = b"".join(b"delete refs/made/%d\n" % one.mark for one in self.made)
        git(git_dir, "update-ref", "--stdin", stdin=gone)


def _import(one: MadeCommit) -> Iterable[bytes]:
    mail = f"{one.author.replace('[bot]', '-bot')}@example.invalid"
    who = f"{one.author.title()} <{mail}> {int(one.when.timestamp())} +0000"
    message = one.message.encode()
    yield f"commit refs/made/{one.mark}\nmark :{one.mark}\nauthor {who}\ncommitter {who}\n".encode()
    yield b"data %d\n%s\n" % (len(message), message)
    for number, parent in enumerate(one.parents):
        yield f"{'merge' if number else 'from'} :{parent.mark}\n".encode()
    before = one.parents[0].tree if one.parents else {}
    for path in sorted(before.keys() - one.tree.keys()):
        yield f"D {path}\n".encode()
    for path, content in sorted(one.tree.items()):
        if before.get(path) != content:
            yield f"M 100644 inline {path}\ndata {len(content)}\n".encode() + content + b"\n"
    yield b"\n"
