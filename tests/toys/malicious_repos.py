"""Repositories that try to make git run something: armed in ways that are each known to spring for plain git.

`armed(tmp_path, name)` makes one; `marker` is the file that its traps write. What reads repositories is to be tried on
every one of `GROUPS`, and `marker` is not to be there afterwards.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from git_project import IDENTITY, commit, run_git


@dataclass(frozen=True)
class Armed:
    """A repository with two commits, whose trap writes `marker`. `secret` must not be read out of another one."""

    name: str
    folder: Path
    base: str
    head: str
    marker: Path

    @property
    def sprung(self) -> str:
        """What the trap wrote; empty where it did not."""
        return self.marker.read_text() if self.marker.exists() else ""

    def trigger(self) -> None:
        """Do with plain git what springs the trap."""
        arm = ARMS[self.name]
        for command in arm.triggers:
            subprocess.run(
                ["git", *command],
                cwd=self.folder,
                env=os.environ | IDENTITY,
                input=b"protocol=https\nhost=host.invalid\n\n",
                capture_output=True,
                check=False,
                timeout=30,
            )


@dataclass(frozen=True)
class Arm:
    """One way: what to put into the repository, and the commands of plain git that spring it.

    Without commands, plain git obeys it on a terminal only, or no more.
    """

    put: Callable[[Path, Path], None]
    triggers: tuple[tuple[str, ...], ...]


def armed(tmp_path: Path, name: str) -> Armed:
    """A fresh repository, armed in one way, or in all ways of a group."""
    plain = name.replace("/", "-").replace(" ", "-")
    folder, marker = tmp_path / f"armed-{plain}", tmp_path / f"MARKER-{plain}"
    folder.mkdir()
    script = folder / "evil.sh"
    script.write_text(_script(marker))
    script.chmod(0o755)  # in both commits, or a checkout writes it anew, perhaps after the file that is to be filtered
    base = commit(folder, {"a.py": "one\ntwo\n", "lib/b.py": "b\n"})
    attributes = "*.py filter=evil diff=evil merge=evil text ident\n"
    head = commit(folder, {"a.py": "one\nthree\n", ".gitattributes": attributes})
    for one in GROUPS.get(name, (name,)):
        ARMS[one].put(folder, marker)
    marker.unlink(missing_ok=True)
    return Armed(name, folder, base, head, marker)


def _script(marker: Path) -> str:
    return f'#!/bin/sh\necho "$0 $*" >> "{marker}"\n'


def _config(**settings: str) -> Callable[[Path, Path], None]:
    """Settings, with `__` for a dot and EVIL for the script."""

    def put(folder: Path, marker: Path) -> None:
        for key, value in settings.items():
            run_git(folder, "config", key.replace("__", "."), value.replace("EVIL", str(folder / "evil.sh")))

    return put


def _write_hooks(hooks: Path, marker: Path) -> None:
    hooks.mkdir(parents=True, exist_ok=True)
    for name in ("post-checkout", "reference-transaction", "post-index-change", "pre-commit", "pre-auto-gc", "update"):
        (hooks / name).write_text(_script(marker))
        (hooks / name).chmod(0o755)


def _hooks(folder: Path, marker: Path) -> None:
    _write_hooks(folder / ".git" / "hooks", marker)


def _hooks_path(folder: Path, marker: Path) -> None:
    _write_hooks(folder / "husky", marker)
    run_git(folder, "config", "core.hooksPath", "husky")


def _info_attributes(folder: Path, marker: Path) -> None:
    (folder / ".git" / "info").mkdir(exist_ok=True)
    (folder / ".git" / "info" / "attributes").write_text("* diff=hidden filter=hidden\n")
    _config(diff__hidden__command="EVIL")(folder, marker)


def _include(folder: Path, marker: Path) -> None:
    (folder / "more.config").write_text(f"[core]\n\tfsmonitor = {folder}/evil.sh\n")
    run_git(folder, "config", "include.path", "../more.config")


def _submodule(folder: Path, marker: Path) -> None:
    head = run_git(folder, "rev-parse", "HEAD")
    (folder / ".gitmodules").write_text(f'[submodule "m"]\n\tpath = m\n\turl = ext::{folder}/evil.sh\n')
    run_git(folder, "update-index", "--add", "--cacheinfo", f"160000,{head},m")
    settings = {"submodule.m.url": f"ext::{folder}/evil.sh", "submodule.m.update": f"!{folder}/evil.sh"}
    for key, value in {**settings, "protocol.ext.allow": "always", "submodule.recurse": "true"}.items():
        run_git(folder, "config", key, value)


def _promisor(folder: Path, marker: Path) -> None:
    """A partial clone whose origin is a program: reading the file that is missing asks it."""
    _config(
        remote__origin__url="ext::EVIL",
        remote__origin__promisor="true",
        remote__origin__partialclonefilter="blob:none",
        extensions__partialClone="origin",
        core__repositoryformatversion="1",
        protocol__ext__allow="always",
    )(folder, marker)


def _alternate_refs(folder: Path, marker: Path) -> None:
    other = folder.parent / f"{folder.name}-other"
    commit(other, {"secret.txt": "hunter2\n"})
    (folder / ".git" / "objects" / "info").mkdir(exist_ok=True)
    (folder / ".git" / "objects" / "info" / "alternates").write_text(f"{other}/.git/objects\n")
    _config(core__alternateRefsCommand="EVIL")(folder, marker)


def _signature(folder: Path, marker: Path) -> None:
    """A signed commit, and a program of the repository's choice to look at the signature."""
    text = run_git(folder, "cat-file", "commit", "HEAD")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----"
    lines = text.split("\n\n", 1)
    file = folder / ".git" / "signed"
    file.write_text(f"{lines[0]}\n{signature}\n\n{lines[1]}\n")
    signed = run_git(folder, "hash-object", "-t", "commit", "-w", str(file))
    run_git(folder, "update-ref", "refs/heads/signed", signed)
    _config(gpg__program="EVIL", log__showSignature="true")(folder, marker)


def _merge_driver(folder: Path, marker: Path) -> None:
    """Another branch that changes the same line."""
    run_git(folder, "checkout", "-q", "-b", "theirs", "HEAD~1")
    commit(folder, {"a.py": "one\nfour\n"})
    run_git(folder, "checkout", "-q", "main")
    _config(merge__evil__driver="EVIL %A")(folder, marker)


ARMS: dict[str, Arm] = {
    "hooks": Arm(_hooks, (("update-ref", "refs/heads/x", "HEAD"),)),
    "core.hooksPath": Arm(_hooks_path, (("update-ref", "refs/heads/x", "HEAD"),)),
    "core.fsmonitor": Arm(_config(core__fsmonitor="EVIL"), (("status",),)),
    "include.path": Arm(_include, (("status",),)),
    "filter.smudge": Arm(
        # `cat`: git waits for a filter that answers, and may end one that does not before it has written anything
        _config(filter__evil__smudge="EVIL; cat", filter__evil__clean="EVIL; cat", filter__evil__required="true"),
        (("checkout", "-f", "HEAD~1"), ("checkout", "-f", "main")),
    ),
    "filter.process": Arm(
        _config(filter__evil__process="EVIL; cat"), (("checkout", "-f", "HEAD~1"), ("checkout", "-f", "main"))
    ),
    "diff.command": Arm(_config(diff__evil__command="EVIL"), (("diff", "HEAD~1", "HEAD"),)),
    "diff.external": Arm(_config(diff__external="EVIL"), (("diff", "HEAD~1", "HEAD"),)),
    "diff.textconv": Arm(_config(diff__evil__textconv="EVIL"), (("diff", "HEAD~1", "HEAD"),)),
    "info/attributes": Arm(_info_attributes, (("diff", "HEAD~1", "HEAD"),)),
    "merge.driver": Arm(_merge_driver, (("merge", "theirs"),)),
    "core.pager": Arm(_config(core__pager="EVIL", pager__log="EVIL"), ()),
    "core.editor": Arm(_config(core__editor="EVIL"), (("commit", "--amend", "--allow-empty"),)),
    "alias": Arm(_config(alias__st="!EVIL", alias__log="!EVIL"), (("st",),)),
    "gpg.program": Arm(_signature, (("log", "-1", "signed"),)),
    "submodule": Arm(_submodule, (("-c", "protocol.ext.allow=always", "submodule", "update", "--init"),)),
    "core.sshCommand": Arm(
        _config(core__sshCommand="EVIL", remote__origin__url="ssh://host.invalid/x"), (("fetch", "origin"),)
    ),
    "remote ext": Arm(_config(remote__origin__url="ext::EVIL", protocol__ext__allow="always"), (("fetch", "origin"),)),
    "promisor": Arm(_promisor, (("cat-file", "-p", "1" * 40),)),
    "alternateRefsCommand": Arm(_alternate_refs, (("rev-list", "--alternate-refs"),)),
    "credential.helper": Arm(_config(credential__helper="EVIL", core__askPass="EVIL"), (("credential", "fill"),)),
    "uploadpack.packObjectsHook": Arm(_config(uploadpack__packObjectsHook="EVIL"), ()),
}
# Ways that do not keep each other from springing, in an order in which none springs while another is put in.
GROUPS: dict[str, tuple[str, ...]] = {
    "settings": (*("submodule", "gpg.program", "filter.smudge", "diff.command", "core.pager", "core.editor", "alias"),
        *("remote ext", "credential.helper", "uploadpack.packObjectsHook", "core.fsmonitor", "hooks")),
    "more settings": (*("merge.driver", "filter.process", "diff.textconv", "core.sshCommand", "include.path",
        "core.hooksPath"),),
    "attributes": ("info/attributes", "diff.external"),
    "promisor": ("promisor",),
    "alternates": ("alternateRefsCommand",),
}  # fmt: skip
