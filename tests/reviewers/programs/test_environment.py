from __future__ import annotations

import pytest

from reviewgauge.reviewers.programs.environment import as_text, speaks_to_agents


@pytest.mark.parametrize(
    "path",
    [
        ".claude/settings.json",
        "CLAUDE.md",
        "AGENTS.md",
        ".mcp.json",
        ".cursor/rules/x.mdc",
        ".github/copilot-instructions.md",
        ".vscode/mcp.json",
        "app/.vscode/tasks.json",
        "GEMINI.md",
        ".clinerules",
    ],
)
def test_what_an_agent_may_obey(path: str) -> None:
    assert speaks_to_agents(path)


@pytest.mark.parametrize(
    "path",
    [
        "README.md",
        "src/claude.py",
        "agents.py",
        ".github/workflows/ci.yml",
        ".vscode/extensions.json",
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
