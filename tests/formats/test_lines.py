"""What linters print to people and in their own JSON, as the real tools wrote it; and prose, which is neither."""

from __future__ import annotations

import pytest
from formats.conftest import FIXTURES, Shop
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.errors import BadInput
from reviewgauge.core.specs import plugin_name
from reviewgauge.formats.lines import Lines
from reviewgauge.formats.linter import Linter
from reviewgauge.formats.markdown import Markdown
from reviewgauge.formats.parsing.comments import NoPlace, detect

PRINTED = {
    "flake8-7.txt": "2:F841 2:E702 2:F401 3:E711 1:F401",
    "pylint-4.txt": "1:C0114 5:C0103 41:C0103 1:C0114 4:C0116 5:W1514 7:W0123 5:R1732 10:C0116 1:W0611",
    "mypy-pretty.txt": "4:no-untyped-def 10:no-untyped-def",
    "ruff-0.17.6-concise.txt": "2:F841 2:E702 2:F401 3:E711 1:F401 5:SIM115 7:S307",
    "ruff-0.17.6-full.txt": "2:F841 2:E702 2:F401",
    "eslint-stylish.txt": "1:no-unused-vars 4:no-unused-vars 4:prefer-const 5:eqeqeq",
    "gcc-12.txt": "4:-Wint-conversion 5:-Wformat= 6:None 3:-Wunused-variable",
    "tsc-pretty.txt": "1:TS2322 3:TS2322",
    "yamllint.txt": "1:document-start 1:colons 2:commas",
    "shellcheck-gcc.txt": "2:SC2164 2:SC2086 3:SC2012 3:SC2086",
}
NATIVE = {
    "bandit-native.json": "7:B307",
    "eslint-native.json": "1:no-unused-vars 5:eqeqeq",
    "golangci-native.json": "12:errcheck",
    "mypy-lines.json": "4:no-untyped-def 10:no-untyped-def",
    "pylint-native.json": "7:W0123 1:W0611",
    "pylint-json2.json": "7:W0123",
    "ruff-native.json": "3:E711 7:S307",
    "semgrep-native.json": "7:python.lang.security.audit.eval-detected.eval-detected",
    "sonarqube-issues.json": "5:python:S5754 None:python:S104",
    "shellcheck-native.json": "2:2164 2:2086",
    "shellcheck-checkstyle.xml": "2:ShellCheck.SC2164 2:ShellCheck.SC2086 3:ShellCheck.SC2012 3:ShellCheck.SC2086",
}


@pytest.mark.parametrize("name", [*PRINTED, *NATIVE])
def test_each_finding_of_a_linter_is_a_comment_at_its_line(name: str) -> None:
    data = (FIXTURES / name).read_bytes()
    form = detect(data, "a file without a telling name")
    assert plugin_name(form) == ("lines" if name in PRINTED else "linter")
    (parsed,) = form.read(data, name)
    found = [f"{c.claimed.start}:{c.category}" for c in parsed.comments if c.claimed]
    assert " ".join(found) == {**PRINTED, **NATIVE}[name]
    assert parsed.skipped == () and all(c.claimed and c.claimed.path for c in parsed.comments)


def test_a_page_of_several_is_refused_and_a_project_is_no_folder() -> None:
    data = (FIXTURES / "sonarqube-issues.json").read_bytes()
    (parsed,) = Linter().read(data, "x")
    assert {c.claimed and c.claimed.path for c in parsed.comments} == {"src/app.py"} and parsed.system == "sonarqube"
    with pytest.raises(BadInput, match=r"page with 2 of 900 findings"):
        Linter().read(data.replace(b'500, "total": 2', b'500, "total": 900'), "x")


def test_they_end_on_the_lines_of_a_real_repository(shop: Shop) -> None:
    for name in ("eslint-stylish.txt", "eslint-native.json"):
        data = (FIXTURES / name).read_bytes()
        assert shop.places(detect(data, "x").read(data, "x")[0])[-1] == ("web ui/cart.js", 5, 5, "as_given")
    (parsed,) = Lines().read((FIXTURES / "gcc-12.txt").read_bytes(), "x")
    assert parsed.comments[2].body.endswith(" once for each function it appears in")  # gcc's note on the error above


@pytest.mark.parametrize("text", [
    "All checks passed!",
    "Success: no issues found in 2 source files",
    "0",
    "\n--------------------\nYour code has been rated at 10.00/10 (previous run: 9.00/10, +1.00)\n",
    '{"results": [], "errors": [], "metrics": {}}',
    '{"Issues": null, "Report": {}}',
    '[{"filePath": "/a.js", "messages": []}]',
    "[]",
    "<?xml version='1.0'?><checkstyle version='4.3'></checkstyle>",
])  # fmt: skip
def test_a_linter_that_found_nothing_says_so(text: str) -> None:
    assert [c for parsed in detect(text.encode(), "x").read(text.encode(), "x") for c in parsed.comments] == []


@pytest.mark.parametrize("text", [
    "I read it all.\n\nsrc/a.py:12: The handle leaks when load fails.\nIt should be closed in a with block.\n",
    "- src/a.py:12:3 leaks\n- src/b.py:3:1 is off by one",
    "I ran flake8:\n```\na.py:1:1: F401 'os' imported but unused\n```\nNothing else.",
    "In src/a.py:12: the handle leaks.\n\nThe loop in src/b.py line 3 is off by one, too.",
    "src/a.py:12:5: warning: leaks\nAlso src/b.py:3 is off by one.",
])  # fmt: skip
def test_prose_stays_prose(text: str) -> None:
    assert plugin_name(detect(text.encode(), "x")) == "markdown"


WORDS = st.text("abcdefgh (),;'`", min_size=3, max_size=30).filter(lambda text: len(text.split()) > 1)


@given(st.lists(WORDS, min_size=1, max_size=6), st.integers(1, 99))
def test_any_prose_around_a_place_stays_prose(sentences: list[str], line: int) -> None:
    text = f"Please look at src/a.py line {line}.\n" + "\n".join(f"It {one.strip()}." for one in sentences)
    assert plugin_name(detect(text.encode(), "x")) == "markdown"


def test_lines_of_one_paragraph_that_begin_with_a_place_are_findings_of_their_own() -> None:
    (parsed,) = Markdown().read(b"Two problems:\nsrc/a.py:12: leaks the handle\nsrc/b.py:3: is off by one", "x")
    assert [c.claimed.start for c in parsed.comments if c.claimed] == [12, 3]


@pytest.mark.parametrize("text", ["garbage", "Checked 3 files in 0.2 s.\nDone.", "Traceback: no module named x"])
def test_words_without_a_place_are_no_review(text: str) -> None:
    with pytest.raises(NoPlace, match="names no place in code"):
        detect(text.encode(), "x")
    with pytest.raises(BadInput, match="holds no line such as path:line:col"):
        Lines().read(text.encode(), "x")


@pytest.mark.parametrize(("text", "says"), [
    ('<!DOCTYPE a [<!ENTITY x "y">]><checkstyle><file name="&x;"/></checkstyle>', "with a DOCTYPE"),
    ('<checkstyle><file name="a"><error', "not valid XML"),
    ("<pmd/>", "not Checkstyle's"),
    ('{"results": [], "errors": [{"reason": "x"}], "metrics": {}}', "field errors: bandit reports errors"),
    ('[{"filePath": "a.js", "messages": [{"line": 1}]}]', r"messages\[0\].message: is missing"),
    ('{"some": 1}', "is not the JSON of a known linter"),
])  # fmt: skip
def test_a_report_that_cannot_be_trusted_is_refused(text: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        Linter().read(text.encode(), "x")
