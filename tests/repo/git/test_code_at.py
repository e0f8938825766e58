from __future__ import annotations

from pathlib import Path

import pytest

from git_project import commit, run_git
from reviewgauge.core.errors import UserError
from reviewgauge.repo.git.code_at import CodeAt, Hit
from reviewgauge.repo.git.repository import Repository


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "lib").mkdir(parents=True)
    run_git(folder, "init", "-q", "-b", "main")
    (folder / "link").symlink_to("/etc/passwd")
    commit(
        folder, {"a.py": "def total(x):\n    return x\n", "lib/b.py": "TOTAL = total(1)\n", "new\nline.py": "total\n"}
    )
    commit(folder, {"a.py": "changed\n", "binary": b"\x00total\n", ":(top)x.py": "total\n"})
    return folder


def test_files_of_one_commit_and_no_other(project: Path) -> None:
    with CodeAt(Repository(project), "HEAD~1") as code:
        assert code.paths() == ("a.py", "lib/b.py", "new\uf00aline.py")
        assert code.read("a.py") == b"def total(x):\n    return x\n"
        assert code.read("new\uf00aline.py") == b"total\n"
        for path in ("link", "nope", "lib", "../project/a.py", ".git/config", "/etc/passwd", ""):
            assert code.read(path) is None
    with CodeAt(Repository(project), "HEAD", largest=5) as code:
        assert code.read("a.py") is None and "binary" in code.paths()


def test_lines_that_hold_words(project: Path) -> None:
    with CodeAt(Repository(project), "HEAD~1") as code:
        found = code.grep("total(")
        assert found == [Hit("a.py", 1, "def total(x):"), Hit("lib/b.py", 1, "TOTAL = total(1)")]
        assert code.grep("total(", ["lib"]) == found[1:]
        assert len(code.grep("TOTAL", ignore_case=True)) == 3 and len(code.grep("TOTAL")) == 1
        assert code.grep("total", most=1) == [Hit("a.py", 1, "def total(x):")]
        assert code.grep("no such words") == [] and code.grep("total", ["nowhere"]) == []
        assert code.grep("--open-files-in-pager=touch x") == []
        for words in ("", "a\nb", "a\x00b"):
            with pytest.raises(UserError, match="one line"):
                code.grep(words)
    with CodeAt(Repository(project), "HEAD") as code:
        assert {hit.path for hit in code.grep("total")} == {"lib/b.py", "new\uf00aline.py", ":(top)x.py"}
        assert [hit.path for hit in code.grep("total", [":(top)x.py"])] == [":(top)x.py"]


@pytest.mark.parametrize("name", ["1" * 40, "--all", "main..main", ""])
def test_a_commit_that_is_not_there(project: Path, name: str) -> None:
    with pytest.raises(UserError, match="no commit"):
        CodeAt(Repository(project), name)
