"""An armed benchmark of others through the whole command line: no trap springs, and no file of another leaks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from documented import run_here
from malicious_repos import GROUPS, Armed, armed
from reviewgauge.core.records import Case, Change, Comment, Span

LOOK = "git status --porcelain; git diff {base} {head}; git log -p --all; git fsck; echo '- a.py:2 looked at'"
REVIEWERS = (
    f"command(run=('sh', '-c', {LOOK!r}), lines='added', name='program')",
    "command(run=('sh', '-c', 'git log -p --all; echo \"- a.py:2 seen\"'), history=True, lines='added', name='all')",
    "analyser(tools=('ruff',))",
    "prompt(model='fake:rules')",
)


def reviewgauge(folder: Path, *words: str) -> str:
    """One verb, run in `folder` as a user does, with nothing of this machine's own data."""
    done = run_here(folder, *words)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


@pytest.fixture(scope="module")
def traps(tmp_path_factory: pytest.TempPathFactory) -> list[Armed]:
    folder = tmp_path_factory.mktemp("theirs")
    return [armed(folder, name) for name in GROUPS]


@pytest.fixture(scope="module")
def bench(traps: list[Armed]) -> Path:
    """A folder with a file of cases and the armed repositories beside it."""
    folder = traps[0].folder.parent
    comment = Comment(id="r", body="Why is this three now?", span=Span(path="a.py", start=2))
    with (folder / "cases.jsonl").open("wb") as file:
        for trap in traps:
            change = Change(repo="acme/armed", base=trap.base, head=trap.head, title="A change", git=trap.folder.name)
            name = trap.name.replace(" ", "-")
            file.write(Case(id=f"{name}/1", change=change, references=(comment,), verdict=False).to_line())
    return folder


def sprung(traps: list[Armed]) -> list[str]:
    return [trap.name for trap in traps if trap.sprung]


@pytest.mark.drill
def test_review_score_report_and_bundle_spring_no_trap(bench: Path, traps: list[Armed]) -> None:
    said = reviewgauge(bench, "review", "cases.jsonl", *REVIEWERS, "-o", "run", "--json")
    totals = json.loads(said)["totals"]
    assert [len(GROUPS) - one["done"] for one in totals] == [1, 1, 0, 0], totals
    assert all("borrows objects" in one["reasons"]["crash"] for one in totals[:2]), "it has no checkout"
    assert [one["comments"] for one in totals][:2] == [len(GROUPS) - 1] * 2, "what the programs printed was read"
    assert not sprung(traps)
    reviewgauge(bench, "score", "run", "hits")
    reviewgauge(bench, "report", "run", "-o", "out.html")
    reviewgauge(bench, "bundle", "run", "-o", "bundle.zip")
    assert not sprung(traps)
    assert "hunter2" not in (bench / "run" / "reviews.jsonl").read_text(), "the file of another repository"
