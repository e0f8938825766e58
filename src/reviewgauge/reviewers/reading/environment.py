"""A user's program in its environment: a scrubbed checkout, the change as files, a clean home; and what the agent
contract of a public benchmark hands over and wants back.

Source of the contract: https://github.com/review-bench/ReviewBench, `AGENT_CONTRACT.md` and `scripts/try-agent.sh`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, NamedTuple

from reviewgauge.core.errors import NeedsCode, UserError
from reviewgauge.core.json_reader import object_node
from reviewgauge.core.parsing import parse_json
from reviewgauge.core.records import Change
from reviewgauge.core.results import Drop, Failed, FailureKind
from reviewgauge.repo.git.folders import scratch_folder
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.guarded.sandbox import clean_environment
from reviewgauge.repo.mirrors.workspaces import workspace
from reviewgauge.repo.paths import encode_path
from reviewgauge.reviewers.reading.change_text import diff_text, with_patches

_NUMBER = re.compile(r"(?:/pull/|#)(\d{1,9})(?:/|$)")
_NAME_WITH_OWNER = re.compile(r"[\w.-]{1,100}/[\w.-]{1,100}")
_SETTING = re.compile(r"([A-Za-z][A-Za-z0-9_-]{0,31})=(.{0,64})")
PATHS: Mapping[str, str] = {  # in a container
    "RB_REPO": "/work/repo",
    "RB_DIFF": "/work/pr/diff.patch",
    "RB_PR_JSON": "/work/pr/pr.json",
    "RB_OUT": "/work/out/findings.json",
}
HANDED_OVER = (  # beside the paths
    "RB_NWO", "RB_PR_NUMBER", "RB_BASE", "RB_HEAD", "RB_AGENT", "RB_ATTEMPT",
    "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0",
)  # fmt: skip
_GIT = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}


def settings(config: Iterable[str]) -> dict[str, str]:
    """The variables for settings such as `model=gpt-5.5`. Raises UserError."""
    found = {}
    for text in config:
        match = _SETTING.fullmatch(text)
        if match is None:
            raise UserError(f"{text[:40]!r} in config is not a setting", remedy='config=("model=gpt-5.5",)')
        found["RB_CONFIG_" + re.sub(r"[^A-Z0-9]", "_", match[1].upper())] = match[2]
    return found


def pull_number(change: Change) -> str:
    """The number of its pull request, by its address or its id; empty where neither has one."""
    return next((found[1] for text in (change.url, change.id) if text and (found := _NUMBER.search(text))), "")


def hand_over(change: Change, words: Mapping[str, str], agent: str, top: Path) -> dict[str, str]:
    """Write the files of the contract below `top`, and return the variables, whose paths are those of this machine.

    `words` are the commits, the checkout and the diff as the program gets them. A change that is no pull request has
    number 1.
    """
    for name in ("pr", "out"):
        (top / name).mkdir()
    number = pull_number(change) or "1"
    nwo = change.repo if _NAME_WITH_OWNER.fullmatch(change.repo) else "local/" + re.sub(r"[^\w.-]", "_", change.repo)
    about = {
        "repo": f"https://github.com/{nwo}",
        "pr_number": int(number),
        "base": words["base"],
        "head": words["head"],
        "nwo": nwo,
        "title": change.title,
        "body": change.description,
    }
    (top / "pr" / "pr.json").write_text(json.dumps(about), encoding="utf-8")
    (top / "pr" / "diff.patch").write_bytes(Path(words["diff"]).read_bytes())
    return {
        "RB_NWO": nwo,
        "RB_PR_NUMBER": str(int(number)),
        "RB_BASE": words["base"],
        "RB_HEAD": words["head"],
        "RB_AGENT": agent,
        "RB_ATTEMPT": "1",
        "RB_REPO": words["workspace"],
        "RB_DIFF": str(top / "pr" / "diff.patch"),
        "RB_PR_JSON": str(top / "pr" / "pr.json"),
        "RB_OUT": str(top / "out" / "findings.json"),
        **_GIT,
    }


def check_findings(data: bytes, variables: Mapping[str, str]) -> None:
    """Raise Failed where a `findings.json` is about another pull request, BadInput where it does not say."""
    pull = object_node(parse_json(data, "findings.json"), "findings.json")["pr"]
    found = {"RB_HEAD": pull.needed("head"), "RB_PR_NUMBER": str(pull["pr_number"].as_integer())}
    others = {name: value[:60] for name, value in found.items() if value != variables[name]}
    wrong = [f"{value} is not the {name} {variables[name]}" for name, value in others.items()]
    if wrong:
        problem = f"findings.json is about another pull request: {', and '.join(wrong)}"
        raise Failed(FailureKind.UNREADABLE, problem)


_FOLDERS = """
.agents .aider .amp .claude .claude-plugin .clinerules .codex .continue .cursor .gemini .junie .kiro .opencode
.roo .windsurf
"""
_FILES = """
.aider.conf.yml .clinerules .cursorrules .goosehints .mcp.json .roomodes .windsurfrules agent.md agents.md
agents.local.md agents.override.md claude.md claude.local.md crush.json gemini.md opencode.json opencode.jsonc
qwen.md warp.md
"""
_BELOW_GITHUB = ("copilot-instructions.md", "instructions", "chatmodes", "prompts", "agents", "skills")


def speaks_to_agents(path: str) -> bool:
    """Whether a coding agent that works in the repository may obey this file, in whatever folder it lies."""
    parts = path.lower().split("/")
    github = len(parts) > 1 and parts[0] == ".github" and parts[1] in _BELOW_GITHUB
    vscode = parts[-2:] in ([".vscode", "mcp.json"], [".vscode", "settings.json"], [".vscode", "tasks.json"])
    return github or vscode or parts[-1] in _FILES.split() or not set(parts[:-1]).isdisjoint(_FOLDERS.split())


Checkout = Literal["head", "none"]
CASE = "REVIEWGAUGE_CASE"  # the one variable of ours that has to be asked for
_ODD = re.compile(r"[^A-Za-z0-9._/@+-]")


FILES = re.compile(r"\{files(?::([^{}]{1,400}))?\}")
_SLOT = re.compile(r"\{(\{\w{1,40}\})\}|(?<!\$)\{([A-Za-z_]\w{0,39})\}")  # ${HOME} is the shell's
_SLOTS = (
    "files",
    "base",
    "head",
    "diff",
    "case",
    "workspace",
    "title",
    "description",
    "issues",
    "given",
    "output",
    "here",
)
_PLAIN = re.compile(r"[\w.][^\0]*", re.DOTALL)  # no program takes a name with this beginning for an option


def check_slots(words: Sequence[str], *, contract: bool, code: bool) -> None:
    """Raise UserError for a slot that there is not; `contract` adds its own, without `code` there are no files."""
    known = (*_SLOTS, *("pr", "out") * contract)
    for word in words:
        for name in (found[2] for found in _SLOT.finditer(word) if found[2]):
            if name not in known:
                remedy = f"there are {', '.join(f'{{{one}}}' for one in known)}; {{{{{name}}}}} is the text {{{name}}}"
                raise UserError(f"command: {{{name}}} in {word[:80]!r} is not a slot", remedy=remedy)
        if FILES.search(word) and not (code and FILES.fullmatch(word)):
            remedy = "with a checkout, write it as an argument of its own: run=('flake8', '{files:*.py}')"
            raise UserError(f"command: {{files}} cannot stand in {word[:80]!r}", remedy=remedy)


def passed_files(change: Change, folder: Path) -> list[str]:
    """The changed files that the checkout has, none of which begins like an option."""
    names = [os.fsdecode(encode_path(file.path)) for file in change.files]
    there = [
        name
        for name in names
        if (folder / name).is_file() and (folder / name).resolve().is_relative_to(folder.resolve())
    ]
    return [name if _PLAIN.fullmatch(name) else f"./{name}" for name in there]


def filled(word: str, words: Mapping[str, str], files: Sequence[str] = ()) -> list[str]:
    """The arguments that a word of a command line stands for."""
    if found := FILES.fullmatch(word):
        patterns = (found[1] or "*").split(",")
        return [name for name in files if any(fnmatchcase(name, pattern.strip()) for pattern in patterns)]
    return [_SLOT.sub(lambda slot: slot[1] or words[slot[2]], word)]


@dataclass(frozen=True)
class ReviewEnvironment:
    """`words` are the values of the placeholders; `environment` is the program's whole environment.

    `scratch` are the folders that hold all of it.
    """

    folder: Path
    words: Mapping[str, str]
    environment: Mapping[str, str]
    left_out: tuple[Drop, ...]
    scratch: tuple[Path, ...]


@contextmanager
def place(
    change: Change,
    variables: Sequence[str],
    *,
    checkout: Checkout = "head",
    history: bool = False,
    whole: bool = True,
    strip_agent_config: bool = True,
    agent: str = "",
    home: str = "",
) -> Iterator[ReviewEnvironment]:
    """The environment of one review, removed afterwards. Raises UserError and NeedsCode.

    `agent` is the name that the contract of a public benchmark calls the program by; empty without that contract.
    """
    change = with_patches(change, "command")
    with ExitStack() as open_things:
        top = open_things.enter_context(scratch_folder())
        for name in ("given", "home", "empty"):
            (top / name).mkdir()
        if home:
            _copy_home(Path(home).expanduser(), top / "home")
        folder, base, head, left_out, scratch = top / "empty", "", "", tuple[Drop, ...](), [top]
        if checkout != "none":
            if change.git is None or change.head is None:
                raise NeedsCode("command")
            hidden = speaks_to_agents if strip_agent_config else None
            made = open_things.enter_context(
                workspace(
                    Repository(Path(change.git)),
                    change.head,
                    change.base,
                    history=history,
                    whole=whole,
                    hidden=hidden,
                )
            )
            folder, base, head, left_out = made.folder, made.base or "", made.head, made.left_out
            scratch.append(folder.parent)
        case = change.id or change.repo
        words = {
            "base": base,
            "head": head,
            "workspace": str(folder),
            "case": case,
            **_hand_over(change, top / "given"),
        }
        environment = {f"REVIEWGAUGE_{name.upper()}": word for name, word in words.items()}
        if CASE not in variables:  # it often is the commit or the pull request: what a forge finds the answers under
            del environment[CASE]
        if agent:
            contract = hand_over(change, words, agent, top / "given")
            environment |= contract
            words |= {"output": contract["RB_OUT"], "pr": str(top / "given" / "pr"), "out": str(top / "given" / "out")}
        environment |= clean_environment(top, variables)
        words |= {"case": _plain(case), "here": str(Path.cwd())}
        yield ReviewEnvironment(folder, words, environment, left_out, tuple(scratch))


def _hand_over(change: Change, folder: Path) -> dict[str, str]:
    """Write the change as files, and return their paths by name. `output` is the path of a file yet to be written."""
    issues = "\n\n".join(f"# {issue.title} (#{issue.number})\n\n{issue.body}" for issue in change.issues)
    texts = {
        "diff": ("change.diff", diff_text(change) + "\n"),
        "title": ("title.txt", change.title + "\n"),
        "description": ("description.md", change.description + "\n"),
        "issues": ("issues.md", issues + "\n" if issues else ""),
    }
    for name, text in texts.values():
        (folder / name).write_text(text, encoding="utf-8", errors="surrogateescape")
    paths = {key: str(folder / name) for key, (name, _) in texts.items()}
    return {**paths, "given": str(folder), "output": str(folder / "review")}


def _copy_home(source: Path, target: Path) -> None:
    try:
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
    except (OSError, shutil.Error) as error:
        raise UserError(f"the home {source} cannot be copied: {error}") from None


def _plain(case: str) -> str:
    """A case's id without letters that a shell would take for its own; an id is data."""
    plain = _ODD.sub("_", case)
    return f"_{plain[1:]}" if plain.startswith("-") else plain


# ECMA-48: CSI (colours, cursor), strings such as OSC (titles, links) up to BEL or ST, and the short ones.
_ESCAPES = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-Z\\^-~])",
)
_FEW = 0.01  # share of what is not text, above which it is taken for binary data


class Printed(NamedTuple):
    """`data` without escape sequences, and in UTF-8 where nearly all of it was; `replaced` counts the other bytes."""

    data: bytes
    replaced: int


def as_text(data: bytes) -> Printed:
    """`data` made readable for a format. Data that is hardly text stays as it is, so that a format rejects it."""
    plain = _ESCAPES.sub(b"", data)
    there = plain.count("\N{REPLACEMENT CHARACTER}".encode())
    text = plain.decode("utf-8", "replace").replace("\x00", "\N{REPLACEMENT CHARACTER}")
    replaced = text.count("\N{REPLACEMENT CHARACTER}") - there
    if replaced > max(1, _FEW * len(text)):
        return Printed(plain, 0)
    return Printed(text.encode("utf-8") if replaced else plain, replaced)
