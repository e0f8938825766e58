"""The agent contract of a public benchmark: the files and variables that a wrapped agent gets, and what it must write.

Source: https://github.com/review-bench/ReviewBench, `AGENT_CONTRACT.md` and `scripts/try-agent.sh`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from reviewgauge.core.errors import UserError
from reviewgauge.core.json_reader import object_node
from reviewgauge.core.parsing import parse_json
from reviewgauge.core.records import Change
from reviewgauge.core.results import Failed, FailureKind

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


def hand_over(change: Change, words: Mapping[str, str], agent: str, top: Path) -> dict[str, str]:
    """Write the files of the contract below `top`, and return the variables, whose paths are those of this machine.

    `words` are the commits, the checkout and the diff as the program gets them. A change that is no pull request has
    number 1.
    """
    for name in ("pr", "out"):
        (top / name).mkdir()
    number = next((found[1] for text in (change.url, change.id) if text and (found := _NUMBER.search(text))), "1")
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
