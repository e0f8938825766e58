"""Schemas from TOML, and the answers that they take."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation_toys import answers_for
from reviewgauge.annotation.schemas.schema import (
    Answer,
    Question,
    QuestionKind,
    Schema,
    check_answers,
    disagree,
    load_schema,
    parse_schema,
    shipped_schemas,
    warnings,
)
from reviewgauge.core.errors import BadInput, UserError

CUSTOM = b"""
name = "mine"
title = "Mine"
unit = "review"
[[questions]]
dimension = "useful"
text = "Useful?"
options = [{ value = "yes" }, { value = "no" }]
"""


def test_the_shipped_schemas_are_read() -> None:
    ours = {"audit", "claims", "comments", "findings", "grade", "hits", "points", "quality", "reports"}
    assert set(shipped_schemas()) == ours | {
        "aacr_bench",
        "crscore_claims",
        "crscore_quality",
        "graded_reviews",
        "swr_bench",
    }
    for name in shipped_schemas():
        schema = load_schema(name)
        assert schema.name == name
        assert schema.guidelines.strip()
        kinds = ["known", "listed"]
        assert check_answers(schema, answers_for(schema, kinds), kinds)


def test_a_schema_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_bytes(CUSTOM)
    schema = load_schema(tmp_path / "mine.toml")
    assert schema.raters == 3


@pytest.mark.parametrize(("before", "after", "says"), [
    (b'"useful"', b'"Use Ful"', "pattern"),
    (b'{ value = "no" }', b'{ value = "yes" }', "different values"),
    (b'"review"', b'"review"\nparts = "no"', "parts"),
    (b'value = "no"', b'value = "Yes"', "capitals"),
    (b'value = "no"', b'value = "N/A"', "cannot hold the option"),
    (b'value = "no"', b'value = "1.0"', "cannot hold the option"),
    (b'value = "no"', b'value = "0.5"', "some options are numbers"),
    (b'text = "Useful?"', b'text = "Useful?"\neach = true', "no parts"),
    (b'text = "Useful?"', b'text = "Useful?"\nwhen = { dimension = "x", values = ["y"] }', "not asked"),
    (b'text = "Useful?"', b'text = "Useful?"\nrequired = false', "must answer"),
    (b'{ value = "yes" }, { value = "no" }', b'{ value = "yes", key = "y" }, { value = "no", key = "y" }',
        "two options have one key"),
    (b'text = "Useful?"',
        b'text = "?"\noptions = [{ value = "1" }, { value = "0" }]\n[[questions]]\ndimension = "why"\n'
        b'text = "Why?"\nwhen = { dimension = "useful", values = ["yes"] }',
        "why is asked where useful is none of 1, 0"),
    (b"[[questions]]", b"[[questions", "not valid TOML"),
    (b"title", b"titel", "title: is missing"),
])  # fmt: skip
def test_a_wrong_schema_is_refused_by_name(before: bytes, after: bytes, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        parse_schema(CUSTOM.replace(before, after), "mine.toml")


def test_every_answer_has_a_key_of_its_own() -> None:
    def keys(**given: object) -> str:
        question = Question.model_validate({"dimension": "any", "text": "?", **given})
        assert all(value for value, _ in question.keys)
        return " ".join(key for _, key in question.keys)

    assert keys(kind="scale", low=0, high=10) == "0 1 2 3 4 5 6 7 8 9 a"
    assert keys(kind="scale", low=1, high=12) == "1 2 3 4 5 6 7 8 9 0 a b"
    assert keys(kind="scale", low=-1, high=1) == "a 0 1"
    assert keys(options=[{"value": f"v{n}", "key": {3: "1", 5: "a"}.get(n, "")} for n in range(12)]) == (
        "2 3 4 1 5 a 6 7 8 9 b d"
    )


def test_an_unknown_schema_names_the_known() -> None:
    with pytest.raises(UserError, match="grade"):
        load_schema("grades")


def test_a_question_is_asked_only_where_its_condition_holds() -> None:
    schema = load_schema("claims")
    wrong = Answer(part=0, dimension="accuracy", value="incorrect")
    why = Answer(part=0, dimension="error", value="comprehension")
    with pytest.raises(UserError, match="error is not answered for part 1"):
        check_answers(schema, [wrong], 1)
    assert check_answers(schema, [why, wrong], 1) == (wrong, why)
    right = wrong.model_copy(update={"value": "correct"})
    assert check_answers(schema, [right, why], 1) == (right,)  # left from before the rater changed their mind


def test_relevance_outside_of_the_other_two_is_warned_of() -> None:
    schema = load_schema("quality")
    rated = [Answer(dimension=name, value=value) for name, value in (("con", 2), ("comp", 3), ("rel", 5))]
    assert len(warnings(schema, rated)) == 1
    assert warnings(schema, [*rated[:2], Answer(dimension="rel", value=3)]) == []


def test_raters_disagree_beyond_the_tolerance() -> None:
    quality, claims = load_schema("quality"), load_schema("claims")
    one, two = (answers_for(quality, 1, choice) for choice in (0, 2))
    assert disagree(quality, [one, two]) == ["addressed", "con", "comp", "rel"]
    near = [answer.model_copy(update={"value": 2}) if answer.dimension == "con" else answer for answer in one]
    assert disagree(quality, [one, near]) == []
    missing = [*answers_for(claims, 2), Answer(dimension="missing", value="The timeout is halved.")]
    assert disagree(claims, [answers_for(claims, 2), missing]) == []


@st.composite
def any_answers(draw: st.DrawFn) -> tuple[Schema, int, list[Answer]]:
    schema = load_schema(draw(st.sampled_from(shipped_schemas())))
    parts = draw(st.integers(0, 3))
    names = st.sampled_from([question.dimension for question in schema.questions])
    options = [option.value for question in schema.questions for option in question.options]
    values = st.one_of(st.integers(-2, 12), st.sampled_from(["", "yes", "x,y", *options]), st.booleans(), st.text())
    answer = st.builds(Answer, part=st.integers(-2, 4), dimension=names, value=values)
    given = draw(st.lists(answer, max_size=6))
    return schema, parts, [*answers_for(schema, parts), *given] if draw(st.booleans()) else given


@given(any_answers())
def test_answers_are_refused_or_complete_and_stable(drawn: tuple[Schema, int, list[Answer]]) -> None:
    schema, parts, given_answers = drawn
    try:
        checked = check_answers(schema, given_answers, parts)
    except UserError:
        return
    assert check_answers(schema, checked, parts) == checked
    for answer in checked:
        question = schema.question(answer.dimension)
        assert question is not None
        assert (answer.part >= 0) == question.each
        if question.kind is QuestionKind.SCALE:
            assert question.low <= int(answer.value) <= question.high
