from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from git_project import make_change
from reviewgauge.api.check import check
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.labels import SubjectKind
from reviewgauge.core.protocols import Dataset
from reviewgauge.core.records import Case, Change, Comment, Review, Span
from reviewgauge.core.reports.check import CheckResult
from reviewgauge.core.specs import load, signature
from reviewgauge.datasets.jsonl import Jsonl

GOOD: dict[str, object] = {"id": "a", "change": {"repo": "me/shop"}}


def line(**changes: object) -> bytes:
    return json.dumps({**GOOD, **changes}).encode() + b"\n"


def write(folder: Path, *lines: bytes, name: str = "cases.jsonl") -> Path:
    file = folder / name
    file.write_bytes(b"".join(lines))
    return file


def read(file: Path) -> list[Case]:
    return list(Jsonl(path=str(file)).cases())


def test_cases_come_back_as_they_were_written(tmp_path: Path) -> None:
    cases = [
        Case(id=f"c{n}", change=Change(repo="me/shop", title="ä 行\u2028"), facts={"year": 2026, "share": 0.5})
        for n in range(3)
    ]
    cases[0] = cases[0].model_copy(
        update={"references": (Comment(id="r", body="b", span=Span(path="a.py", start=3)),), "verdict": False}
    )
    file = write(tmp_path, *(case.to_line() for case in cases))
    assert read(file) == cases
    assert check(file).ok and check(file).records == {"case": 3}


def test_a_folder_gives_its_cases_file_or_all_of_its_files(tmp_path: Path) -> None:
    write(tmp_path, line(id="b"), name="2.jsonl")
    write(tmp_path, line(id="a"), name="1.jsonl")
    write(tmp_path, Review(case="a", system="s").to_line(), name="reviews.jsonl")
    assert [case.id for case in read(tmp_path)] == ["a", "b"]
    reviews, _ = Jsonl(path=str(tmp_path)).recorded()
    assert [review.system for review in reviews] == ["s"]
    assert check(tmp_path).records == {"case": 2, "review": 1}
    write(tmp_path, line(id="c"))
    assert [case.id for case in read(tmp_path)] == ["c"]


LABELS = b"id,rater,dimension,value\na,Ann,clear,4\na,Bob,clear,2\nb,Ann,clear,\n"


def test_labels_beside_the_cases_are_on_the_reviews(tmp_path: Path) -> None:
    write(tmp_path, line(id="a"), line(id="b"))
    write(tmp_path, *(Review(case=case, system="s").to_line() for case in "ab"), name="reviews.jsonl")
    data = Jsonl(path=str(tmp_path))
    assert data.recorded()[1] == () and data.scales() == {}
    write(tmp_path, LABELS, name="labels.csv")
    _, labels = data.recorded()
    assert [(label.subject.kind, label.subject.system, label.value) for label in labels] == [
        (SubjectKind.REVIEW, "s", 4),
        (SubjectKind.REVIEW, "s", 2),
    ]
    scale = data.scales()["clear"]
    assert (scale.low, scale.high, scale.step) == (2, 4, 1)
    assert [note.item for note in data.notes()] == ["1 row of Ann in clear"]
    assert check(tmp_path).records == {"case": 2, "review": 2, "label": 2}
    assert [case.id for case in read(tmp_path)] == ["a", "b"]


def test_labels_in_json_lines_are_no_cases(tmp_path: Path) -> None:
    write(tmp_path, line(id="a"), name="mine.jsonl")
    write(tmp_path, Review(case="a", system="s").to_line(), name="reviews.jsonl")
    write(tmp_path, b'{"id": "a", "rater": "Ann", "dimension": "d", "value": 1}\n', name="labels.jsonl")
    assert [case.id for case in read(tmp_path)] == ["a"]
    assert len(Jsonl(path=str(tmp_path)).recorded()[1]) == 1


def test_one_review_judged_under_two_names_is_two_labels_for_one_item(tmp_path: Path) -> None:
    write(tmp_path, line(id="a"))
    write(tmp_path, Review(case="a", system="s").to_line(), name="reviews.jsonl")
    write(tmp_path, b"id,system,rater,dimension,value\na,,Ann,d,4\na,s,Ann,d,5\n", name="labels.csv")
    with pytest.raises(BadInput, match=r"labels\.csv, line 3: 'Ann' judged 'a' in 'd' twice: line 2 too"):
        Jsonl(path=str(tmp_path)).recorded()


def test_check_names_a_bad_label(tmp_path: Path) -> None:
    file = write(tmp_path, LABELS, b"c,Ann,clear,nan\n", name="mine.csv")
    found = check(file)
    assert not found.ok and found.problems[0].problem.startswith("mine.csv, line 5, field value")


def test_a_relative_git_directory_is_read_from_the_files_folder(tmp_path: Path) -> None:
    file = write(tmp_path, line(change={"repo": "me/shop", "git": "shop.git"}))
    assert read(file)[0].change.git == str(tmp_path / "shop.git")


@pytest.mark.parametrize("name", ["../private", "ABSOLUTE", "a-link", "a-gitdir", "a-commondir"])
def test_a_repository_outside_of_the_files_folder_is_read_only_where_the_user_says_so(
    tmp_path: Path, name: str
) -> None:
    """A benchmark from others must not show a reviewer what else lies on this machine."""
    change = make_change(tmp_path / "private", {"a.py": "one\n"}, {"a.py": "hunter2\n"})
    bench = tmp_path / "bench"
    (bench / "a-gitdir").mkdir(parents=True)
    (bench / "a-gitdir" / ".git").write_text(f"gitdir: {tmp_path}/private/.git\n")
    (bench / "a-link").symlink_to(tmp_path / "private")
    (bench / "a-commondir").mkdir()
    (bench / "a-commondir" / "HEAD").write_text("ref: refs/heads/main\n")
    (bench / "a-commondir" / "commondir").write_text("../../private/.git\n")
    git = str(tmp_path / "private") if name == "ABSOLUTE" else name
    asked = {"repo": "me/shop", "git": git, "base": change.base, "head": change.head}
    file = write(bench, line(change=asked))
    with pytest.raises(BadInput, match=r"cases\.jsonl, line 1, field change.git: leads to .*private.*code="):
        read(file)
    (case,) = Jsonl(path=str(file), code=str(tmp_path)).cases()
    assert "hunter2" in (case.change.files[0].patch or "")
    long = write(bench, line(change={"repo": "me/shop", "git": "x" * 5000}), name="long.jsonl")
    with pytest.raises(BadInput, match=r"line 1, field change.git: cannot be read"):
        read(long)
    gone = write(bench, line(change={"repo": "me/shop", "git": "/nowhere/at/all"}), name="gone.jsonl")
    assert read(gone)[0].change.git == "/nowhere/at/all"


BAD: list[tuple[bytes, str]] = [
    (b'{"id": "a", "change"\n', "not valid JSON"),
    (b"[]\n", "line 1"), (line(id=7), "field id"), (line(id="../a"), "climbs out"),
    (line(id="/etc/passwd"), "absolute path"),
    (line(id="C:/x"), "absolute path"), (line(id=""), "is empty"),
    (line(extra_field=1), "field extra_field: is not a field"),
    (line(verdict="yes"), "field verdict"),
    (line(references=[{"id": "r"}]), r"references\[0\].body: is missing"),
    (line(references=[{"id": "r", "body": "b", "span": {"path": "../x"}}]), r"references\[0\].span.path"),
    (line(references=[{"id": "r", "body": "b", "span": {"path": "x", "start": 3, "end": 1}}]), "before its start"),
    (line(references=[{"id": "r", "body": "b"}, {"id": "r", "body": "c"}]), "occurs twice"),
    (line(references=[{"id": "r", "body": "b", "same_as": "q"}]), "not a reference here"),
    (line(change={"repo": "me/shop", "title": "a\u0000b"}), "NUL"),
    (b'{"id": "a", "change": {"repo": "\xff\xfe"}}\n', "line 1"),
    (b'{"id": "a", "change": {"repo": "x"}, "x": "\x00"}\n', "line 1"),
    (b"[" * 100_000 + b"\n", "line 1"),
    (b'{"id": "a", "change": {"repo": "x"}, "verdict": ' + b"9" * 5000 + b"}\n", "line 1"),
    (b'{"id": "\\ud800", "change": {"repo": "x"}}\n', "line 1"),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "problem"), BAD)
def test_a_bad_record_stops_reading_and_is_named(tmp_path: Path, raw: bytes, problem: str) -> None:
    file = write(tmp_path, raw)
    with pytest.raises(BadInput, match=problem) as caught:
        read(file)
    assert "cases.jsonl" in str(caught.value) and "\n" not in str(caught.value)
    assert not check(file).ok


def test_check_names_every_bad_line_and_goes_on(tmp_path: Path) -> None:
    lines = [line(id="first"), *(raw for raw, _ in BAD), b"\n", line(id="last")]
    checked = check(write(tmp_path, *lines))
    assert checked.bad == len(BAD)
    assert [problem.line for problem in checked.problems] == list(range(2, len(BAD) + 2))
    assert checked.records == {"case": 2}


def test_ids_are_unique_across_the_file(tmp_path: Path) -> None:
    file = write(tmp_path, line(), line(id="b"), line())
    with pytest.raises(BadInput, match=r"line 3, field id: the case 'a' occurs twice"):
        read(file)
    (problem,) = check(file).problems
    assert "line 1 too" in problem.problem and problem.line == 3


def test_reviews_and_outcomes_are_known_by_their_fields(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        b'{"case": "a", "system": "s", "comments": [{"id": "1", "body": "b"}]}\n',
        b'{"case": "a", "system": "s", "failure": {"kind": "timeout", "message": "m"}}\n',
        b'{"case": "a", "system": "s", "attempt": 0}\n',
        b'{"case": "a", "system": "s"}\n',
        name="mixed.jsonl",
    )
    checked = check(file)
    assert checked.records == {"review": 1, "outcome": 1}
    assert [(problem.line, problem.field) for problem in checked.problems] == [(3, "attempt"), (4, "")]


def test_a_line_that_is_too_long_is_refused_by_name_and_the_rest_is_read(tmp_path: Path) -> None:
    file = write(tmp_path, line(), line(id="long", facts={"x": "y" * 5000}), line(id="b"))
    checked = check(file, longest=1000)
    assert [problem.problem for problem in checked.problems] == [
        "cases.jsonl, line 2: is longer than 1,000 bytes (split the record)"
    ]
    assert checked.records == {"case": 2}


def test_a_mark_at_the_start_is_passed_over_and_utf_16_is_named(tmp_path: Path) -> None:
    assert check(write(tmp_path, b"\xef\xbb\xbf" + line())).ok
    assert len(read(tmp_path / "cases.jsonl")) == 1
    wide = tmp_path / "wide.jsonl"
    wide.write_bytes(line().decode().encode("utf-16"))
    assert "save the file as UTF-8" in check(wide).problems[0].problem
    with pytest.raises(BadInput):
        read(wide)


def test_kept_problems_are_bounded_and_all_are_counted(tmp_path: Path) -> None:
    checked = check(write(tmp_path, *([b"{\n"] * 50)), keep=3)
    assert (len(checked.problems), checked.bad) == (3, 50)


def test_nothing_there(tmp_path: Path) -> None:
    for call in (lambda: read(tmp_path / "absent"), lambda: read(tmp_path), lambda: check(tmp_path / "absent")):
        with pytest.raises(UserError):
            call()
    empty = write(tmp_path, b"\n\n")
    with pytest.raises(UserError, match="holds no case"):
        read(empty)
    assert not check(empty).ok
    with pytest.raises(UserError, match="needs a file"):
        list(Jsonl().cases())
    with pytest.raises(UserError, match="no reviews"):
        Jsonl(path=str(empty)).recorded()


@example(b"PK\x03\x04")  # how an archive begins
@given(st.binary(max_size=200) | st.builds(lambda a, b: line()[:a] + b + line()[a:], st.integers(0, 40), st.binary()))
def test_no_bytes_bring_anything_but_a_user_error(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    file = write(tmp_path_factory.mktemp("fuzz"), raw)
    outcome = []
    calls: list[Callable[[], object]] = [lambda: read(file), lambda: check(file)]
    for call in calls:
        try:
            result = call()
            outcome.append(result.ok if isinstance(result, CheckResult) else True)
        except UserError as error:
            assert "\n" not in str(error)
            outcome.append(False)
    assert outcome[0] == outcome[1]  # what reads, passes the check, and the other way round


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["id", "body", "repo", "path", "start", "end", "case", "system"]), inner)
    ),
    max_leaves=8,
)


def test_a_change_that_only_names_its_commits_gets_its_patches_from_there(tmp_path: Path) -> None:
    change = make_change(tmp_path / "shop", {"a.py": "one\n"}, {"a.py": "one\ntwo\n"})
    bare = change.model_copy(update={"files": (), "git": "shop", "id": None})
    gone = bare.model_copy(update={"head": "0" * 40})
    cases = [Case(id="here", change=bare), Case(id="gone", change=gone)]
    file = write(tmp_path, *(case.to_line() for case in cases))
    dataset = Jsonl(path=str(file))
    here, without = dataset.cases()
    assert here.change.files == change.files
    assert without.change.files == ()
    (note,) = dataset.notes()
    assert note.item == "gone" and note.reason.startswith("no diff: git diff-tree failed")
    assert load(Dataset, signature(dataset)) == dataset
