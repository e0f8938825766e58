"""What every system's comments on a change count as."""

from __future__ import annotations

from pathlib import Path

from viewed_runs import finds, misses, nothing, selected, twin_run, write_run


def test_every_change_has_the_states_of_each_system(tmp_path: Path) -> None:
    systems = {"finder": finds, "half": misses, "silent": nothing}
    chosen = selected(write_run(tmp_path / "one", systems, broken=[("shop-2", "half")]))
    assert (chosen.systems, chosen.name, chosen.problem) == (["finder", "half", "silent"], "one", "")
    first, second, third, bare = chosen.rows
    assert (first.number, first.title, first.findings, first.clean) == (1, "Load orders 1", 2, False)
    assert dict(first.states[0]) == {"matched": 2, "hit": 2}
    assert dict(first.states[1]) == {"matched": 1, "false": 1, "hit": 1, "missed": 1}
    assert dict(first.states[2]) == {"missed": 2}
    assert second.failed == (1,) and 1 not in second.states
    assert third.clean and dict(third.states[1]) == {"false": 1}
    assert (bare.title, bare.facts, bare.findings, dict(bare.states)) == ("bare", {}, 0, {})
    assert chosen.facts == {"language": ["Go", "Python"]}, "a fact with one value tells nothing"


def test_twins_are_shown_as_such(tmp_path: Path) -> None:
    chosen = selected(twin_run(tmp_path / "twins"))
    assert [row.facts["arm"] for row in chosen.rows] == ["defect", "defect", "twin", "safe"]
    assert chosen.metric.startswith("twins(")
    blind = chosen.systems.index("blind")
    states = {row.facts["arm"]: dict(row.states[blind]) for row in chosen.rows}
    assert "hit" in states["defect"], "a defect can be found"
    assert states["twin"].keys() == {"rejected"}, "where there is none, telling it is a false alarm"
