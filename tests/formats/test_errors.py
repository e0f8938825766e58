"""Only BadInput comes out of a reader, and it names record and field."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from formats.conftest import FIXTURES
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.errors import BadInput
from reviewgauge.core.protocols import Format
from reviewgauge.core.records import Change, ChangedFile
from reviewgauge.core.specs import load, names, plugin_name
from reviewgauge.formats.parsing.comments import detect
from reviewgauge.repo.diff.anchors import anchor_all
from reviewgauge.repo.forge.accounts import bot_noise

FORMATS = [load(Format, name) for name in names("formats")]
FILES = [path.read_bytes() for path in sorted(FIXTURES.iterdir())]
CHANGE = Change(repo="r", files=(ChangedFile(path="src/app.py", patch="@@ -1 +1,2 @@\n-a\n+b\n+c"),))
_PULL = {"repo": "https://h/o/r", "pr_number": 1, "head": "a"}
_FOUND = {"file": "a.py", "start_line": 1, "end_line": 1, "message": "m"}
ODD = [b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\\ud800", b"[" * 2000, b'{"a":' * 2000, b"9" * 5000, b"1e999", b"NaN"]
ODD += [
    b"-1",
    b"null",
    b"[]",
    b"{}",
    b'""',
    b"&a [*a]",
    b"!!python/object:os.system x",
    b"<note>",
    b"```",
    b"\n- ",
    b": ",
]
JUNK = st.binary(max_size=12) | st.sampled_from(ODD)


def swallow(data: bytes) -> None:
    """Every reader either reads it or says BadInput; what it read can be anchored and written as a record."""
    for form in FORMATS:
        form.recognises(data)
        try:
            parsed = form.read(data, "file")
        except BadInput as error:
            assert "\n" not in str(error) and str(error).startswith("file")
            continue
        for one in parsed:
            type(one).model_validate_json(one.to_line())
            assert len({c.id for c in one.comments}) == len(one.comments)
            assert all(c.span is None and c.claimed is not None for c in one.comments)
            anchor_all(one.comments, CHANGE, one.root)
    try:
        detect(data, "file")
    except BadInput:
        return


@given(st.binary() | st.text().map(str.encode) | JUNK)
def test_junk(data: bytes) -> None:
    swallow(data)


@given(st.sampled_from(FILES), st.lists(st.tuples(st.floats(0, 1), st.integers(0, 40), JUNK), min_size=1, max_size=4))
def test_damaged_files(data: bytes, cuts: list[tuple[float, int, bytes]]) -> None:
    for where, length, junk in cuts:
        at = int(where * len(data))
        data = data[:at] + junk + data[at + length :]
    swallow(data)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text("aé\x00/:` \n", max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab\x00", max_size=3), inner, max_size=3),
    max_leaves=6,
)


def spots(value: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    """The way to every value inside a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(spot for key, item in inner for spot in spots(item, (*path, key)))]


DOCUMENTS = [json.loads(data) for data in FILES if data[:1] in (b"{", b"[") and data.count(b"\n{") == 0]


@given(st.sampled_from(DOCUMENTS), st.integers(0, 10**6), VALUES)
def test_values_of_another_type(document: object, which: int, value: object) -> None:
    text = json.dumps(document)
    copy = {"": json.loads(text)}
    found = spots(copy[""])
    target: object = copy
    way = ("", *found[which % len(found)])
    for key in way[:-1]:
        target = target[key]  # type: ignore[index]
    target[way[-1]] = value  # type: ignore[index]
    swallow(json.dumps(copy[""]).encode())


@pytest.mark.parametrize(("name", "data", "says"), [
    ("rdjson", {"diagnostics": [{"message": "a"}, {"message": 3}]}, "diagnostics[1], field message: should be text"),
    ("rdjson", {"diagnostics": [{"location": {}}]}, "diagnostics[0], field message: is missing"),
    ("rdjson", {"diagnostics": [{"message": "a", "severity": "BAD"}]}, "field severity: should be one of"),
    ("rdjson", {"diagnostics": [{"message": "a", "location": {"range": {"start": {"line": "1"}}}}]},
        "field location.range.start.line: should be a number, not text"),
    ("sarif", {"runs": [{"results": [{}, 5]}]}, "field results[1]: should be an object, not a number"),
    ("sarif", {"runs": [{"tool": {}, "results": [{}]}]}, "runs[0].results[0], field message.text: is missing"),
    ("sarif", {"runs": []}, "field runs: is empty"),
    ("sarif", {"runs": None}, "field runs: is empty"),
    ("sarif", {"runs": [{"tool": {}}]}, "runs[0], field results: is missing: the tool did not look"),
    ("sarif", {"runs": [{"results": None}]}, "runs[0], field results: is null: the tool did not look"),
    ("sarif", {"runs": [{"results": [], "invocations": [{"executionSuccessful": False}]}]},
        "runs[0], field invocations: says that the tool failed, and has no result"),
    ("sarif", {"runs": [{"externalPropertyFileReferences": {"results": [{"location": {"uri": "a"}}]}}]},
        "field externalPropertyFileReferences.results: keeps its results in other files"),
    ("github", [{"body": "a", "line": 1.5}], "comment [0], field line: should be a whole number"),
    ("github", [{"body": "a", "created_at": "soon"}], "comment [0], field created_at: is not a time"),
    ("gitlab", [{"id": "a", "individual_note": True}], "discussion [0], field notes: is missing"),
    ("gitlab", [{"notes": [{"body": "a", "position": {"new_path": "a", "new_line": "1"}}]}],
        "discussion [0], field notes[0].position.new_line: should be a number"),
    ("gerrit", {"a.py": [{"line": 1}]}, "a.py [0], field message: is missing"),
    ("bitbucket", {"values": [{"content": {"raw": 1}}]}, "comment [0], field content.raw: should be text"),
    ("plain", [{"path": "a", "body": "b", "line": "x"}], "row 1, field line: should be a whole number"),
    ("plain", [{"path": "a", "body": "b", "line": 0}], "row 1, field line: should be 1 or more"),
    ("plain", [{"path": "a", "line": 1}], "row 1, field body: is missing"),
    ("codex", {"findings": [{"title": "a", "code_location": []}]}, "field code_location: should be an object"),
    ("coderabbit", {"type": "finding", "comment": "a"}, "line 1, field fileName: is missing"),
    ("martian", {"u": {"t": [{"text": None}]}}, "u t [0], field text: is missing"),
    ("martian", {"u": {"t": {}}}, "u t: should be a list"),
    ("review_bench", {"pr": {"repo": "https://h/o/r", "head": "a"}, "findings": []}, "field pr.pr_number: is missing"),
    ("review_bench", {"pr": {"repo": "o/r", "pr_number": 1, "head": "a"}, "findings": []}, "is not an address"),
    ("review_bench", {"pr": {"repo": "https://h/o/r", "pr_number": 1, "head": "a"}}, "findings: is missing"),
    ("review_bench", {"pr": {"repo": "https://h/o/r", "pr_number": 1}, "findings": []}, "field pr.head: is missing"),
    ("review_bench", {"pr": _PULL, "findings": [{"message": "m"}]}, "findings[0], field file: is missing"),
    ("review_bench", {"pr": {}, "agent": "a"}, "field pr.repo: is missing"),
    ("review_bench", {"pr": _PULL, "findings": [{**_FOUND, "start_line": "3"}]}, "start_line: should be a number"),
    ("review_bench", {"pr": _PULL, "findings": [{**_FOUND, "end_line": None}]}, "end_line: is missing"),
    ("review_bench", {"key": [{**_FOUND, "message": 3}]}, "key [0], field message: should be text"),
    ("review_bench", {"key": {}}, "key: should be a list"),
    ("pr_agent", {"review": {"key_issues_to_review": [{"issue_content": []}]}}, "issue_content: should be text"),
])  # fmt: skip
def test_errors_name_record_and_field(name: str, data: object, says: str) -> None:
    with pytest.raises(BadInput) as caught:
        load(Format, name).read(json.dumps(data).encode(), "my.file")
    assert str(caught.value).startswith("my.file, ")
    assert says in str(caught.value)


@pytest.mark.parametrize("invocations", [None, [], [{}], [{"executionSuccessful": True}]])
def test_a_tool_that_found_nothing_wrote_a_silent_review(invocations: object) -> None:
    log = {"runs": [{"tool": {}, "results": [], "invocations": invocations}]}
    assert load(Format, "sarif").read(json.dumps(log).encode(), "my.sarif")[0].comments == ()


STATUS = "bot summary or status post"
META = "<!-- macroscope-meta"


@pytest.mark.parametrize(("body", "alone", "on_a_line"), [
    *((text, "command trigger", "command trigger") for text in ("/review", "@codex review", "bugbot run")),
    *((text, "command trigger", "command trigger") for text in ("@coderabbitai full review", "/gemini review")),
    ("## Walkthrough\n\nThis adds x", STATUS, None),
    ("<!-- This is an auto-generated comment: summarize by coderabbit.ai -->\nhi", STATUS, None),
    ("## Pull request overview\n\nCopilot reviewed 3 out of 3 changed files", STATUS, None),
    ("**Actionable comments posted: 3**", STATUS, None),
    ("# Summary of Changes\nHello", STATUS, None),
    ("@alice please look: this overflows", None, None),
    ("/etc/passwd is world readable after this change", None, None),
    ("No issues with the loop, but the lock is never released.", None, None),
    ("Summary by hand: the index is wrong", STATUS, None),
    ("This review function has a bug", None, None),
    ("Walk through the list once instead of twice.", None, None),
    (f'{META}: {{"kind":"code_review","variant":"a1"}} -->\nThis overflows.', None, None),
    (f"{META} kind=code_review -->\nThis overflows.", None, None),
    (f'{META}: {{"variant": "inline"}} -->\nThis overflows.', None, None),
    (f'{META}: {{"kind": check_run,,}} -->\nThis overflows.', None, None),
    (f'#### Approvability\n{META}: {{"kind":"approvability"}} -->', *["marked by its bot: approvability"] * 2),
    (f'{META}: {{"check": "names", "kind": "check_run"}} -->\nStyle.', *["marked by its bot: check_run"] * 2),
    (f"{META} kind=pr_assistant -->\nShall I?", *["marked by its bot: pr_assistant"] * 2),
])  # fmt: skip
def test_what_a_bot_says_beside_its_findings(body: str, alone: str | None, on_a_line: str | None) -> None:
    assert (bot_noise(body, False), bot_noise(body, True)) == (alone, on_a_line)


# --- what cannot be read is no review ------------------------------------------------------------------------------

JSON_FIXTURES = [path for path in sorted(FIXTURES.iterdir()) if path.read_bytes()[:1] in (b"{", b"[")]


@pytest.mark.parametrize("path", JSON_FIXTURES, ids=lambda path: path.name)
@pytest.mark.parametrize("before", [b"", b"Running 12 rules\n", b"My review:\n\n```\n"])
def test_json_that_is_cut_off_is_never_free_text(path: Path, before: bytes) -> None:
    data = path.read_bytes().rstrip()
    ends = {data.rfind(b"\n", 0, at) + 1 for at in range(len(data))} if path.suffix == ".jsonl" else set()
    for size in {*range(2, 40), *range(40, len(data), 397), len(data) - 1} - ends - {end - 1 for end in ends}:
        half = before + data[:size]
        with pytest.raises(BadInput):
            detect(half, "what it printed").read(half, "what it printed")


@pytest.mark.parametrize("path", JSON_FIXTURES, ids=lambda path: path.name)
def test_a_format_that_finds_nothing_it_knows_is_an_error(path: Path) -> None:
    data = path.read_bytes()
    own = type(detect(data, path.name))
    assert own is type(detect(data, "what it printed"))
    for form in FORMATS:
        if type(form) is not own and (plugin_name(form), path.name) != ("github", "plain.json"):  # its fields are there
            with pytest.raises(BadInput):
                form.read(data, path.name)


@pytest.mark.parametrize(("data", "says"), [
    (b'{"version": "2.1.0", "runs": [', "is not valid JSON at line 1 column"),
    (b'Started.\n\n{\n "diagnostics": [{"message"', "holds JSON that is cut off or broken, from line 3 on"),
    (b'My answer:\n```json\n[{"file": "a.py", "comment": "odd"}]\n```\n', "holds JSON in no known format, from line 3"),
    (b'```json\n{"issues": [{"file": "a.py", "comment": "odd"}]}\n```\n', "is JSON, not free text"),
    (b"```python\nprint(1)\n```\n", "holds code and no words"),
    (b"{}", "is not in a known format"),
])  # fmt: skip
def test_output_that_is_no_review(data: bytes, says: str) -> None:
    with pytest.raises(BadInput) as caught:
        detect(data, "what it printed").read(data, "what it printed")
    assert says in str(caught.value)


@pytest.mark.parametrize("name", ["out.sarif", "OUT.JSON", "x.rdjsonl"])
def test_a_name_says_what_a_file_should_hold(name: str) -> None:
    data = b"Error: the rate limit was exceeded."
    with pytest.raises(BadInput, match="is not valid JSON"):
        detect(data, name).read(data, name)


@pytest.mark.parametrize("text", [
    "[P1] src/a.py:3 reads before the check\n",
    "[a link](https://x.org) in src/a.py:4 is broken\n",
    '- src/a.py:3: a dict is better:\n\n```json\n{"severity": 1,\n```\n',
    'package.json:4: pin it\n\n```json\n{"name": "a", "dependencies": {"left-pad": "1.0.0"}}\n```\n',
    "{placeholder} in src/a.py:3 is never filled in\n",
])  # fmt: skip
def test_a_review_that_quotes_json_is_free_text(text: str) -> None:
    (parsed,) = detect(text.encode(), "what it printed").read(text.encode(), "what it printed")
    assert len(parsed.comments) == 1


def test_tagged_text_is_tagged_text_whatever_its_name() -> None:
    assert type(detect((FIXTURES / "aacr-agent.txt").read_bytes(), "answer.txt")).__name__ == "Tags"


@pytest.mark.parametrize(("data", "says"), [
    (b"path,line\na.py,1\n", "field body: has no such column (the header needs path, line, body)"),
    (b"path,line,body\na.py,1\n", "row 2: has 2 cells, the header 3"),
    (b'path,line,body\na.py,1,b\na.py,1,"b\n', "is not CSV"),
    (b"path,line,body\na.py,one,b\n", "row 2, field line: should be a whole number, not text"),
    (b"path,line,body,side\na.py,1,b,left\n", "field side: 'left' is neither old nor new"),
])  # fmt: skip
def test_a_plain_csv_that_is_not_one(data: bytes, says: str) -> None:
    with pytest.raises(BadInput) as caught:
        load(Format, "plain").read(data, "file")
    assert says in str(caught.value)
