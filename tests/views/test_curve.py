"""The curve as a page: what is plotted, where, and that nothing of a run gets out of its text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

from html_pages import opened
from reviewgauge.core.reports.curve import Curve, CurvePoint
from reviewgauge.core.reports.leaderboard import Estimate, SystemSummary
from reviewgauge.views.charts import HEIGHT, TOP, chart_svg
from reviewgauge.views.curve import chart, curve_page


def point(by: str, n: int, value: float | None) -> CurvePoint:
    low, high = (None, None) if value is None else (value - 0.1, value + 0.1)
    estimates = tuple(
        Estimate(measure=name, value=value, low=low, high=high, n=9, clusters=9)
        for name in ("f1", "precision", "recall")
    )
    summary = SystemSummary(system=f"{by} of {n}", estimates=estimates, cases=9, scored=9, fake=True)
    return CurvePoint.model_validate({"by": by, "n": n, "subsets": 1, "summary": summary})


def curve(*points: CurvePoint, system: str = "bot") -> Curve:
    return Curve(
        run="runs/x", dataset="toys", benchmark="0" * 64, systems=(system,), stored=5, judge="lexical", model="<m>",
        metric="hits", label="hits", headline="f1", points=points, clustered_by="change", clusters=9, resamples=9,
        seed=0,
    )  # fmt: skip


POINTS = (point("alone", 1, 0.2), point("votes", 3, 0.4), point("votes", 5, 0.5), point("model", 5, 0.3))


def test_higher_values_stand_higher_and_both_lines_begin_at_one_attempt() -> None:
    drawn = Xml.fromstring(chart_svg(chart(curve(*POINTS), "f1"), "p"))
    dots = [(float(dot.get("cx", 0)), float(dot.get("cy", 0))) for dot in drawn.iter() if dot.tag.endswith("circle")]
    again, model, alone, three, five = dots
    assert alone == again
    assert alone[0] < three[0] < five[0] == model[0]
    assert TOP + HEIGHT > alone[1] > model[1] > three[1] > five[1] > TOP
    dashed = [line.get("d") for line in drawn.iter() if line.tag.endswith("path") and line.get("stroke-dasharray")]
    assert dashed == [f"M{alone[0]:.1f},{alone[1]:.1f}L{model[0]:.1f},{model[1]:.1f}"]
    fills = [dot.get("fill") for dot in drawn.iter() if dot.tag.endswith("circle")]
    assert len(set(fills[:2])) == 1 and len(set(fills[2:])) == 1 and fills[0] != fills[2]


def test_an_undefined_value_has_no_dot_and_breaks_the_line() -> None:
    drawn = chart_svg(chart(curve(POINTS[0], point("votes", 3, None), POINTS[2]), "f1"), "p")
    assert drawn.count("<circle") == 2, "no model put the attempts together: there is no line for one"
    assert "<path" not in drawn


def test_the_page_shows_three_plots_every_point_and_that_it_is_fake() -> None:
    page = curve_page(curve(*POINTS))
    assert page.count("<svg") == 3
    assert len(re.findall(r"<tr><th scope=\"row\">", page)) == len(POINTS)
    assert "A fake model answered" in page
    assert "5 attempts of bot; more than half of the votes keep a finding" in page


def test_names_cannot_become_markup() -> None:
    page = curve_page(curve(*POINTS, system="<script>alert(1)</script>"))
    assert "<script>alert" not in page
    assert "&lt;m&gt;" in page


def test_the_page_opens_without_an_error(tmp_path: Path, browser: Any) -> None:
    page = tmp_path / "curve.html"
    page.write_text(curve_page(curve(*POINTS)), "utf-8")
    with opened(browser, page) as (_, noise):
        assert noise == []
