"""guides/review.md: its scripts do what it says, and it names every parameter and placeholder of `command`."""

from __future__ import annotations

import dataclasses
import getpass
import re
import subprocess
from pathlib import Path

import pytest

from documented import run, write_files
from git_project import make_change
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.specs import load
from reviewgauge.reviewers.command import Command

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "review.md").read_text(encoding="utf-8")
STAND_IN = """#!/bin/sh
[ "$ANTHROPIC_API_KEY" = stand-in ] || exit 2
git diff --quiet HEAD || exit 3
echo "$2" | grep -q "Review the change from commit" || exit 4
commit=$(echo "$2" | sed -n 's/^Review the change from commit \\([0-9a-f]*\\) to .*/\\1/p')
git diff --name-only "$commit" HEAD | sed 's/.*/- &:1 A stand-in looked at this file./'
"""


def test_the_agents_script_works_with_a_stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(PAGE, tmp_path)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "claude").write_text(STAND_IN, encoding="utf-8")
    for program in (programs / "claude", tmp_path / "agent.sh"):
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/local/bin:/usr/bin:/bin")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "stand-in")
    (command,) = re.findall(r"^\$ (reviewgauge .*agent\.sh.*)$", PAGE, re.MULTILINE)
    done = run(command, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.match(r"agent: 9 reviews with (\d+) comments", done.stdout)
    assert found is not None and int(found[1]) >= 9


def may_unshare() -> bool:
    """Whether this system lets users make namespaces."""
    try:
        tried = subprocess.run(
            ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc", "true"],
            capture_output=True,
            check=False,
        )
    except OSError:
        return False
    return tried.returncode == 0


@pytest.mark.skipif(not may_unshare(), reason="this system lets no user hide a folder")
def test_the_wrapper_hides_folder_home_and_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(PAGE, tmp_path)
    change = make_change(tmp_path / "project", {"m.py": "one\n"}, {"m.py": "two\n"})
    (tmp_path / "cases.jsonl").write_text("the answers")
    look = f"""#!/bin/sh
ls -A '{tmp_path}' ~{getpass.getuser()} >&2
ls /proc | grep -c '^[0-9]' >&2
cat "$REVIEWGAUGE_DIFF" m.py >&2
echo '- m.py:1 seen'
"""
    for name, text in (("alone.sh", None), ("look.sh", look)):
        if text is not None:
            (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    review = Command(run=("./alone.sh", "{here}", "{here}/look.sh")).review(change)
    trace = review.trace or ""
    assert len(review.comments) == 1 and "+two" in trace
    assert "cases.jsonl" not in trace and "look.sh" not in trace and ".bash" not in trace
    (count,) = re.findall(r"^(\d+)$", trace, re.MULTILINE)
    assert int(count) <= 4, "no process but its own"


def test_the_page_names_every_parameter_and_placeholder() -> None:
    reviewer = load(Reviewer, "command(run=('sh',))")
    assert isinstance(reviewer, Command)
    for field in dataclasses.fields(reviewer):
        assert re.search(rf"`{field.name}\b|\b{field.name}=", PAGE), field.name
    for word in ("base", "head", "workspace", "case", "diff", "title", "description", "issues", "output", "here"):
        assert f"{{{word}}}" in PAGE, word
