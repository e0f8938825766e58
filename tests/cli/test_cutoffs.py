from __future__ import annotations

from datetime import date

import pytest

from reviewbench.cli._cutoffs import stated_cutoffs, with_cutoffs
from reviewbench.core.errors import UserError

GPT = "prompt(model='openai:gpt-4.1')"


def test_a_stated_cutoff_becomes_a_cut_at_the_day_after_it() -> None:
    assert stated_cutoffs([GPT, "silent()", "recorded"]) == {"openai:gpt-4.1": date(2024, 6, 1)}
    slices, said = with_cutoffs(["language", "cutoff"], {"a": GPT})
    assert slices == ["language", "created<2024-06-02"]
    assert said == ["created<2024-06-02: openai:gpt-4.1 was trained on data up to 2024-06-01"]


def test_without_the_word_nothing_is_asked() -> None:
    assert with_cutoffs(["language"], {"a": "no such reviewer"}) == (["language"], [])


def test_no_known_cutoff_is_an_error_that_names_the_way() -> None:
    with pytest.raises(UserError, match="--slice 'created<"):
        with_cutoffs(["cutoff"], {"a": "silent()"})
