"""Records refuse what they should, say where, and come back from their own lines."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from reviewgauge.core.errors import BadInput, one_line
from reviewgauge.core.parsing import lines, parse_json, parse_record, records
from reviewgauge.core.records import Case, Change, Claim, Comment, Review, Span, findings


@pytest.mark.parametrize("bad", ["", "../x", "a/../b", "/etc/passwd", "~/x", "a\\b", "C:/x", "a\x00b", "a\nb"])
def test_ids_and_paths_cannot_leave_their_folder(bad: str) -> None:
    with pytest.raises(ValidationError):
        Comment(id=bad, body="x")
    with pytest.raises(ValidationError):
        Span(path=bad)


@pytest.mark.parametrize("good", ["grafana/grafana#79265", "a b", "src/..hidden/x.py", "ünïcode/файл.py", "a..b"])
def test_ids_and_paths_may_look_like_real_ones(good: str) -> None:
    assert Comment(id=good, body="x", span=Span(path=good, start=3)).span == Span(path=good, start=3, end=3)


@pytest.mark.parametrize(("line", "words"), [
    (b'{"id": "a", "bod', "is not valid JSON"),
    (b'{"id": 7, "body": "x"}', "line 3, field id: should be a valid string, not 7"),
    (b'{"id": "a", "body": "x", "colour": 1}', "line 3, field colour: is not a field of this record"),
    (b'{"id": "a"}', "line 3, field body: is missing"),
    (b'{"id": "a", "body": "x", "span": {"path": "p", "start": "3"}}', "field span.start"),
    (b'{"id": "a", "body": "x", "span": {"path": "p", "start": 5, "end": 2}}', "ends at line 2, before its start"),
    (b'{"id": "a", "body": "x\\u0000"}', "holds a NUL character"),
    (b'{"id": "a", "body": "\xff"}', "is not UTF-8 (byte 22) (save it as UTF-8)"),
    (b'{"id": "a", "body": "\x00"}', "holds a NUL byte at byte 22"),
    ('{"id": "a", "body": "x"}'.encode("utf-16"), "looks like UTF-16"),
    (b'{"id": "' + b"a" * 501 + b'", "body": "x"}', "field id: string should have at most 500 characters"),
    (b"[" * 10_000, "is not valid JSON"),
])  # fmt: skip
def test_a_bad_line_is_named(line: bytes, words: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_record(Comment, line, "f.jsonl", 3)
    assert words in str(caught.value)
    assert str(caught.value).startswith("f.jsonl, line 3")


@pytest.mark.parametrize("fact", ["null", "NaN", "1e999", "-Infinity", "[1]"])
def test_a_fact_is_text_a_finite_number_or_a_truth(fact: str) -> None:
    line = b'{"id": "a", "change": {"repo": "r"}, "facts": {"x": %s}}' % fact.encode()
    with pytest.raises(BadInput, match=r"line 3, field facts\.x: should be text, a finite number, true or false"):
        parse_record(Case, line, "f.jsonl", 3)
    assert parse_record(Case, line.replace(fact.encode(), b"2.5"), "f.jsonl").facts == {"x": 2.5}


def test_a_complaint_about_a_whole_record_does_not_repeat_the_record() -> None:
    twice = b'{"id": "c", "change": {"repo": "r"}, "references": [{"id": "x", "body": "a"}, {"id": "x", "body": "b"}]}'
    with pytest.raises(BadInput) as caught:
        parse_record(Case, twice, "f.jsonl", 3)
    assert str(caught.value) == "f.jsonl, line 3: comment id 'x' occurs twice"


def test_a_line_too_long_is_refused_before_it_is_held() -> None:
    with pytest.raises(BadInput, match="line 2: is longer than 10 bytes"):
        list(lines(io.BytesIO(b"short\n" + b"x" * 50), "f", longest=10))


def test_a_case_refuses_two_comments_with_one_id_and_dangling_phrasings() -> None:
    change, comment = Change(repo="r"), Comment(id="a", body="x")
    with pytest.raises(ValidationError, match="occurs twice"):
        Case(id="c", change=change, references=(comment,), rejected=(comment,))
    with pytest.raises(ValidationError, match="claim id 'a' occurs twice"):
        Case(id="c", change=change, claims=(Claim(id="a", body="x"), Claim(id="a", body="y")))
    with pytest.raises(ValidationError, match="which is not a reference here"):
        Case(id="c", change=change, references=(Comment(id="a", body="x", same_as="b"),))
    with pytest.raises(ValidationError, match="occurs twice"):
        Review(case="c", system="s", comments=(comment, comment))


texts = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]))


@given(st.lists(st.tuples(st.integers(1, 99), texts), max_size=5))
def test_records_come_back_from_their_lines(items: list[tuple[int, str]]) -> None:
    comments = [Comment(id=f"c{i}", body=body, span=Span(path="p", start=n)) for i, (n, body) in enumerate(items)]
    stream = io.BytesIO(b"".join(comment.to_line() for comment in comments))
    assert list(records(Comment, stream, "f")) == comments


@given(st.binary())
def test_any_bytes_are_a_record_or_bad_input(raw: bytes) -> None:
    for document in (False, True):
        try:
            parse_json(raw, "f") if document else parse_record(Comment, raw, "f", 1)
        except BadInput as error:
            assert str(error) == one_line(str(error), 10_000)


def test_messages_carry_no_terminal_escapes() -> None:
    assert one_line("a\x1b[31mred\nb\u202e") == "a [31mred b"


@given(st.lists(st.one_of(st.none(), st.integers(0, 12)), min_size=1, max_size=10))
def test_every_reference_is_in_one_group_even_where_same_as_runs_in_circles(links: list[int | None]) -> None:
    references = [
        Comment(id=f"r{n}", body="b", same_as=None if link is None else f"r{link}") for n, link in enumerate(links)
    ]
    groups = findings(references)
    assert sorted(member.id for group in groups for member in group) == sorted(r.id for r in references)
    home = {member.id: n for n, group in enumerate(groups) for member in group}
    assert all(home[r.id] == home[r.same_as] for r in references if r.same_as in home)
    joined = sum(len(group) - 1 for group in groups)
    assert joined <= sum(r.same_as in home for r in references)  # nothing is joined that nobody joined
