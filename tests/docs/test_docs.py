"""The docs are true: links lead somewhere, every verb and plug-in is documented."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest

import reviewgauge
from reviewgauge.cli.main import VERBS
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.specs import load, names

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)\s]+)\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        path = (page.parent / target.partition("#")[0]).resolve()
        assert path.exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_is_in_the_command_line_reference(verb: str) -> None:
    text = (ROOT / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
    assert f"\n| `{verb}" in text
    assert verb == "list" or callable(getattr(reviewgauge, verb))  # list_plugins


def test_every_page_is_reachable_from_the_readme() -> None:
    reached: set[Path] = set()
    queue = [ROOT / "README.md"]
    while queue:
        page = queue.pop()
        if page in reached or page.suffix != ".md" or not page.exists():
            continue
        reached.add(page)
        targets = LINK.findall(page.read_text(encoding="utf-8"))
        queue += [(page.parent / target.partition("#")[0]).resolve() for target in targets]
    assert {page.resolve() for page in PAGES} <= reached


def _python_blocks() -> list[tuple[str, str]]:
    """(page, code) of every Python example on a page that stands for itself."""
    blocks = re.compile(r"```python(?: title=\S+)?\n(.*?)```", re.DOTALL)
    return [(page.name, code) for page in PAGES for code in blocks.findall(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(("page", "code"), _python_blocks())
def test_python_examples_import_what_exists(page: str, code: str) -> None:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("reviewgauge"):
            module = import_module(node.module or "")
            missing = [name.name for name in node.names if not hasattr(module, name.name)]
            assert not missing, f"{page}: {node.module} has no {missing}"


def test_nothing_of_this_machine_is_written_down() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.split():
        path = ROOT / name
        if path.suffix in {".bundle", ".png"} or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        assert str(ROOT) + "/" not in text, name
        if "constraints" in name:
            assert "://" not in text, name


def _reviewers_named() -> list[tuple[str, str]]:
    """(page, spec) of every reviewer with parameters that a page gives to `reviewgauge review`."""
    found = []
    for page in PAGES:
        for line in page.read_text(encoding="utf-8").splitlines():
            words = line.removeprefix("$ ")
            if not words.startswith("reviewgauge review ") or "..." in words:
                continue
            parts = shlex.split(words, comments=True)
            named = [part for before, part in pairwise(parts) if not before.startswith("--")]
            found += [(page.name, part) for part in named if re.fullmatch(r"[a-z_]+\((?!.*my_plugins).*\)", part)]
    return found


@pytest.mark.parametrize(("page", "spec"), _reviewers_named())
def test_reviewers_on_pages_exist_with_these_parameters(page: str, spec: str) -> None:
    if spec.partition("(")[0] not in ("recorded", *names("datasets")):
        assert load(Reviewer, spec)


def test_pages_that_the_code_names_exist() -> None:
    """Messages and docstrings send readers to `docs/...`; pages of other projects are named with their site."""
    for source in (ROOT / "src").rglob("*.py"):
        for page in re.findall(
            r"docs/(?:start|guides|reference|explanation)/[\w/.-]+\.(?:md|json)", source.read_text("utf-8")
        ):
            assert (ROOT / page).exists(), f"{source.name} names {page}"


def test_programs_that_the_pages_name_exist() -> None:
    for page in PAGES:
        for program in re.findall(r"\b(?:benchmarks|sample|scripts)/[\w/-]+\.py", page.read_text(encoding="utf-8")):
            assert (ROOT / program).exists(), f"{page.name} names {program}"
