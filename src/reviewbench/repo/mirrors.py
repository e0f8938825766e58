"""Bare mirrors: the repositories that a benchmark reads its code from.

A mirror holds what its source's branches and tags reach, in packs of its own, and nothing else of it: no configuration,
hooks, alternates, grafts, replaced objects, stashes or objects that nothing reaches. Every object's id is computed
anew on the way in, so that a name stands for its content. Nothing is ever pruned from a mirror, and a second call
brings only what is new.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from reviewbench.core.errors import UserError
from reviewbench.repo.git import Repository
from reviewbench.repo.object_view import (
    PREFIX,
    common_folder,
    cuts,
    lacks,
    object_format,
    object_view,
    plain_config,
    write_whole,
)

REFS = ("refs/heads", "refs/tags", "refs/remotes")
"""What is taken from a local repository besides its HEAD: no stash, notes or replaced objects."""

_OWN = "refs/reviewbench/"  # refs that are a mirror's own, and stay when its source loses what they name
_HEAD = _OWN + "HEAD"
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


# --- from a repository on this machine -----------------------------------------------------------------------------


def mirror_local(source: Path, target: Path, refs: Sequence[str] = REFS) -> Repository:
    """A bare repository at `target` with what HEAD and `refs` of `source` reach; a second call adds what is new.

    `source` may be bare, a checkout, a linked work tree, shallow or partial (see `lacks`); the mirror is then as
    shallow or as partial. Git is never run with the source's configuration but to list its refs, and its objects are
    read through a folder of links that holds nothing else. Raises UserError for what is no repository, is empty, is
    damaged, or borrows its objects.
    """
    theirs = _opened(source)
    wanted, head = _refs(theirs, refs, source)
    mirror = _created(target, object_format(theirs))
    known = _packed_refs(target)
    cut = cuts(common_folder(theirs))
    stale = cut != cuts(target)  # history was deepened or cut since: what is here says nothing of what is missing
    have = frozenset() if stale else frozenset(known.values())
    if missing := sorted(frozenset(wanted.values()) - have):
        with object_view(theirs, target) as view:
            _copy_objects(view, mirror, missing, sorted(have), source, partial=lacks(theirs).partial)
    write_whole(target / "shallow", "".join(f"{commit}\n" for commit in sorted(cut)))
    _write_refs(
        target,
        wanted | {name: commit for name, commit in known.items() if name.startswith(_OWN)} | {_HEAD: wanted["HEAD"]},
    )
    write_whole(target / "HEAD", f"{head}\n")
    return mirror


def _opened(source: Path) -> Repository:
    if not source.exists():
        raise UserError(f"{source} does not exist", remedy="name a folder that holds a git repository")
    repository = Repository(source)
    if not (repository.git_dir / "HEAD").is_file():
        raise UserError(
            f"{source} is no git repository", remedy="name the folder that holds .git, or a bare repository"
        )
    return repository


def _refs(repository: Repository, patterns: Sequence[str], source: Path) -> tuple[dict[str, str], str]:
    """(ref to object id, HEAD included), and what the mirror's HEAD file is to say."""
    listed = repository.run("for-each-ref", "--format=%(objectname) %(refname)", *patterns).decode(
        "utf-8", "surrogateescape"
    )
    found = {name: oid for oid, name in (line.split(" ", 1) for line in listed.splitlines())}
    try:
        head = repository.run("rev-parse", "--verify", "--quiet", "HEAD").decode("ascii").strip()
    except UserError:
        if not found:
            raise UserError(f"{source} has no commits", remedy="name a repository with a history") from None
        raise UserError(f"HEAD of {source} names no commit", remedy="check out a branch that exists") from None
    branch = repository.run("rev-parse", "--symbolic-full-name", "HEAD").decode("utf-8", "surrogateescape").strip()
    return {"HEAD": head, **found}, f"ref: {branch}" if found.get(branch) == head else head


def _copy_objects(
    view: Repository, mirror: Repository, wanted: Sequence[str], have: Sequence[str], source: Path, *, partial: bool
) -> None:
    """Bring what `wanted` reach and `have` do not. Raises UserError where it is not all there.

    What a partial repository never fetched is passed over: who reads it from the mirror finds it missing there too.
    """
    there = _present(view, have)
    asked = "".join([*(f"{oid}\n" for oid in wanted), *(f"^{oid}\n" for oid in there)]).encode()
    options = ["--revs", "--stdout", "--delta-base-offset", "-q", *(["--missing=allow-any"] if partial else [])]
    with tempfile.TemporaryFile() as revisions, tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as answered:
        revisions.write(asked)
        revisions.seek(0)
        with view.start("pack-objects", *options, stdin=revisions, stderr=said) as packing:
            assert packing.stdout is not None
            with mirror.start(
                "index-pack", "--stdin", stdin=packing.stdout, stdout=subprocess.DEVNULL, stderr=answered
            ) as indexing:
                packing.stdout.close()
                indexing.wait()
            packing.wait()
        if packing.returncode or indexing.returncode:
            raise _damaged(source, _last_words(said) or _last_words(answered))
        if partial:  # the mirror says of itself that it is
            for pack in (mirror.git_dir / "objects" / "pack").glob("*.pack"):
                pack.with_suffix(".promisor").touch()


def _present(view: Repository, ids: Sequence[str]) -> list[str]:
    """Those of `ids` that are commits in `view`."""
    if not ids:
        return []
    answer = view.run("cat-file", "--batch-check", stdin="".join(f"{oid}\n" for oid in ids).encode())
    lines = answer.decode("ascii", "replace").splitlines()
    return [oid for oid, line in zip(ids, lines, strict=True) if not line.endswith(" missing")]


def _damaged(source: Path, said: str) -> UserError:
    common = common_folder(Repository(source))
    if any((common / "objects" / "info" / name).exists() for name in ("alternates", "http-alternates")):
        return UserError(
            f"{source} borrows objects from another repository, which is not followed: {said}",
            remedy="make it whole: git repack -a -d, then delete objects/info/alternates",
        )
    return UserError(f"{source} is damaged: {said}", remedy="git fsck tells more; clone it again")


def _last_words(file: IO[bytes]) -> str:
    file.seek(0)
    lines = [line for line in file.read(65536).decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1].removeprefix("fatal: ").removeprefix("error: ") if lines else ""


# --- the mirror itself ---------------------------------------------------------------------------------------------


def _created(target: Path, form: str = "sha1") -> Repository:
    """The bare repository at `target`, made where there is none, with a configuration of ours in either case."""
    try:
        for part in ("objects/pack", "objects/info", "refs/heads"):
            (target / part).mkdir(parents=True, exist_ok=True)
        if not (target / "HEAD").is_file():
            write_whole(target / "HEAD", "ref: refs/heads/main\n")
        write_whole(target / "config", plain_config(form))
        (target / "objects" / "info" / "alternates").unlink(missing_ok=True)
        for leftover in [*target.glob(f"{PREFIX}*"), *(target / "objects" / "pack").glob("tmp_*")]:
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()  # of a call that was killed
    except OSError as error:
        raise UserError(f"cannot write {target}: {error.strerror}") from None
    return Repository(target)


def _packed_refs(target: Path) -> dict[str, str]:
    file = target / "packed-refs"
    if not file.is_file():
        return {}
    lines = (line.split(" ", 1) for line in file.read_text("utf-8", "surrogateescape").splitlines())
    return {parts[1]: parts[0] for parts in lines if len(parts) == 2 and _ID.fullmatch(parts[0])}


def _write_refs(target: Path, refs: Mapping[str, str]) -> None:
    refs = {name: oid for name, oid in refs.items() if name.startswith("refs/")}
    write_whole(target / "packed-refs", "".join(f"{oid} {name}\n" for name, oid in sorted(refs.items())))
