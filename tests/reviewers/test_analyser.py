from __future__ import annotations

from pathlib import Path

import pytest

from git_project import make_change
from reviewgauge.core.errors import NeedsCode, UserError
from reviewgauge.core.records import Anchoring, Change, ChangedFile, Severity
from reviewgauge.repo.analysers.findings import rules_of
from reviewgauge.repo.analysers.run import TOOLS
from reviewgauge.repo.diff.anchors import anchor
from reviewgauge.repo.git.repository import code_reader
from reviewgauge.reviewers.analyser import Analyser

SOURCE = """import os


def load(path, cache={}):
    try:
        return eval(path)
    except:
        pass
"""
BUSY = "def busy(a):\n" + "".join(f"    if a == {n}:\n        return {n}\n" for n in range(14))


@pytest.mark.slow
def test_a_developer_can_read_what_the_tools_say(tmp_path: Path) -> None:
    change = make_change(tmp_path, {"x": ""}, {"m.py": SOURCE, "busy.py": BUSY, "old.py": "print 'x'\n"}, "c1")
    tools = ("ruff", "smells")
    assert Analyser(tools=tools).prepare([change]) == ()
    review = Analyser(tools=tools).review(change)
    assert review.case == "c1"
    said = {c.body: c for c in review.comments}
    assert set(said) == {
        "`busy` is hard to follow: cyclomatic complexity is 15 (rank C), over 10. Consider splitting it.",
        "`busy` has too many branches: 14, over 12.",
        "`os` imported but unused. Remove unused import: `os`.",
        "Do not use mutable data structures for argument defaults. Replace with `None`; initialize within function"
        " (in `load`).",
        "Use of possibly insecure function; consider using `ast.literal_eval` (in `load`).",
        "Do not use bare `except` (in `load`).",
        "`try`-`except`-`pass` detected, consider logging the exception (in `load`).",
    }
    evil = next(c for c in review.comments if c.extra["rule"] == "S307")
    assert (evil.author, evil.category, evil.severity) == ("ruff", "security", Severity.MEDIUM)
    assert evil.extra == {"tool": "ruff", "rule": "S307"}
    assert evil.quote == "return eval(path)"
    assert review.trace is not None
    assert review.trace.startswith("old.py: does not parse as Python 3")


@pytest.mark.slow
def test_the_anchor_engine_agrees_with_every_place(tmp_path: Path) -> None:
    change = make_change(tmp_path, {"m.py": "import os\n"}, {"m.py": SOURCE, "busy.py": BUSY})
    comments = Analyser().review(change).comments
    assert comments
    for comment in comments:
        again = anchor(comment, change, read=code_reader(change))
        assert (again.span, again.anchoring) == (comment.span, Anchoring.AS_GIVEN)


def test_it_needs_the_code_and_says_so() -> None:
    change = Change(repo="r", files=(ChangedFile(path="a.py", patch="@@ -0,0 +1 @@\n+x"),))
    with pytest.raises(NeedsCode, match="needs the code"):
        Analyser().prepare([change])
    with pytest.raises(NeedsCode):
        Analyser().review(change)


WRONG = [Analyser(tools=("rff",)), Analyser(complexity=0), Analyser(seconds=0.0), Analyser(lambda_length=0)]


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_parameters_are_named_before_the_run(wrong: Analyser) -> None:
    with pytest.raises(UserError):
        wrong.prepare([])


def test_a_tool_out_of_time_fails_the_change(tmp_path: Path) -> None:
    change = make_change(tmp_path, {"x": ""}, {"m.py": SOURCE})
    with pytest.raises(TimeoutError, match="did not finish within"):
        Analyser(seconds=0.001).review(change)


def test_the_page_names_the_rules_that_are_asked_for() -> None:
    page = (Path(__file__).parents[2] / "docs" / "guides" / "review.md").read_text(encoding="utf-8")
    assert f"`{' '.join(rules_of('ruff')['rules'])}`" in page
    assert f"{len(TOOLS['lizard'])} other languages" in page
    assert f"{len(rules_of('eslint')['rules'])} core rules" in page
    assert all(f"| {tool}" in page for tool in TOOLS)
