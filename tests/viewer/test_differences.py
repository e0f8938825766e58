"""One system against another: what one alone found, and what it cost in false comments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from reviewgauge.core.labels import Label, Subject, SubjectKind
from reviewgauge.core.records import Case, Comment, Severity
from reviewgauge.datasets.martian import FALSE, SAME
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.viewer.differences import Narrowing, agreed, differences
from reviewgauge.viewer.pages import Pages
from viewed_runs import NOISE, comment, finds, misses, nothing, plain_cases, selected, write_run


def noisy(case: Case) -> Sequence[Comment]:
    """Every finding, and two false comments on each change."""
    return [*finds(case), comment(5, NOISE, "n"), comment(4, "Rename this variable, please.", "n")]


Says = Callable[[Case], Sequence[Comment]]


@pytest.mark.parametrize(("first", "second", "found"), [
    # (number of the change, by the first alone, by the second alone, false comments): noise beside a finding's
    # line is unsure, which is not false
    (finds, finds, []),
    (finds, misses, [(1, 1, 0, (0, 1)), (2, 1, 0, (0, 0)), (3, 0, 0, (0, 1))]),
    (misses, finds, [(1, 0, 1, (1, 0)), (2, 0, 1, (0, 0)), (3, 0, 0, (1, 0))]),
    (nothing, finds, [(1, 0, 2, (0, 0)), (2, 0, 1, (0, 0))]),
    (finds, noisy, [(3, 0, 0, (0, 2)), (1, 0, 0, (0, 1))]),
    (
        lambda case: finds(case) if case.id == "shop-2" else [],
        lambda case: noisy(case) if case.clean else [],
        [(2, 1, 0, (0, 0)), (3, 0, 0, (0, 2))],  # findings before noise
    ),
])  # fmt: skip
def test_what_one_alone_found(
    tmp_path: Path, first: Says, second: Says, found: list[tuple[int, int, int, tuple[int, int]]]
) -> None:
    chosen = selected(write_run(tmp_path / "run", {"a": first, "b": second}))
    made = differences(chosen, "a", "b")
    got = [
        (one.number, sum(each.by_first for each in one.found), sum(not each.by_first for each in one.found), one.false)
        for one in made
    ]
    assert got == found
    order = [(not one.found, -abs(one.lead)) for one in made]
    assert order == sorted(order)


def test_how_often_the_judge_agrees_with_people(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"a": finds, "b": misses})

    def says(system: str, comment: str, reference: str | None, value: bool) -> Label:
        kind = SubjectKind.PAIR if reference else SubjectKind.COMMENT
        subject = Subject(kind=kind, case="shop-1", system=system, comment=comment, reference=reference)
        return Label(subject=subject, rater="ann", dimension=SAME if reference else FALSE, value=value)

    assert agreed(selected(run), "a") == (0, 0)
    with RunFolder.open(run, write=True) as folder:
        folder.add_labels([says("a", "c2", "r0", True), says("a", "c3", "r1", False), says("b", "n5", None, True)])
    chosen = selected(run)
    assert (agreed(chosen, "a"), agreed(chosen, "b")) == ((1, 2), (1, 1))
    page = Pages(chosen).against(1, 2)
    assert "the judge says the same of 1 of 2 by <bdi>a</bdi> and 1 of 1 by <bdi>b</bdi>." in page


def test_both_words_stand_beside_each_other(tmp_path: Path) -> None:
    chosen = selected(write_run(tmp_path / "run", {"a": finds, "b": misses}))
    (only,) = differences(chosen, "a", "b")[0].found
    assert only.by_first and only.finding.id == "r1"
    assert only.comment is not None and only.comment.body == only.finding.body
    assert only.reason


def test_a_change_that_one_of_them_did_not_answer_is_left_out(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"a": finds, "b": nothing}, broken=[("shop-1", "b")])
    assert [one.number for one in differences(selected(run), "a", "b")] == [2]


def test_unscored_systems_and_strangers_differ_in_nothing(tmp_path: Path) -> None:
    chosen = selected(write_run(tmp_path / "run", {"a": finds}, metrics=()))
    assert differences(chosen, "a", "a") == differences(chosen, "a", "nobody") == []


def of_two_kinds() -> list[Case]:
    """Two findings of a change, a low one about style and a critical one about security; and a change with one."""
    first, second, *rest = plain_cases()
    low, high = first.references
    kinds = (
        low.model_copy(update={"severity": Severity.LOW, "category": "style"}),
        high.model_copy(update={"severity": Severity.CRITICAL, "category": "security"}),
    )
    return [second, first.model_copy(update={"references": kinds}), *rest]


@pytest.mark.parametrize(
    ("narrowing", "found"),
    [
        (Narrowing(), {2: 2, 1: 1}),
        (Narrowing(side="gained"), {2: 2, 1: 1}),
        (Narrowing(side="lost"), {}),
        (Narrowing(severity="low"), {2: 1}),
        (Narrowing(category="security"), {2: 1}),
        (Narrowing(category="style", severity="critical"), {}),
        (Narrowing(severity="high"), {1: 1}),
        (Narrowing(order="severity"), {2: 2, 1: 1}),
        (Narrowing(order="category"), {2: 2, 1: 1}),
        (Narrowing(order="lost"), {2: 2, 1: 1}),
    ],
    ids=str,
)
def test_what_differs_is_narrowed_and_sorted(tmp_path: Path, narrowing: Narrowing, found: dict[int, int]) -> None:
    chosen = selected(write_run(tmp_path / "run", {"a": finds, "b": nothing}, of_two_kinds()))
    made = differences(chosen, "a", "b", narrowing)
    assert [(one.number, len(one.found)) for one in made] == list(found.items())
    assert chosen.kinds == (["critical", "high", "low"], ["security", "style"])
    of_shown = "Of what is shown: " if narrowing.narrows else ""
    n = sum(found.values())
    words = f"{of_shown}{n} finding{'s' * (n != 1)} only <bdi>a</bdi> hit, 0 only <bdi>b</bdi> hit"
    assert words in Pages(chosen).against(1, 2, narrowing=narrowing), "the first line counts what is shown"
