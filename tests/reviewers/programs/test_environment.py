from __future__ import annotations

import pytest

from reviewgauge.reviewers.programs.environment import speaks_to_agents


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
