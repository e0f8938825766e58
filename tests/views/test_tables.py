"""What a notebook shows of results: tables, in which no text of others is markup."""

from __future__ import annotations

from pathlib import Path

import pytest

import validity_toys as toys
from html_pages import Page
from reviewgauge.api.compare import compare
from reviewgauge.api.review import review
from reviewgauge.api.score import score
from reviewgauge.api.validate import ValidateResult
from reviewgauge.core.records import Case, Change, Comment
from reviewgauge.reviewers.silent import Silent


@pytest.fixture
def run(tmp_path: Path) -> Path:
    found = [Comment(id="g", body="never closed")]
    cases = [Case(id=f"c{n}", change=Change(repo="r"), references=tuple(found)) for n in range(3)]
    bench = tmp_path / "<b>bench.jsonl"
    bench.write_bytes(b"".join(case.to_line() for case in cases))
    review(str(bench), *(Silent(name=name) for name in toys.PAYLOADS if name.isprintable()), run=tmp_path / "run")
    return tmp_path / "run"


def test_results_show_themselves_and_escape_everything(run: Path) -> None:
    found = score(run, "hits", resamples=50)
    pairs = compare(run, resamples=50)
    assert pairs == list(pairs) and pairs[0].metric
    for html in (found._repr_html_(), pairs._repr_html_(), ValidateResult(report=toys.hostile())._repr_html_()):
        assert html is not None and "<table" in html
        page = Page(html)
        assert not page.tags.keys() & {"script", "img", "svg", "details", "b", "style"}
        assert not [name for name, _ in page.attributes if name.startswith("on")]
        assert "\u202e" not in html and "\x1b" not in html
    assert ValidateResult()._repr_html_() is None
