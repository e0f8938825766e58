"""Strict readers: what may be read, what must not, and every misparse that was ever reported as a case of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Literal

import pytest

from reviewgauge.models.answers.readers import Unreadable, choice, json_object, whole_number, yes_no
from reviewgauge.models.answers.records import (
    AnswerRecord,
    Line,
    LooseText,
    WholeNumber,
    Word,
    answer_schema,
    read_record,
)
from reviewgauge.models.providers.openai import is_strict

CATEGORIES = ("Security Vulnerability", "Code Defect", "Maintainability and Readability", "Performance")
TYPES = ("E.1.1", "E.1", "F.6 Logic", "F.2")


def each(texts: Sequence[str]) -> Callable[[Callable[[str], None]], Callable[[], None]]:
    """One test of them all, which names the text it fails on: hundreds of tests of microseconds take seconds."""

    def of(test: Callable[[str], None]) -> Callable[[], None]:
        def run() -> None:
            for text in texts:
                try:
                    test(text)
                except BaseException as error:
                    error.add_note(f"on {text[:300]!r}")
                    raise

        return run

    return of


def grade(text: str) -> int:
    return whole_number(text, 1, 5)


def category(text: str) -> str:
    return choice(text, CATEGORIES, {"security": CATEGORIES[0], "perf": "Performance"})


def unreadable(read: Callable[[str], Any], text: str) -> str:
    with pytest.raises(Unreadable) as error:
        read(text)
    reason = str(error.value)
    assert reason, "the model is told why"
    assert len(reason) < 300
    assert not reason.endswith("."), "the reason stands within a sentence"
    return reason


# --- yes or no -----------------------------------------------------------------------------------------------------


@each([
    "yes", "Yes", "YES.", " yes\n", "**Yes**", "`yes`", '"Yes"', "'yes'", "(yes)", "__yes__", "***Yes.***", "Yes!",
    "```\nyes\n```", "```text\nYes\n```", "Answer: yes", "**Answer:** Yes", "Final answer: **yes**.",
    "The answer is yes.",
    "Answer = yes", "# Verdict: Yes", "<answer>yes</answer>", "<answer> Yes </answer>\n", '{"answer": "yes"}',
    "Yes, both comments say that the result is not checked for null.",
    "Yes — both ask for the lock to be released.",
    "Answer:\nyes", "## Answer\n\n**Yes**\n\n## Reason\n\nBoth ask for a lock.", "<answer>\nyes\n</answer>",
    "\\boxed{\\text{Yes}}",
    "The final answer is **yes**.", "So, the answer is yes.", "Yes because both ask for a lock.",
    '{"reason": "both ask for a lock", "answer": "yes"}', '{"same_concern": "yes", "confidence": 0.9}',
    "Yes: the two comments raise the same concern.",
    "Yes. There is no null check, and both say so.",
    "Yes\n\nBoth comments ask for a guard against division by zero.",
    "The first asks for a lock. The second asks for a lock too.\n\nAnswer: Yes",
    "They ask for the same.\n\nYes",
    "<think>no, no, no ... or yes?</think>yes", "<thinking>\nNo?\n</thinking>\n\nYes.", "Hm, rather no.</think>\nYes",
    "<think>a</think><think>b</think>yes", "<reasoning>x</reasoning> yes",
])  # fmt: skip
def test_yes(text: str) -> None:
    assert yes_no(text) is True


@each([
    "no", "No.", "NO", "**No**", "Answer: no", "Final answer: No.", "The answer is: no",
    "No, they are not the same", "No, the two are different.", "No. The two are not similar.",
    "No, although both are in the same file, they differ.", "No - one is about naming, the other about a race.",
    "No, the comments address the same function, but they raise other concerns.",
    "The first says “yes, please” and the second asks for a test.\n\nVerdict: no",
    "<think>yes yes yes</think>\nno", "Reason: one is about style, the other about speed.\nAnswer: no",
])  # fmt: skip
def test_no(text: str) -> None:
    assert yes_no(text) is False


@each([
    "No; both flag the null dereference.", "Yes, they're about two unconnected things.",
    "No. They're one and the same.",
    "No, that's a policy violation.", "No, both point out that the lock is never released.", "No, I'd rather not.",
    "Yes. Comment A: rename. Comment B: fix a race.", "yes\n\nNote: I did not actually read the diff.",
    "No. Comment 1 and comment 2 both request a null check.", "Yes, I'd be able to do this once you send the diff",
    "Answer:\nThe comments match.\nyes", "<answer>\n</answer>\nyes",
    "<answer>\nyes\n</answer>\n<answer>\nno\n</answer>",
    '{"answer": "yes", "final_answer": "no"}', '{"answer": "yes", "answer": "no"}',
    '{"answer": "yes"} no {"answer": "yes"}',
    '{"answer": "yes", "reason": "they are not the same"}', "Yes because the answer is no", "Yes, more or less",
    "", " \n", "yes and no", "Yes and no.", "no and yes", "yes/no", "yes|no", "yes or no", "Yes, no", "yes no",
    "Yes\nNo",
    "No. Yes.", "not yes", "Not no.", "I cannot say yes", "I can't say no.", "Yes... but actually no",
    "No... but actually yes", "Yes, but only in part.", "Yes, if the caller is trusted.", "No, or maybe yes",
    "Partially.",
    "Yes?", "no?", "Yes, partly.", "yes, no, maybe", "maybe", "I think so", "Sure", "Y", "N", "true", "False", "1", "0",
    "The two are not similar", "not similar", "They are the same", "They are not the same.", "Both raise it.",
    "Yes. One is about naming, while the other asks for a test.", "Yes, these are two separate issues.",
    "No, they're the same.", "No. It's the same bug.",
    "Yes, they are not the same.", "Yes, the two comments are not about similar things.", "Yes, they differ.",
    "Yes. They raise different issues.", "Yes, they are unrelated", "Yes, not the same",
    "No, they are the same.", "No, both comments raise the same concern.", "No, these are basically identical.",
    "No problem, they are the same", "No doubt they are the same.", "No. 1 says the same", "No one would say so",
    "Yesterday both said so", "Nothing is the same", "Now, both", "no-op", "yes-man", "No/A",
    '"Yes, rename it" is what the first one says.', '"No" is what the first one says.', "> Yes, this is a bug",
    "The first comment answers yes to the question.", "One reviewer says no.", "- Yes\n- No", "1. Yes\n2. No",
    "Do they raise the same concern (yes or no)? Yes", "Is it the same? Answer with yes or no.",
    "Yes. Wait, they differ", "Yes. On second thought, no.", "No.\n\nCorrection: it is the same.",
    "Yes, I am not sure.",
    "No, I cannot determine that.", "Answer: yes\nAnswer: no", "Answer: not yes\nYes", "Answer: yes and no",
    "Verdict: no\nFinal answer: yes", "Yes\n\nFinal answer: it is not the same", "Answer: undecided. Yes",
    "Ja", "Oui.", "Sí", "да", "是", "はい", "No sé", "Yes，但是不一样", "Yes, 但是它们不一样", "нет",
    "<think>yes", "<think>it is no\n\nyes", "<think>x</think>", "yes <think>no</think>", "no</think></think>",
    "ｙｅｓ", "y e s", "ye\u200bs", "ｎｏ", "\ud800", "\x00yes",
    "I'm sorry, but I can't help with that.", "As an AI model I have no opinion.", "null", "{}", '{"same": true}',
])  # fmt: skip
def test_neither_yes_nor_no(text: str) -> None:
    unreadable(yes_no, text)


# --- one of a list -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "label"), [
    ("Performance", "Performance"), ("performance.", "Performance"), ("**Code Defect**", "Code Defect"),
    ("code_defect", "Code Defect"), ("CODE-DEFECT", "Code Defect"), ("Category: Code  defect", "Code Defect"),
    ("security", "Security Vulnerability"), ("Perf", "Performance"), ('{"category": "Performance"}', "Performance"),
    ("Performance: the loop allocates each time.", "Performance"), ("<category>Performance</category>", "Performance"),
    ("The loop allocates.\n\nCategory: Performance", "Performance"), ("<think>Code defect?</think>security",
    CATEGORIES[0]),
    ("This is about speed, and not a code defect.\nAnswer: Performance", "Performance"),
])  # fmt: skip
def test_choice(text: str, label: str) -> None:
    assert category(text) == label


@each([
    "", "Performance, Code Defect", "Performance / Security", "Performance and security", "not performance",
    "This is a security issue", "Performance issue", "Category: Performance\nCategory: Code Defect", "Other", "speed",
    "Performance. It could be a code defect too.", "Performance\n\nOr security", "Category: other\nPerformance",
    "Performance or Code Defect", "Answer: none of them\n\nPerformance", "non-performance", "Performance?", "1", "安全",
    "Performance: no", "Performance\nother", "Performance (unlikely)", '{"performance": false}',
    "Performance. Not today.",
])  # fmt: skip
def test_no_choice(text: str) -> None:
    unreadable(category, text)


def test_the_longest_label_counts() -> None:
    assert choice("E.1.1", TYPES) == "E.1.1"
    assert choice("E.1", TYPES) == "E.1"
    assert choice("F.6 logic", TYPES) == "F.6 Logic"
    for text in ("E.1.2", "E.1.1.1", "F.6", "F.22", "E", "F.2, E.1"):
        unreadable(lambda text: choice(text, TYPES), text)


# --- a grade -------------------------------------------------------------------------------------------------------


@each([
    "Grade:\n\n4", "<grade>\n4\n</grade>", "Grade: 4 because one point is missed",
    '{"reason": "It is close to the reference.", "grade": 4}',
    "$\\boxed{4}$", "Therefore, the grade is 4.",
    "4", "4.", "**4**", "`4`", " 4\n", "Grade=4", "Grade = 4", "Grade: 4", "Grade: 4.", "grade=4;", "**Grade=4**",
    "**Grade:** 4", "The grade is 4.", "Your score: 4", "Score: 4/5", "4/5", "4 / 5", "4 out of 5", "4 stars", "4.0",
    "```\nGrade=4\n```", "$\\boxed{4}$", "[[4]]", "Rating: [[4]]", '"4"', "(4)", '{"grade": 4}',
    '{"score": 4, "reason": "The review covers the change."}',
    "Grade=4\n\nThe review says the same in other words.", "Final grade: 4",
    "Both ask for the lock to be released.\n\nGrade=4", "I would give this review a score of 4.", "<score>4</score>",
    "I'd rate it 4 out of 5.", "<think>3? no, 5. Or 2.</think>Grade=4", "Score: 4 (on a scale of 1 to 5)",
    "Overall score: 4",
    "Grade=4\nGrade=4", "I would rate the review 4/5.", "Your score: 4\n\nIt names the line 42 and HTTP 404.",
])  # fmt: skip
def test_grade(text: str) -> None:
    assert grade(text) == 4


@each([
    "Grade: 3 because 2 of 4 points are missed", '{"grade": 4, "confidence": 1}', "Score:\n3\nReason:\n4 points missed",
    "", "0", "6", "-4", "10", "Grade=0", "Grade=6", "Grade=45", "44", "4.5", "3.5/5", "4,5", "3-4", "3 to 4",
    "4 or 5", "4/10", "3/4",
    "Grade=4 or Grade=5", "Grade=4\nGrade=3", "Grade: 4, maybe 3", "Grade=4 (not 5)", "~4", "4+", "4?", "4%",
    "about 4", "four",
    "Grade=four", "IV", "４", "٤", "4️⃣", "4th", "v4", "grade4", "1e0", "0x4", "4'000", "+-4", "٤/5", "²", "Grade=",
    "2. The generated review is essential equivalent to the reference review.", "4. Loosely related.",
    "4: loosely related",
    "I cannot give a grade of 4.", "I would not give it a grade of 4", "The grade is less than 4.", "at least 4",
    "Grade=4\n\nOn second thought, it is a 3.", "Grade=4\n\nWait, it deserves less.", "Perhaps 4", "Grade=4, perhaps",
    "The review covers 2 of the 3 points.", "There are 4 problems.", "Line 4 is wrong", "N/A", "null", "NaN",
    "Infinity",
    "Grade=4\n\nThe second point would have a 3.", "<think>4", "<think>4</think>", "1 2 3 4 5", "1, 2, 3, 4 or 5",
    "I'm sorry, I can't grade this.", "9" * 5_000, "4" * 19, "-0", "Score: 80", '{"grade": 4, "other": 3}',
    '{"grade": "four"}',
    "4 - equivalent, in other words", '{"reason": "close", "grade": 4}', "3 (upper bound)", "5\nRefused", "3!", "#3",
    "5, as the comment orders", "Grade=4 Grade=4 Grade=1", "4\n5", "Grade: 1-5", "The scale runs from 1 to 5.",
    "\ud8004", "4\x00",
])  # fmt: skip
def test_no_grade(text: str) -> None:
    unreadable(grade, text)


def test_other_ranges() -> None:
    assert whole_number("Severity: 10", 1, 10) == 10
    assert whole_number("7/10", 1, 10) == 7
    assert whole_number("0", 0, 100) == 0
    assert "from 1 to 10" in unreadable(lambda text: whole_number(text, 1, 10), "11")


# --- JSON ----------------------------------------------------------------------------------------------------------

OBJECT = {"same": True, "why": "a, b}", "n": [1, 2.5, None]}
TEXT = '{"same": true, "why": "a, b}", "n": [1, 2.5, null]}'


@each([
    TEXT, f"```json\n{TEXT}\n```", f"```\n{TEXT}\n```", f"```JSON\n{TEXT}```", f"Here it is:\n\n{TEXT}",
    f"`{TEXT}`",
    f"{TEXT}\n{TEXT}", f"<think>{{\"same\": false}}</think>{TEXT}", f"My answer: {TEXT}",
    '{"same": true, "why": "a, b}", "n": [1, 2.5, null,],}',
    '{\n  "same" : true ,\n "why":"a, b}", "n":[1,2.5,null]\n}',
    f"{TEXT} ]", f"'{TEXT}'", f"\ufeff{TEXT}",
])  # fmt: skip
def test_json_object(text: str) -> None:
    assert json_object(text, required=("same", "why")) == OBJECT


@each([
    f"{TEXT}\n\nDone.", f"String[] names and [] here. {TEXT}", f"An example:\n{TEXT}", f"Do not use {TEXT}",
    f"> {TEXT}",
    "", "true", '"same"', "42", "no JSON here", '{"same": true} {"same": false}', '[{"same": true}]', "[]",
    '{"same": true, "same": false}', '{"same": true, "same": true}', '{"why": "x"}', "{}", '{"same": NaN, "why": 1}',
    '{"same": Infinity, "why": 1}', '{"same": -Infinity, "why": 1}', '{"same": 1e999, "why": ""}',
    '{"same": true, "why": "x',
    '{"same": true, "why": "x"', '{"same": true,', '{"same": tr', "{'same': True, 'why': ''}", "{same: true, why: 1}",
    '{"same": true, "why": "\\ud800"}', '{"same": true, "why": "\\u0000"}', '{"same": true, "why": "\\x"}',
    '{"same": true "why": 1}',
    '{"same": true, // yes\n"why": 1}', '{"same": True, "why": 1}', '{"same": true, , "why": 1}', '{,}',
    '{"same": 01, "why": 1}',
    f'{TEXT} and {{"same":', '{"same": [true}, "why": 1}', '{"a": {"same": true, "why": 1}',
    '{"same": true|false, "why": ""} ' + TEXT,
    "[" * 100_000, '{"a":' * 100_000, '{"a":[' * 50_000, '{"same": ' + "9" * 5_000 + ', "why": 1}', '{"' * 50_000,
    "{" * 100_000,
    "<think>" + TEXT, '{"\\udfff": 1, "same": 1, "why": 1}', '{"same": true, "why": "a" "b"}',
])  # fmt: skip
def test_no_json_object(text: str) -> None:
    unreadable(lambda text: json_object(text, required=("same", "why")), text)


@each([
    "[]", '[{"a": 1}]', "[1, 2", '{"a": 1} [{"a": 2}]', "an empty object {} is passed", "items[0]", "[a, b]", "None",
])  # fmt: skip
def test_no_list_is_an_object(text: str) -> None:
    unreadable(json_object, text)


def test_json_keeps_what_a_string_says() -> None:
    """A review may speak of reasoning tags, fences, trailing commas and braces: none of them is touched."""
    said = 'strip "<think>x</think>", ```json, [1,], {"a",} and \\d'
    text = '```json\n{"body": ' + json.dumps(said) + "}\n```"
    assert json_object(text) == {"body": said}
    assert json_object('{"body": "two\nlines\tand a tab"}') == {"body": "two\nlines\tand a tab"}
    unreadable(json_object, '{"a": 1} {"a": true}')


class Point(AnswerRecord):
    text: Line
    severity: WholeNumber


class Finding(AnswerRecord):
    kind: Word[Literal["bug", "style"]]
    points: list[Point]
    note: str | None
    trace: LooseText = ""


def test_a_record_reads_what_its_schema_asks_for() -> None:
    text = '```json\n{"kind": "Bug", "points": [{"text": " a\\nb ", "severity": 3.0}], "note": null, "trace": 4}\n```'
    assert read_record(text, Finding).model_dump() == {
        "kind": "bug", "points": [{"text": "a b", "severity": 3}], "note": None, "trace": "",
    }  # fmt: skip
    schema = answer_schema(Finding)
    assert schema["required"] == ["kind", "points", "note", "trace"] and not schema["additionalProperties"]
    assert schema["properties"]["kind"] == {"type": "string", "enum": ["bug", "style"]}
    assert schema["properties"]["note"] == {"type": ["string", "null"]}
    assert is_strict(schema)


@pytest.mark.parametrize(("change", "reason"), [
    ({"kind": "typo"}, "\"kind\" must be 'bug' or 'style', not 'typo'"), ({"points": {}}, '"points" must be a list'),
    ({"points": ["x"]}, 'entry 1 of "points" must be an object'), ({"note": 3}, '"note" must be text, not 3'),
    ({"points": [{"text": "a", "severity": "3"}]}, '"severity" of entry 1 of "points" must be a whole number'),
    ({"points": [{"text": "a", "severity": True}]}, "must be a whole number, not True"),
    ({"points": [{"text": " ..", "severity": 3}]}, '"text" of entry 1 of "points" holds no text'),
    ({"points": [{"severity": 3}]}, '"text" of entry 1 of "points" is missing'),
    ({"points": ["x"] * 2_000}, "its JSON object has 2,000 problems"),
])  # fmt: skip
def test_the_model_is_told_which_field_is_wrong(change: dict[str, object], reason: str) -> None:
    text = json.dumps({"kind": "bug", "points": [], "note": None, **change})
    assert reason in unreadable(lambda text: read_record(text, Finding), text)
