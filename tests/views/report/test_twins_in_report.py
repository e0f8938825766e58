"""A defect stands beside its twin in the report, with each system's comments on both."""

from __future__ import annotations

import re
from pathlib import Path

import twin_pairs
from reviewgauge.analysis.compare.slices import telling_slices
from reviewgauge.api.report import _by_host
from reviewgauge.views.report.change_views import ChangeView, view_changes
from twin_pairs import told

HOSTS = sorted(twin_pairs.hosts(4), key=lambda case: case.id)
RUN = twin_pairs.scored_run(
    HOSTS, {"oracle": lambda case: told(case, ["defect"]), "everywhere": lambda case: told(case, ["defect", "twin"])}
)


def views(shown: list[int]) -> list[ChangeView]:
    cases = [HOSTS[at] for at in shown]
    return list(view_changes(cases, RUN.outcomes, RUN.scores, ["oracle", "everywhere"], RUN.signature))


def test_the_changes_of_a_host_stand_together_and_the_twin_beside_a_defect() -> None:
    found = views(_by_host(HOSTS, None))
    assert [view.arm for view in found] == ["defect", "twin", "defect", "safe"] * 4
    assert [view.opens for view in found] == [True, False, False, False] * 4
    assert [view.closes for view in found] == [False, False, False, True] * 4
    one = next(at for at, case in enumerate(HOSTS) if case.facts["arm"] == "safe")
    assert len(_by_host(HOSTS, [one])) == 4, "one costly change brings its host"


def test_a_twin_shows_what_is_not_wrong_there_and_who_says_so() -> None:
    defect, twin = views(_by_host(HOSTS, None))[:2]
    assert [len(view.findings) for view in (defect, twin)] == [1, 0]
    assert dict(defect.states) == {"matched": 2} and dict(twin.states) == {"rejected": 2}
    absent = [one for line in twin.files[0].lines for one in line.remarks if one.state == "finding"]
    assert len(absent) == 2 and not twin.others


def test_a_page_holds_them_side_by_side_and_no_slice_by_arm(tmp_path: Path) -> None:
    from reviewgauge.api.report import report
    from reviewgauge.api.review import review
    from reviewgauge.api.score import score

    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "cases.jsonl").write_bytes(b"".join(case.to_line() for case in HOSTS))
    review(str(tmp_path / "bench"), "parrot", "silent", run=tmp_path / "run")
    assert [board.label for board in score(tmp_path / "run", resamples=50).leaderboards][:1] == ["twins"]
    report(tmp_path / "run", out=tmp_path / "r.html", resamples=50)
    page = (tmp_path / "r.html").read_text()
    assert len(re.findall(r'<div class="arms">', page)) == 4 and "not wrong here: " in page and "d′" in page
    assert not {"arm", "pair"} & set(telling_slices(RUN))
