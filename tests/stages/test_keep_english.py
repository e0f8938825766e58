"""The language rule on titles and descriptions as people write them, in English and in seventeen other languages."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.records import Case, Change
from reviewgauge.stages.keep_english import KeepEnglish, judge_text

TITLES = tomllib.loads(Path(__file__).with_name("titles.toml").read_text("utf-8"))
ENGLISH, OTHER, SHORT_ENGLISH, SHORT_OTHER = (TITLES[name].strip().splitlines() for name in TITLES)
LONG_ENGLISH = """<!-- Please describe your change. Bitte beschreiben Sie die Änderung. -->
## Why
When the cache is cold, two threads may both compute the value; the second one wins and the first is lost.

```python
def größe(wert): return wert  # der Wert
```
Closes #12. See https://example.org/die/und/das
"""
LONG_OTHER = """Wenn der Zwischenspeicher leer ist, berechnen zwei Threads den Wert; der zweite gewinnt.

```python
def compute(value):
    return value  # the value that is computed when there is none in the cache
```
Closes #12
"""


def case(title: str, description: str = "") -> Case:
    return Case(id="a", change=Change(repo="a/b", title=title, description=description))


def test_precision_and_recall_on_titles() -> None:
    said_english = [text for text in ENGLISH + OTHER if judge_text(text) == "english"]
    right = [text for text in said_english if text in ENGLISH]
    assert len(right) / len(said_english) >= 0.96, set(said_english) - set(right)
    assert len(right) / len(ENGLISH) >= 0.96, set(ENGLISH) - set(right)
    assert not [text for text in ENGLISH if judge_text(text) == "other"]
    called_other = [text for text in OTHER if judge_text(text) == "other"]
    assert len(called_other) / len(OTHER) >= 0.9, set(OTHER) - set(called_other)


def test_titles_of_a_few_words() -> None:
    english = [judge_text(text) for text in SHORT_ENGLISH]
    assert english.count("english") >= 49
    assert "other" not in english
    other = [judge_text(text) for text in SHORT_OTHER]
    assert other.count("other") >= 50
    assert "english" not in other


def test_code_links_and_templates_are_not_read() -> None:
    assert judge_text(LONG_ENGLISH) == "english"
    assert judge_text(LONG_OTHER) == "other"
    assert judge_text("`der` https://die.example/das @und #12") == "unknown"
    assert judge_text("") == "unknown"


@pytest.mark.parametrize(("title", "description", "kept"), [
    ("Fix the parser", "", True),
    ("Fix the parser", "It failed on an empty line when there was no header.", True),
    ("v2.1.0", "The first release with the new parser, and a fix for empty lines.", True),
    ("v2.1.0", "", "neither title nor description shows its language"),
    ("修复崩溃", "This fixes the crash that was seen when the list is empty.", "the title is not English"),
    ("Fix the parser", "Das behebt den Absturz bei leeren Zeilen.", "the description is not English"),
    ("Fix the parser", "This fixes the parser. 这个修复了解析器的问题，当列表为空时", "the description is not English"),
])  # fmt: skip
def test_title_and_description_are_judged_apart(title: str, description: str, kept: bool | str) -> None:
    one = case(title, description)
    assert KeepEnglish().keep(one) == (one if kept is True else kept)


@given(st.text(max_size=300))
def test_any_text_has_an_answer(text: str) -> None:
    assert judge_text(text) in ("english", "other", "unknown")
