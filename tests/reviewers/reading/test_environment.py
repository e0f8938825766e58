"""The agent contract of ReviewBench: its variables and files, and what of an agent's answer is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.records import Change
from reviewgauge.core.results import Failed
from reviewgauge.reviewers.reading.environment import (
    HANDED_OVER,
    PATHS,
    as_text,
    check_findings,
    hand_over,
    settings,
    speaks_to_agents,
)

BASE, HEAD = "b" * 40, "a" * 40


@pytest.mark.parametrize(("repo", "url", "name", "nwo", "number"), [
    ("acme/shop", "https://github.com/acme/shop/pull/1938", None, "acme/shop", "1938"),
    ("acme/shop", None, "acme/shop#12", "acme/shop", "12"),
    ("a/b/c", "https://example.org/pull/x", None, "local/a_b_c", "1"),
])  # fmt: skip
def test_every_variable_and_file_of_the_contract_is_there(
    tmp_path: Path, repo: str, url: str | None, name: str | None, nwo: str, number: str
) -> None:
    diff = tmp_path / "change.diff"
    diff.write_text("diff --git a/x b/x\n")
    change = Change(id=name, repo=repo, url=url, title='A "title"', description="two\nlines")
    words = {"base": BASE, "head": HEAD, "diff": str(diff), "workspace": "/checkout"}
    found = hand_over(change, words, "mine", tmp_path)
    assert set(found) == {*HANDED_OVER, *PATHS}
    assert {key: found[key] for key in ("RB_NWO", "RB_PR_NUMBER", "RB_BASE", "RB_HEAD", "RB_AGENT", "RB_ATTEMPT")} == {
        "RB_NWO": nwo, "RB_PR_NUMBER": number, "RB_BASE": BASE, "RB_HEAD": HEAD, "RB_AGENT": "mine", "RB_ATTEMPT": "1",
    }  # fmt: skip
    assert Path(found["RB_DIFF"]).read_text() == "diff --git a/x b/x\n"
    assert Path(found["RB_OUT"]).parent.is_dir()
    assert not Path(found["RB_OUT"]).exists()
    assert json.loads(Path(found["RB_PR_JSON"]).read_text()) == {
        "repo": f"https://github.com/{nwo}", "pr_number": int(number), "base": BASE, "head": HEAD, "nwo": nwo,
        "title": 'A "title"', "body": "two\nlines",
    }  # fmt: skip


def test_settings_become_variables() -> None:
    assert settings(("model=gpt-5.5", "max-tokens=9", "a=")) == {
        "RB_CONFIG_MODEL": "gpt-5.5",
        "RB_CONFIG_MAX_TOKENS": "9",
        "RB_CONFIG_A": "",
    }
    for wrong in ("model", "=x", "1a=b", "a b=c", "a=" + "x" * 65, "a=b\nc"):
        with pytest.raises(UserError, match="is not a setting"):
            settings((wrong,))


@pytest.mark.parametrize(("text", "words"), [
    ("not json", "is not valid JSON"),
    ('{"findings": []}', "field pr: is missing"),
    (json.dumps({"pr": {"head": BASE, "pr_number": 8}}), "is not the RB_HEAD .*, and 8 is not the RB_PR_NUMBER 7"),
    (json.dumps({"pr": {"head": HEAD, "pr_number": 7.5}}), "whole number"),
])  # fmt: skip
def test_findings_about_something_else_are_refused(text: str, words: str) -> None:
    variables = {"RB_HEAD": HEAD, "RB_PR_NUMBER": "7"}
    good = {"pr": {"head": HEAD, "pr_number": "7"}, "findings": []}
    check_findings(json.dumps(good).encode(), variables)
    with pytest.raises((BadInput, Failed), match=words):
        check_findings(text.encode(), variables)


@pytest.mark.parametrize("path", [
    ".claude/settings.json", "CLAUDE.md", "AGENTS.md", ".mcp.json", ".cursor/rules/x.mdc",
    ".github/copilot-instructions.md", ".vscode/mcp.json", "app/.vscode/tasks.json", "GEMINI.md", ".clinerules",
])  # fmt: skip
def test_what_an_agent_may_obey(path: str) -> None:
    assert speaks_to_agents(path)


@pytest.mark.parametrize("path", [
    "README.md", "src/claude.py", "agents.py", ".github/workflows/ci.yml", ".vscode/extensions.json", "mcp.json",
])  # fmt: skip
def test_what_is_code_like_any_other(path: str) -> None:
    assert not speaks_to_agents(path)


ODD = "\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(("printed", "plain"), [
    (b"\x1b[31mred\x1b[0m", b"red"),
    (b"\x1b[2K\x1b[1A\x1b[?25lgone\x1b[?25h", b"gone"),
    (b"\x1b[38;2;1;2;3mx\x1b[m", b"x"),
    (b"\x1b]0;a title\x07text", b"text"),
    (b"\x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\", b"link"),
    (b"\x1b(Bplain\x1b=\x1b7", b"plain"),
    (b'{"a": "\\u001b[31m"}', b'{"a": "\\u001b[31m"}'),
    (b"a [1] b\n", b"a [1] b\n"), (b"an end\x1b", b"an end\x1b"),
])  # fmt: skip
def test_escape_sequences_go(printed: bytes, plain: bytes) -> None:
    assert as_text(printed) == (plain, 0)


def test_a_few_odd_bytes_are_replaced_and_binary_data_is_left() -> None:
    line = b"# caf\xe9 and a line that is long enough\n" * 3
    assert as_text(line + b"x" * 300) == (line.replace(b"\xe9", ODD.encode()) + b"x" * 300, 3)
    assert as_text(b"\x00" * 50) == (b"\x00" * 50, 0)
    assert as_text(b"a\x00") == (f"a{ODD}".encode(), 1)
    assert as_text(ODD.encode() * 9) == (ODD.encode() * 9, 0), "what was there before is not a fault"
