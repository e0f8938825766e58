import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.reports.leaderboard import Estimate, Leaderboard, SliceSummary, SystemSummary
from reviewgauge.views import figures


@pytest.mark.parametrize(("value", "unit", "text"), [
    (0.624, "share", ".62"), (1.0, "share", "1.00"), (0.0, "share", ".00"), (-0.001, "share", ".00"),
    (-0.07, "share", "-.07"),
    (3.456, "comments per change", "3.46"),
    (0.5, "comments per change", "0.50"),
    (1234.5, "tokens", "1,234.5"), (None, "share", "–"), (math.nan, "share", "–"), (math.inf, "share", "–"),
])  # fmt: skip
def test_a_number_reads_the_same_everywhere(value: float | None, unit: str, text: str) -> None:
    assert figures.number(value, unit) == text


@given(st.one_of(st.none(), st.just(math.nan)))
def test_undefined_is_never_a_zero(value: float | None) -> None:
    assert "0" not in figures.number(value) + figures.signed(value) + figures.interval(value, value)
    assert figures.p_value(value) == "–"


@pytest.mark.parametrize(("p", "text"), [(0.0, "<.001"), (0.0214, ".021"), (0.34, ".34"), (1.0, "1.00"), (None, "–")])
def test_p_values(p: float | None, text: str) -> None:
    assert figures.p_value(p) == text


def test_p_in_a_sentence() -> None:
    assert figures.p_clause(0.0001) == "p < .001"
    assert figures.p_clause(0.02) == "p = .020"


@pytest.mark.parametrize("url", [
    "javascript:alert(1)", "JaVaScRiPt:alert(1)", " javascript:alert(1)", "java\tscript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x", "file:///etc/passwd", "//example.org/x", "https:", "http://[::1", "https://example.org/a b", "", None,
])  # fmt: skip
def test_only_web_addresses_are_links(url: str | None) -> None:
    assert figures.web_url(url) is None


def test_a_web_address_is_a_link() -> None:
    assert figures.web_url("https://example.org/a?b=1#c") == "https://example.org/a?b=1#c"


@given(st.text())
def test_visible_text_holds_nothing_hidden(text: str) -> None:
    shown = figures.visible(text)
    assert not any(ord(c) < 32 and c not in "\n\t" for c in shown)
    assert not any(c in shown for c in "\x7f\u202e\u2066\u200b")
    shown.encode("utf-8")


def test_visible_names_what_it_shows() -> None:
    assert figures.visible("a\x1b[31mb\u202ec\r\n") == "a␛[31mb[U+202E]c\n"


def _slice(facet: bool, **values: float | None) -> SliceSummary:
    made = tuple(Estimate(measure=k, value=v, n=1, clusters=1) for k, v in values.items())
    return SliceSummary(
        fact="category",
        value="x",
        facet=facet,
        n=1,
        systems=(SystemSummary(system="a", estimates=made, cases=1, scored=1),),
    )


def test_a_facet_shows_the_measure_that_is_defined() -> None:
    board = Leaderboard(
        metric="hits",
        headline="f1",
        benchmark="b",
        dataset="d",
        clustered_by="change",
        clusters=1,
        resamples=1,
        seed=0,
        systems=(),
        common=0,
    )
    assert figures.slice_measures(board, [_slice(True, f1=None, recall=0.5, precision=None)]) == ["recall"]
    assert figures.slice_measures(board, [_slice(True, f1=None, recall=None, precision=0.5)]) == ["precision"]
    assert figures.slice_measures(board, [_slice(False, f1=None, recall=0.5)]) == ["f1"]
    assert figures.slice_measures(board, [_slice(True, f1=None, recall=0.5, precision=None)]) == ["recall"]
    one, other = _slice(True, f1=None, recall=0.5, precision=None), _slice(True, f1=0.5, recall=0.5, precision=0.5)
    assert figures.slice_measures(board, [one, other]) == ["recall", "precision", "f1"]
    assert figures.slice_measures(board, [_slice(False, f1=0.5, recall=0.5, precision=0.5)]) == ["f1"]
