from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.reviewers.programs.environment import as_text, speaks_to_agents


@pytest.mark.parametrize(
    "path",
    [
        ".claude/settings.json",
        "sub/.claude/hooks/x.sh",
        "CLAUDE.md",
        "lib/claude.local.md",
        "AGENTS.md",
        "a/b/Agents.md",
        ".mcp.json",
        ".cursor/rules/x.mdc",
        ".cursorrules",
        ".github/copilot-instructions.md",
        ".github/instructions/x.md",
        ".vscode/mcp.json",
        "app/.vscode/tasks.json",
        "GEMINI.md",
        ".codex/config.toml",
        "opencode.json",
        ".clinerules",
        ".clinerules/x.md",
    ],
)
def test_what_an_agent_may_obey(path: str) -> None:
    assert speaks_to_agents(path)


@pytest.mark.parametrize(
    "path",
    [
        "README.md",
        "docs/agents/page.md",
        "src/claude.py",
        "agents.py",
        ".github/workflows/ci.yml",
        "instructions/x.md",
        ".vscode/extensions.json",
        "settings.json",
        "claude/x.md",
        "mcp.json",
    ],
)
def test_what_is_code_like_any_other(path: str) -> None:
    assert not speaks_to_agents(path)


pytestmark = pytest.mark.processes

ODD = "\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(
    ("printed", "plain"),
    [
        (b"\x1b[31mred\x1b[0m", b"red"),
        (b"\x1b[2K\x1b[1A\x1b[?25lgone\x1b[?25h", b"gone"),
        (b"\x1b[38;2;1;2;3mx\x1b[m", b"x"),
        (b"\x1b]0;a title\x07text", b"text"),
        (b"\x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\", b"link"),
        (b"\x1b(Bplain\x1b=\x1b7", b"plain"),
        (b'{"a": "\\u001b[31m"}', b'{"a": "\\u001b[31m"}'),
        (b"a [1] b\n", b"a [1] b\n"),
        (b"an end\x1b", b"an end\x1b"),
    ],
)
def test_escape_sequences_go(printed: bytes, plain: bytes) -> None:
    assert as_text(printed) == (plain, 0)


def test_a_few_odd_bytes_are_replaced_and_binary_data_is_left() -> None:
    line = b"# caf\xe9 and a line that is long enough\n" * 3
    assert as_text(line + b"x" * 300) == (line.replace(b"\xe9", ODD.encode()) + b"x" * 300, 3)
    assert as_text(b"\x00" * 50) == (b"\x00" * 50, 0)
    assert as_text(b"a\x00") == (f"a{ODD}".encode(), 1)
    assert as_text(ODD.encode() * 9) == (ODD.encode() * 9, 0), "what was there before is not a fault"


@given(st.text(st.characters(exclude_characters="\x1b\x00", exclude_categories=["Cs"])))
def test_text_stays_as_it_is(text: str) -> None:
    assert as_text(text.encode()) == (text.encode(), 0)


@given(st.binary())
def test_anything_comes_back(data: bytes) -> None:
    found = as_text(data)
    assert not found.replaced or "\x00" not in found.data.decode("utf-8")
