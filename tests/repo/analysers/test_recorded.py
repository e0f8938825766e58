"""PMD, ESLint and JSHint: what the real tools printed of `fixtures/`, and the tools themselves where installed."""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_project import make_change
from reviewgauge.core.records import Change, Severity
from reviewgauge.repo.analysers.findings import AnalyserCrash, AnalyserSettings, Output
from reviewgauge.repo.analysers.programs import read_jshint, read_pmd
from reviewgauge.repo.analysers.run import analyse, installed, versions
from reviewgauge.repo.git.repository import Repository

FIXTURES = Path(__file__).parent / "fixtures"
ARGUMENTS = "arguments"
# tool: its recorded output, its exit code with findings, the files
RECORDED = {
    "pmd": ("pmd-7.28.0.json", 5, ("Till.java", "Broken.java")),
    "eslint": ("eslint-10.15.0.json", 1, ("till.js",)),
    "jshint": ("jshint-2.13.6.json", 2, ("till.js", "broken.js")),
}
EXPECTED = {
    "pmd": {
        ("UnnecessaryImport", 3, "maintainability", Severity.LOW),
        ("UnusedPrivateField", 6, "maintainability", Severity.MEDIUM),
        ("CompareObjectsWithEquals", 9, "defect", Severity.MEDIUM),
        ("UseEqualsToCompareStrings", 9, "defect", Severity.MEDIUM),
        ("UseLocaleWithCaseConversions", 10, "defect", Severity.MEDIUM),
        ("UnusedLocalVariable", 17, "maintainability", Severity.MEDIUM),  # silenced by an annotation
        ("UnusedLocalVariable", 21, "maintainability", Severity.MEDIUM),  # silenced by a comment
    },
    "eslint": {
        ("no-cond-assign", 4, "defect", Severity.MEDIUM),
        ("no-constant-condition", 4, "defect", Severity.MEDIUM),
        ("no-eval", 5, "security", Severity.MEDIUM),
    },
    "jshint": {("W084", 4, "defect", Severity.MEDIUM), ("W061", 5, "security", Severity.MEDIUM)},
}
UNREAD = {
    "pmd": [
        ("Broken.java", "does not parse: ParseException: Parse exception in file 'Broken.java' at line 1, column 24")
    ],
    "eslint": [],
    "jshint": [("broken.js", "does not parse: Expected an identifier and instead saw ''. (line 1)")],
}


def put_program(folder: Path, tool: str, text: str) -> None:
    """A program of that name, which notes its arguments."""
    program = folder / tool
    program.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {folder}/{ARGUMENTS}\n{text}\n", encoding="utf-8")
    program.chmod(0o755)


def replayed(tool: str) -> str:
    """Shell text that prints what the tool printed, with the paths of this run."""
    name, code, _ = RECORDED[tool]
    return f'sed "s#/files#$PWD#" {FIXTURES / name}; exit {code}'


def needs(tool: str) -> None:
    if not shutil.which(tool):
        pytest.skip(f"{tool} is not installed here")


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


def change_of(tmp_path: Path, tool: str) -> Change:
    files = {name: (FIXTURES / name).read_text("utf-8") for name in RECORDED[tool][2]}
    return make_change(tmp_path / "repo", {"x": ""}, files)


def run(change: Change, tool: str, **terms: object) -> Output:
    assert change.git is not None
    return analyse(Repository(Path(change.git)), change, AnalyserSettings(tools=(tool,), **terms))  # type: ignore[arg-type]


def check(found: Output, tool: str) -> None:
    assert {(f.rule, f.start, f.category, f.severity) for f in found.findings} == EXPECTED[tool]
    assert {(f.tool, f.path) for f in found.findings} == {(tool, RECORDED[tool][2][0])}
    assert [drop.item for drop in found.unread] == [item for item, _ in UNREAD[tool]]
    assert all(drop.reason.startswith(reason) for drop, (_, reason) in zip(found.unread, UNREAD[tool], strict=True))


@pytest.mark.parametrize("tool", RECORDED)
def test_what_the_tool_printed_is_read(tmp_path: Path, programs: Path, tool: str) -> None:
    put_program(programs, tool, replayed(tool))
    check(run(change_of(tmp_path, tool), tool), tool)


@pytest.mark.parametrize("tool", RECORDED)
def test_the_tool_says_the_same_today(tmp_path: Path, tool: str) -> None:
    needs(tool)
    check(run(change_of(tmp_path, tool), tool), tool)


@pytest.mark.parametrize("tool", RECORDED)
def test_nothing_in_the_repository_decides_what_runs(tmp_path: Path, programs: Path, tool: str) -> None:
    """All settings are ours and lie outside of the code; no file's name can be an option."""
    put_program(programs, tool, replayed(tool))
    run(change_of(tmp_path, tool), tool)
    arguments = (programs / ARGUMENTS).read_text("utf-8").splitlines()
    files = [word for word in arguments if word.endswith((".js", ".java")) and "reporter" not in word]
    assert all(word.startswith("./") for word in files)
    places = [word.partition("=")[2] or word for word in arguments if word.startswith(("--", "/"))]
    assert not any("/files/" in place for place in places)
    if tool == "pmd":
        assert files == []
        assert "--show-suppressed" in arguments
        assert any(word.startswith("--suppress-marker=") for word in arguments)


def test_the_comments_in_the_code_are_not_obeyed(tmp_path: Path, programs: Path) -> None:
    put_program(programs, "jshint", "cat *.js >&2; exit 9")
    with pytest.raises(AnalyserCrash, match=r"/\* xxhint -W061.* // xxhint ignore:line"):
        run(change_of(tmp_path, "jshint"), "jshint")


@pytest.mark.parametrize("tool", RECORDED)
@pytest.mark.parametrize("text", ["echo 'no such ruleset' >&2; exit 1", "echo '[1'", "echo null", "kill -9 $$"])
def test_a_tool_that_breaks_is_no_empty_result(tmp_path: Path, programs: Path, tool: str, text: str) -> None:
    put_program(programs, tool, text)
    if tool == "eslint" and "exit 1" in text:
        text = "exit 2"  # its 1 says that it found something
        put_program(programs, tool, text)
    with pytest.raises(AnalyserCrash, match=tool):
        run(change_of(tmp_path, tool), tool)


def test_the_version_is_found_wherever_it_is_printed(programs: Path) -> None:
    put_program(programs, "jshint", "echo jshint v2.13.6 >&2")
    put_program(programs, "pmd-7", "echo PMD 7.28.0 '(79726f0)'")
    (programs / "pmd").symlink_to("pmd-7")
    assert versions(("jshint", "pmd")) == {"jshint": "2.13.6", "pmd": "7.28.0"}
    assert installed(("pmd",))["pmd"].endswith("/pmd-7")  # its script does not follow links itself


KEYS = st.sampled_from(["files", "filename", "violations"])
JSON = st.recursive(
    st.none() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.lists(st.tuples(inner, inner, inner, inner)) | st.dictionaries(KEYS, inner),
)


@given(JSON)
def test_any_report_is_read_or_refused(report: object) -> None:
    text = json.dumps(report).encode()
    for read in (read_jshint, lambda out: read_pmd(out, Path("/files"))):
        with contextlib.suppress(ValueError, KeyError, TypeError):  # what makes a crash of the tool
            assert isinstance(read(text), Output)
