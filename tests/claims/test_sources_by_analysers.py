"""Findings of analysers as claims."""

from __future__ import annotations

from pathlib import Path

import pytest

from git_project import make_change
from reviewgauge.claims import sources
from reviewgauge.claims.sources import finding_claims, offline_claims
from reviewgauge.core.records import Change, ChangedFile
from reviewgauge.repo.analysers.run import Finding, Output


def finding(**more: object) -> Finding:
    given: dict[str, object] = {
        "tool": "ruff", "rule": "B006", "path": "a.py", "start": 3, "end": 3, "message": "Do not use mutable defaults.",
    }  # fmt: skip
    return Finding(**{**given, **more})  # type: ignore[arg-type]


def told(monkeypatch: pytest.MonkeyPatch, *found: Finding, files: int = 1) -> list[tuple[str, str, int | None]]:
    monkeypatch.setattr(sources, "analyse", lambda *_: Output(found))
    monkeypatch.setattr(sources, "Repository", lambda path: path)
    changed = tuple(ChangedFile(path=f"{name}.py", patch="@@ -1 +1 @@\n-a\n+b\n") for name in "ab"[:files])
    change = Change(repo="o/r", git="/r", head="1" * 40, files=changed)
    return [(one.body, one.source, one.line) for one in finding_claims(change)]


def test_a_finding_is_a_sentence_with_its_place_and_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    grave = finding(rule="S602", message="shell=True", agree=("eslint:no-eval",))
    slow = finding(rule="PERF401", message="Use a list comprehension", function="f", start=9)
    assert told(monkeypatch, finding(), grave, slow) == [
        ("Line 3: shell=True.", "ruff+eslint+security", 3),
        ("Line 3: Do not use mutable defaults.", "ruff", 3),
        ("Line 9: Use a list comprehension (in `f`).", "ruff+performance", 9),
    ]
    assert told(monkeypatch, finding(rule="SIM115"), files=2) == [
        ("a.py, line 3: Do not use mutable defaults.", "ruff", 3)
    ]


def test_there_are_none_without_code() -> None:
    assert finding_claims(Change(repo="o/r")) == ()
    patched = (ChangedFile(path="a.py", patch="@@ -1 +1 @@\n-a\n+b\n"),)
    assert finding_claims(Change(repo="o/r", files=patched)) == ()


@pytest.mark.slow
def test_claims_of_a_change_with_code_are_the_same_each_time(tmp_path: Path) -> None:
    change = make_change(tmp_path / "r", {"a.py": "x = 1\n"}, {"a.py": "import os\nx = eval(input())\n"})
    found = offline_claims(change)
    assert found == offline_claims(change)
    assert [one.id for one in found] == [str(n) for n in range(1, len(found) + 1)]
    assert {"claim", "issue"} == {one.kind for one in found}
    assert any("security" in one.source for one in found)
