from reviewgauge.core.reports.leaderboard import Comparison, ComparisonTable, Estimate, Leaderboard, SystemSummary
from reviewgauge.views.leaderboard import answer


def _board(fake: bool = False, **values: float | None) -> Leaderboard:
    rows = tuple(
        SystemSummary(
            system=name,
            estimates=(Estimate(measure="f1", value=value, low=0.1, high=0.9, n=30, clusters=30),),
            cases=30,
            scored=30,
            fake=fake,
        )
        for name, value in values.items()
    )
    return Leaderboard(
        metric="hits",
        headline="f1",
        benchmark="b",
        dataset="d",
        clustered_by="change",
        clusters=30,
        resamples=1,
        seed=0,
        systems=rows,
        common=30,
    )


def _table(*rows: tuple[str, str, float, float]) -> ComparisonTable:
    made = tuple(
        Comparison(
            measure="f1",
            first=a,
            second=b,
            first_value=None,
            second_value=None,
            difference=d,
            low=d - 0.06,
            high=d + 0.06,
            p=p,
            p_holm=p,
            test="permutation",
            detectable=0.1,
            n=30,
            clusters=30,
        )
        for a, b, d, p in rows
    )
    return ComparisonTable(
        metric="hits", benchmark="b", dataset="d", clustered_by="change", resamples=1, seed=0, comparisons=made
    )


def test_a_leader_that_is_told_apart_and_two_that_are_not() -> None:
    table = _table(("A", "B", 0.07, 0.02), ("A", "C", 0.09, 0.01), ("B", "C", 0.02, 0.4))
    said = answer(_board(A=0.6, B=0.53, C=0.51), table)
    assert said == "A leads B by .07 F1 [.01, .13], p = .020."


def test_a_difference_written_the_other_way_round_is_turned() -> None:
    assert "A leads B by .07 F1 [.01, .13]" in answer(_board(A=0.6, B=0.53), _table(("B", "A", -0.07, 0.02)))


def test_a_leader_by_chance_is_not_called_better() -> None:
    said = answer(_board(A=0.6, B=0.58), _table(("A", "B", 0.02, 0.5)))
    assert "cannot tell A from B" in said
    assert "leads" not in said


def test_the_corrected_p_decides() -> None:
    table = _table(("A", "B", 0.07, 0.02))
    corrected = table.model_copy(update={"comparisons": (table.comparisons[0].model_copy(update={"p_holm": 0.2}),)})
    assert "leads" not in answer(_board(A=0.6, B=0.53), corrected)


def test_untested_says_so() -> None:
    assert "was not tested" in answer(_board(A=0.6, B=0.5))


def test_undefined_systems_are_no_zeros() -> None:
    assert answer(_board(A=None)) == "F1 is undefined for every system on these changes."
    assert answer(_board()) == "No system was scored."
    assert answer(_board(A=0.5, B=None)) == "A scores .50 F1 [.10, .90] on 30 changes."


def test_fake_is_said() -> None:
    assert "A (fake)" in answer(_board(fake=True, A=0.5))


def test_of_systems_that_score_the_very_same_none_comes_first() -> None:
    table = _table(("A", "B", 0.0, 1.0), ("A", "C", 0.0, 1.0))
    assert answer(_board(A=0.0, B=0.0, C=0.0), table) == "A, B and C score the same, .00 F1."
    table = _table(("A", "B", 0.0, 1.0), ("A", "C", 0.1, 0.3))
    said = answer(_board(A=0.5, B=0.5, C=0.4), table)
    assert said == "A and B score the same, .50 F1; 30 changes cannot tell A from C."


def test_a_baseline_is_in_no_ranking() -> None:
    board = _board(silent=0.6, A=0.5, B=0.3)
    rows = (*board.systems[1:], board.systems[0].model_copy(update={"baseline": True}))
    table = _table(("A", "silent", -0.1, 0.001), ("A", "B", 0.2, 0.01))
    said = answer(board.model_copy(update={"systems": rows}), table)
    assert said == "A leads B by .20 F1 [.14, .26], p = .010."


def test_baselines_and_who_says_nothing_never_come_first() -> None:
    board = _board(mute=0.0, A=-0.1, silent=0.0, parrot=-0.2)
    told = ("comments", 0.0), ("comments", 9.0), ("comments", 0.0), ("comments", 60.0)
    mute, one, *baselines = (
        s.model_copy(update={"parts": {name: n}, "baseline": s.system in ("silent", "parrot")})
        for s, (name, n) in zip(board.systems, told, strict=True)
    )
    table = _table(("mute", "A", 0.1, 0.6))
    said = [
        answer(board.model_copy(update={"systems": systems}), table)
        for systems in ((mute, one, *baselines), (mute, *baselines), (*baselines,))
    ]
    assert said == [
        "A scores -.10 F1 [.10, .90] on 30 changes; mute said nothing that counts.",
        "mute scores .00 F1 [.10, .90] on 30 changes; mute said nothing that counts.",
        "silent scores .00 F1 [.10, .90] on 30 changes; parrot scores -.20 F1 [.10, .90] on 30 changes.",
    ]


def test_a_benchmark_that_shows_less_than_any_system_reaches_decides_nothing() -> None:
    said = answer(_board(A=0.08, B=0.03), _table(("A", "B", 0.05, 0.4)))
    assert said.endswith(
        ".10 F1 is the least that would show, and no system has more than .08: this benchmark cannot decide."
    )
    assert "decide" not in answer(_board(A=0.4, B=0.35), _table(("A", "B", 0.05, 0.4)))


def test_who_leaves_no_clean_change_alone_is_said() -> None:
    board = _board(A=0.6, B=0.5)
    noisy = board.systems[0].model_copy(update={"parts": {"clean": 12.0, "clean_quiet": 0.0}})
    quiet = board.systems[1].model_copy(update={"parts": {"clean": 12.0, "clean_quiet": 3.0}})
    said = answer(board.model_copy(update={"systems": (noisy, quiet)}), _table(("A", "B", 0.1, 0.01)))
    assert said == "A leads B by .10 F1 [.04, .16], p = .010; A leaves no clean change alone."
