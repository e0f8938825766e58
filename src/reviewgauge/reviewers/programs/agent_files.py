"""The files by which a repository tells coding agents what to do or to run.

Source: the manuals of Claude Code, Codex, Gemini CLI, GitHub Copilot, Cursor, Windsurf, Cline, Roo Code, Continue,
aider, opencode, Kiro, Junie and Amp on project settings, hooks, tool servers and instructions; https://agents.md.
"""

from __future__ import annotations

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
