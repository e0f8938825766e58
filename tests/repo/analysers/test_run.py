from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_project import commit, make_change
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Change, ChangedFile, FileStatus, Severity
from reviewgauge.repo.analysers import programs
from reviewgauge.repo.analysers.findings import AnalyserCrash, AnalyserJob, AnalyserTimeout, Finding, run_program
from reviewgauge.repo.analysers.run import (
    TOOLS,
    AnalyserSettings,
    Output,
    analyse,
    check_tools,
    gaps,
    installed,
    versions,
)
from reviewgauge.repo.git.repository import Repository

OURS = ("ruff", "lizard", "smells")  # these come with the package


def run(change: Change, *tools: str, **terms: object) -> Output:
    assert change.git is not None
    return analyse(Repository(Path(change.git)), change, AnalyserSettings(tools=tools or OURS, **terms))  # type: ignore[arg-type]


def rules_of(analysis: Output) -> set[tuple[str, str, str, int]]:
    return {(f.tool, f.rule, f.path, f.start) for f in analysis.findings}


def branches(count: int, indent: str = "    ") -> str:
    return "".join(f"{indent}if a == {i}:\n{indent}    for b in c:\n{indent}        print(b)\n" for i in range(count))


# --- what becomes a finding ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_only_changed_lines_speak(tmp_path: Path) -> None:
    before = "import os\n\n\ndef f(x):\n    return x == None\n"
    after = "import os\nimport sys\n\n\ndef f(x):\n    return x == None\n\n\ndef g(x):\n    return x != None\n"
    change = make_change(tmp_path, {"a.py": before}, {"a.py": after})
    assert rules_of(run(change, "ruff")) == {("ruff", "F401", "a.py", 2), ("ruff", "E711", "a.py", 10)}


@pytest.mark.slow
def test_complexity_stands_at_the_def_line_or_at_the_first_changed_line(tmp_path: Path) -> None:
    body = "def big(a, c):\n" + branches(12) + "    return a\n\n\ndef small(a):\n    return a\n"
    touched = make_change(tmp_path / "one", {"m.py": body}, {"m.py": body.replace("return a\n\n", "return a + 1\n\n")})
    (finding,) = run(touched, branches=100).findings
    assert (finding.tool, finding.rule, finding.function) == ("smells", "cyclomatic", "big")
    assert (finding.start, finding.end) == (38, 38)
    assert "cyclomatic complexity is 25 (rank D), over 10" in finding.message
    fresh = make_change(tmp_path / "two", {"x": ""}, {"m.py": "import functools\n\n\n@functools.cache\n" + body})
    assert [(f.start, f.end) for f in run(fresh, branches=100).findings] == [(5, 5)]
    elsewhere = make_change(tmp_path / "three", {"m.py": body}, {"m.py": body + "\n\nX = 1\n"})
    assert run(elsewhere).findings == ()


@pytest.mark.slow
def test_of_functions_in_each_other_the_innermost_speaks(tmp_path: Path) -> None:
    cases = "".join(f"\t\tif a > {i} {{\n\t\t\treturn {i}\n\t\t}}\n" for i in range(14))
    go = f"package main\n\nfunc outer(a int) int {{\n\tinner := func() int {{\n{cases}\t\treturn 0\n\t}}\n"
    go += f"{cases}\treturn inner()\n}}\n"
    change = make_change(tmp_path, {"m.go": go}, {"m.go": go.replace("\t\treturn 0\n", "\t\treturn 1\n")})
    (finding,) = run(change, "lizard").findings
    assert "anonymous" in finding.function
    fresh = make_change(tmp_path, {"x": ""}, {"n.go": go})
    assert {(f.function == "outer", f.start) for f in run(fresh, "lizard").findings} == {(True, 3), (False, 4)}


@pytest.mark.slow
def test_asserts_in_tests_and_every_use_of_a_module_are_no_findings(tmp_path: Path) -> None:
    source = "import pickle\nimport subprocess\n\n\ndef check(x):\n    assert x\n    subprocess.run([x], check=True)\n"
    source += "    return pickle\n"
    change = make_change(tmp_path, {"x": ""}, {"tests/test_a.py": source, "src/a.py": source})
    assert [(f.rule, f.path) for f in run(change).findings] == [("S101", "src/a.py")]


@given(st.sampled_from(["ruff", "eslint", "jshint", "pmd"]), st.from_regex(r"[A-Z]{1,4}\d{2,4}", fullmatch=True))
def test_every_rule_has_a_category_and_a_severity(tool: str, rule: str) -> None:
    found = Finding(tool, rule, "a", 1, 1, "m", level="LOW")
    assert found.category in {"security", "performance", "maintainability", "defect"}
    assert found.severity in Severity and found.complaint


# --- files that nobody trusts --------------------------------------------------------------------------------------

HOSTILE = {
    "pyproject.toml": '[tool.ruff]\nexclude=["*"]\n[tool.ruff.lint]\nselect=[]\n',
    "ruff.toml": 'exclude = ["*"]\n[lint]\nselect = []\n',
    ".ruff.toml": 'exclude = ["*"]\n', ".gitignore": "*\n", "whitelizer.txt": "big\n",
    "sitecustomize.py": "open('MARK', 'w')\n",
    "ast.py": "open('MARK', 'w')\n", "lizard.py": "open('MARK', 'w')\n",
    "json/__init__.py": "open('MARK', 'w')\n",
}  # fmt: skip
BAD = "import os\n\n\ndef big(a, c):\n" + branches(12) + "    return eval(a)\n"


@pytest.mark.slow
def test_settings_in_the_repository_are_not_obeyed(tmp_path: Path) -> None:
    plain = run(make_change(tmp_path / "plain", {"x": ""}, {"m.py": BAD})).findings
    mark = tmp_path / "MARK"
    hostile = {name: text.replace("MARK", str(mark)) for name, text in HOSTILE.items()}
    change = make_change(tmp_path / "hostile", {"x": ""}, {"m.py": BAD, **hostile})
    found = tuple(f for f in run(change).findings if f.path == "m.py")
    smells = {("smells", "cyclomatic"), ("smells", "long-branch")}
    assert {(f.tool, f.rule) for f in plain} == {("ruff", "F401"), ("ruff", "S307"), *smells}
    assert found == plain
    assert not mark.exists()


@pytest.mark.slow
def test_comments_in_the_code_silence_nobody(tmp_path: Path) -> None:
    python = "# ruff: noqa\nimport os  # noqa\n\n\ndef big(a, c):\n" + branches(12) + "    return eval(a)\n"
    js = "// GENERATED CODE\nfunction pick(a) { // #lizard forgives\n"
    js += (
        "  /* #lizard forgive global\n */\n" + "".join(f"  if (a > {i}) {{ return {i}; }}\n" for i in range(14)) + "}\n"
    )
    change = make_change(tmp_path, {"x": ""}, {"m.py": python, "m.js": js})
    loud = {(f.tool, f.rule, f.start, *f.agree) for f in run(change).findings}
    assert loud == {
        ("ruff", "F401", 2), ("ruff", "S307", 42), ("smells", "cyclomatic", 5), ("smells", "long-branch", 5),
        ("lizard", "cyclomatic", 2),
    }  # fmt: skip


@pytest.mark.slow
def test_odd_file_names_are_files_and_not_options(tmp_path: Path) -> None:
    names = [
        "@args.py", "-rf.py", "--config=evil.py", "a b;$(touch MARK).py", "ünï.py", "build/x.py", "node_modules/y.py",
    ]  # fmt: skip
    change = make_change(tmp_path, {"x": ""}, dict.fromkeys(names, "import os\n"))
    assert {f.path for f in run(change).findings} == set(names)


@pytest.mark.slow
def test_links_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text("import os\neval(input())\n")
    folder = tmp_path / "repo"
    base = commit(folder, {"x": ""})
    (folder / "link.py").symlink_to(secret)
    head = commit(folder, {"m.py": "import os\n"})
    files = Repository(folder).changed_files(base, head)
    change = Change(repo="r", base=base, head=head, files=files, git=str(folder))
    found = run(change)
    assert {f.path for f in found.findings} == {"m.py"}
    assert [(drop.item, drop.reason) for drop in found.unread] == [("link.py", "is a symbolic link")]


@pytest.mark.slow
def test_what_does_not_parse_is_said_and_the_rest_is_read(tmp_path: Path) -> None:
    files: dict[str, str | bytes | None] = {
        "old.py": "print 'x'\n",
        "latin.py": "# -*- coding: latin-1 -*-\nimport os\nx = '\xe9'\n".encode("latin-1"),
        "wrong.py": b"import os\nx = '\xe9'\n", "good.py": "import os\n",
        "deep.py": "x = " + "(" * 300 + ")" * 300 + "\n", "long.py": "x = " + " + ".join(["'a'"] * 3000) + "\n",
        "huge.py": "x = 1\n" * 200_000, "gone.sh": "",
    }  # fmt: skip
    change = make_change(tmp_path, {"x": ""}, files)
    found = run(change)
    assert {drop.item for drop in found.unread} == {"old.py", "wrong.py", "deep.py", "huge.py"}
    assert "does not parse as Python 3" in next(d.reason for d in found.unread if d.item == "old.py")
    assert {f.path for f in found.findings} == {"good.py", "latin.py", "wrong.py"}  # ruff forgives a wrong letter


def test_a_change_that_no_tool_reads_and_deleted_files_give_nothing(tmp_path: Path) -> None:
    change = make_change(tmp_path, {"a.py": "import os\n"}, {"a.py": None, "notes.md": "# hi\n", "b.bin": b"\x00\x01"})
    assert run(change) == Output()


# --- tools that break ----------------------------------------------------------------------------------------------


def test_a_crash_names_the_tool_and_is_no_empty_result(tmp_path: Path) -> None:
    answer = b'{"tool": "parse"}\n{"tool": "parse", "rows": []}\n{"tool": "smells"}\n'
    with pytest.raises(AnalyserCrash, match="smells crashed: ended by signal 11"):
        programs.read_answer(answer, -11, b"")
    bench = AnalyserJob(tmp_path, tmp_path)
    with pytest.raises(AnalyserCrash, match=r"lizard crashed: .*No such file"):
        programs.run_libraries(["lizard"], [], ["gone.js"], bench)


@contextmanager
def written(folder: Path) -> Iterator[IO[bytes]]:
    """What is written into `folder/pipe`; a read waits until all who have it open have ended."""
    os.mkfifo(folder / "pipe")
    with os.fdopen(os.open(folder / "pipe", os.O_RDONLY | os.O_NONBLOCK), "rb") as stream:
        os.set_blocking(stream.fileno(), True)
        yield stream


@pytest.mark.slow
def test_a_program_that_does_not_end_is_a_timeout_and_is_ended(tmp_path: Path) -> None:
    bench = AnalyserJob(tmp_path, tmp_path, AnalyserSettings(seconds=0.3))
    with written(tmp_path) as pipe:
        with pytest.raises(AnalyserTimeout, match=r"slow did not finish within 0\.3 s"):
            run_program("slow", ["sh", "-c", "(sleep 60; echo late) > pipe & wait"], bench)
        assert pipe.read() == b""


def test_a_program_gets_an_empty_home_and_none_of_our_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", "hunter2")
    _, out, _ = run_program("env", ["env"], AnalyserJob(tmp_path, tmp_path / "home"))
    assert b"hunter2" not in out
    assert f"HOME={tmp_path}/home\n".encode() in out


# --- tools that may be missing -------------------------------------------------------------------------------------


def patched(path: str, status: FileStatus = FileStatus.ADDED) -> ChangedFile:
    return ChangedFile(path=path, status=status, patch="@@ -0,0 +1 @@\n+x")


def test_what_is_not_installed_and_what_no_tool_reads_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    names = ["a.js", "b.mjs", "c.py", "notes.md", "more.md", "Makefile"]
    files = (*map(patched, names), patched("old.js", FileStatus.DELETED))
    drops = {(drop.item, drop.by): drop.reason for drop in gaps([Change(repo="r", files=files)], tuple(TOOLS))}
    assert drops == {
        ("2 JavaScript files", "eslint"): "eslint is not installed: read by lizard alone",
        ("2 JavaScript files", "jshint"): "jshint is not installed: read by lizard alone",
        ("3 files", "analyser"): "no analyser reads such files (.md 2, Makefile 1)",
    }
    bare = ChangedFile(path="big.py")
    assert [(d.item, d.reason.partition(",")[0]) for d in gaps([Change(repo="r", files=(files[2], bare))], OURS)] == [
        ("1 file", "its patch is missing")
    ]
    chosen = gaps([Change(repo="r", files=files)], ("ruff",))
    assert ("2 JavaScript files", "none of the chosen tools reads it") in {(d.item, d.reason) for d in chosen}


def test_the_tools_of_the_package_are_here_with_their_versions() -> None:
    assert set(OURS) <= installed().keys()
    assert all(versions(OURS)[tool][0].isdigit() for tool in OURS)


def test_an_unknown_tool_is_named() -> None:
    with pytest.raises(UserError, match="'rff' is not an analyser"):
        check_tools(("ruff", "rff"))
