"""`report` of a benchmark that is too large for one page."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine_small import make_cases
from reviewgauge.api.report import report
from reviewgauge.api.review import review
from reviewgauge.api.score import score
from reviewgauge.core.errors import UserError
from small_studies import write_bench


def test_only_so_many_changes_are_on_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_bench(tmp_path, make_cases(30))
    review(str(tmp_path / "bench.jsonl"), "parrot", run=tmp_path / "run")
    score(tmp_path / "run", "hits", resamples=20)
    page, shown = tmp_path / "report.html", {}
    for changes in (None, 4, 0, 99):
        found = report(tmp_path / "run", out=page, changes=changes, resamples=20)
        assert found.cases == 30 and found.bytes == page.stat().st_size
        shown[changes] = page.read_text().count('<details class="change"')
    assert shown == {None: 30, 4: 4, 0: 0, 99: 30}
    monkeypatch.setattr("reviewgauge.api.report.MOST_REVIEWS", 7)
    report(tmp_path / "run", out=page, resamples=20)
    assert "7 of 30 changes are shown: those that cost the systems the most in F1" in page.read_text()
    with pytest.raises(UserError, match="changes must be 0 or more, got -1"):
        report(tmp_path / "run", out=page, changes=-1)
    with pytest.raises(UserError, match="is not an HTML page, and would be replaced"):
        report(tmp_path / "run", out=tmp_path / "bench.jsonl", resamples=20)
    assert (tmp_path / "bench.jsonl").read_text().startswith("{")
