"""A system that is judged by a model of its own family is named."""

from __future__ import annotations

import pytest

from reviewgauge.analysis.compare.caveats import families_in, judged_by_own_family
from reviewgauge.metrics.hits import Hits

GPT = "prompt(model='openai:gpt-5-mini', scope='change')"
CLAUDE = "prompt(model='anthropic:claude-sonnet-4-5?temperature=0.2', scope='hunk')"


def test_the_systems_of_the_judges_family_are_named_and_no_others() -> None:
    systems = {"mine": (GPT,), "other": (CLAUDE, "a pin"), "bot": ()}
    (line,) = judged_by_own_family(Hits(judge="openai:o3").models, systems)
    assert line == "judged by a model of its own family (gpt: openai:o3), which may prefer it: mine"
    panel = Hits(judge="panel(judges=('openai:gpt-5', 'anthropic:claude-opus-4-5', 'lexical'))")
    assert [line.rpartition(": ")[2] for line in judged_by_own_family(panel.models, systems)] == ["mine", "other"]
    assert judged_by_own_family(Hits().models, systems) == []
    assert judged_by_own_family(("openai:qwen3@http://localhost:8000/v1",), systems) == []


@pytest.mark.parametrize(
    ("system", "texts", "families"),
    [
        ("a", ("x(model='openai:qwen/qwen3-32b@http://h:1/v1')",), ["qwen"]),
        ("a", ('prompt(model="openai:gpt-5")', "judge openai:gpt-4.1"), ["gpt", "gpt"]),
        ("openai:gpt-5", (), ["gpt"]),
        ("claude", (), ["claude"]),
        ("claude-code", (), ["claude"]),
        ("Gemini 3", (), ["gemini"]),
        ("codex", (), ["gpt"]),
        ("geminis", (), []),
        ("coderabbit", ("replay(path='findings.json')",), []),
        ("a", ("x(model='openai:')",), []),
    ],
)
def test_families_are_read_from_names_and_signatures(system: str, texts: tuple[str, ...], families: list[str]) -> None:
    assert families_in(system, texts) == families
