from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from reviewgauge.core.reports.gate import Gate, GateCase, GateVerdict
from reviewgauge.views import gates


def found(verdict: GateVerdict = GateVerdict.WORSE, **more: object) -> Gate:
    fields: dict[str, object] = {
        "verdict": verdict,
        "reason": "the whole interval says worse, and reaches past the margin",
        "metric": "hits()", "label": "hits", "measure": "f1", "unit": "share", "lower_is_better": False, "margin": 0.02,
        "candidate": "new", "baseline": "old", "candidate_value": 0.41, "baseline_value": 0.5, "difference": -0.09,
        "low": -0.15, "high": -0.03, "level": 0.95, "n": 3, "of": 3, "clusters": 3, "clustered_by": "change",
        "attempts": (3, 3),
        "cases": (GateCase(case="a", gain=-0.06, outcome="lost", unstable=True), GateCase(case="b", gain=0.01,
            outcome="won", unstable=False), GateCase(case="c", gain=None, outcome="undefined")),
        "dataset": "mine", "benchmark": "b" * 64, "resamples": 100, "seed": 0,
    }  # fmt: skip
    return Gate.model_validate({**fields, **more})


def shown(gate: Gate) -> str:
    console = Console(width=100, record=True, file=None, force_terminal=False)
    with console.capture() as capture:
        console.print(gates.gate(gate))
    return capture.get()


def test_the_terminal_says_verdict_figures_and_cases() -> None:
    text = shown(found())
    assert "WORSE: worse than the baseline in F1 (margin .020)" in text
    assert "-.09 [-.15,-.03]" in text
    assert "1 won, 1 lost, 0 tied, 1 undefined, 1 unstable across attempts" in text
    assert "-.060" in text


def test_a_fake_is_called_one_everywhere() -> None:
    gate = found(fake=True)
    assert "(fake)" in shown(gate)
    assert "fake" in gates.markdown(gate)
    assert b"fake" in gates.junit(gate)


@pytest.mark.parametrize(
    ("verdict", "failures", "errors"),
    [(GateVerdict.WORSE, "1", "0"), (GateVerdict.CANNOT_TELL, "0", "1"), (GateVerdict.NOT_WORSE, "0", "0")],
)
def test_junit_fails_only_where_the_gate_does(verdict: GateVerdict, failures: str, errors: str) -> None:
    root = ET.fromstring(gates.junit(found(verdict)))
    assert (root.get("failures"), root.get("errors"), root.get("tests")) == (failures, errors, "4")
    assert len(root.findall(".//failure")) == int(failures)
    assert len(root.findall(".//error")) == int(errors)
    assert len(root.findall("testcase")) == 4


@given(st.text())
def test_no_text_breaks_the_xml_or_reaches_markdown_unescaped(text: str) -> None:
    gate = found(candidate=text, cases=(GateCase(case=text, gain=0.1, outcome="won"),))
    ET.fromstring(gates.junit(gate))
    written = gates.markdown(gate)
    harmless = gates.markdown(found(candidate="new", cases=(GateCase(case="a", gain=0.1, outcome="won"),)))
    assert len(written.split("\n")) == len(harmless.split("\n"))
    rows = [line for line in written.split("\n") if line.endswith("| +.100 |")]
    assert rows[0].replace("\\|", "").count("|") == 3


def test_markdown_of_hostile_names_holds_no_link_mention_or_tag() -> None:
    text = gates.plain_markdown("[x](http://e) @team <script> `a` | ![i](u)")
    assert "@team" not in text
    assert "<script>" not in text
    assert "\\[x\\]\\(" in text
    assert "http:" not in text, "GitHub makes a link of a bare address"
    assert "#12" not in gates.plain_markdown("calcom#12"), "GitHub would refer to an issue, and tell its readers"
