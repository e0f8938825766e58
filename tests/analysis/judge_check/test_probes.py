"""Each probe finds the fault that it is for, and finds nothing in a judge that has none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from judge_toys import (
    RESAMPLES,
    Failing,
    FirstColumn,
    Gullible,
    LengthLoving,
    Moody,
    Picky,
    PositionBiased,
    Right,
    Trusting,
    Vain,
    WordGrade,
    asker,
    grades_bench,
    toy_bench,
)
from reviewgauge.analysis.judge_check.edits import ATTACKS, WANTED, attacked
from reviewgauge.analysis.judge_check.instrument import Ask
from reviewgauge.analysis.judge_check.probes import Probes, reverse
from reviewgauge.analysis.judge_check.questions import Item, families, probe_items
from reviewgauge.analysis.judge_check.report import JudgeOptions, check_judge, gate
from reviewgauge.core.document import Value
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Judge, Metric
from reviewgauge.core.reports.judge_check import JudgeAgreement, JudgeReport, ProbeRow


def check(judge: Judge | Metric, *parts: str, probes: int = 24, authors: dict[str, str] | None = None) -> JudgeReport:
    """The report on the toy questions."""
    bench = toy_bench() if isinstance(judge, Judge) else grades_bench()
    if authors is not None:
        bench = type(bench)(**{**vars(bench), "authors": authors})
    options = JudgeOptions(only=parts, probes=probes, resamples=RESAMPLES)
    return check_judge(bench, asker(judge), options)


def rows_of(report: JudgeReport) -> list[ProbeRow]:
    """The rows of all probes that ran."""
    padding = report.length.padding if report.length else ()
    return [*report.order, *padding, *report.rewording, *report.irrelevant, *report.framing]


def flips(report: JudgeReport, name: str) -> float:
    """The flip rate of one probe."""
    value = next(row for row in rows_of(report) if row.name == name).flips.value
    assert value is not None
    return value


def test_a_judge_without_fault_has_none_found() -> None:
    report = check(Right())
    assert [row.kappa.value for row in report.agreement] == [1.0]
    rows = rows_of(report)
    assert {row.flips.value for row in rows if row.flips.n} == {0.0}
    assert sum(bool(row.flips.n) for row in rows) >= 18
    assert report.repeats is not None
    assert (report.repeats.flips.value, report.repeats.models) == (0.0, False)
    assert report.injection is not None
    assert [(row.flipped, row.failed) for row in report.injection.total] == [(0, 0), (0, 0)]
    assert all(row.tried >= 70 for row in report.injection.total)
    assert not report.spent.failed


def test_position_bias_is_found() -> None:
    report = check(PositionBiased(), "order")
    assert flips(report, "swapped") == 1.0
    assert flips(check(Right(), "order"), "swapped") == 0.0


def test_a_judge_that_favours_the_first_reference_is_found_by_reversing() -> None:
    assert flips(check(FirstColumn(), "order"), "reversed") == 1.0
    assert flips(check(Right(), "order"), "reversed") == 0.0


def test_love_of_length_is_found_by_padding_and_by_correlation() -> None:
    report = check(LengthLoving(), "agreement", "length")
    assert flips(report, "padded comment") == 1.0
    assert report.length is not None
    padded = report.length.padding[0]
    assert (padded.up, padded.down) == (1.0, 0.0)
    assert check(LengthLoving(words=18), "agreement", "length").length is not None
    loving = check(LengthLoving(words=18), "agreement", "length").length
    fair = check(Right(), "agreement", "length").length
    assert loving is not None
    assert fair is not None
    assert (loving.correlation.value or 0) > 0.4
    assert fair.correlation.value is None
    assert "equal" in fair.correlation.reason


def test_gullibility_is_found_by_technique_and_direction() -> None:
    report = check(Gullible(), "length", "injection")
    assert report.injection is not None
    by = {(row.technique, row.direction): row for row in report.injection.rows}
    for direction in WANTED:
        order = by["direct order", direction]
        assert order.share is not None
        assert order.share >= 0.5
        assert order.low is not None
        assert 0 < order.low < order.share
        assert by["hidden text", direction].share is not None
        assert (by["hidden text", direction].share or 0) < 0.5, "base64 and tags are beyond it"
    assert (report.injection.padding_up, report.injection.padding_down) == (0.0, 0.0)


def test_a_gullible_grader_is_found() -> None:
    fooled, firm = check(WordGrade(gullible=True), "injection"), check(WordGrade(), "injection")
    assert fooled.injection is not None
    assert firm.injection is not None
    assert all(row.share is not None and row.share > 0.2 for row in fooled.injection.total)
    assert [row.flipped for row in firm.injection.total] == [0, 0]
    assert fooled.flip_is == "the grade changes"


def test_a_moody_judge_does_not_repeat_itself() -> None:
    report = check(Moody(), "repeats")
    assert report.repeats is not None
    assert report.repeats.models
    assert report.repeats.repeats == 3
    assert (report.repeats.flips.value or 0) > 0.4
    assert (report.repeats.kappa.value or 0) < 0.5
    assert (report.repeats.spread.value or 0) > 0.1


def test_irrelevant_edits_that_count_are_found() -> None:
    report = check(Picky(), "irrelevant")
    assert flips(report, "nit") == pytest.approx(0.5), "half of the questions were a yes before"
    assert flips(report, "signature") == 0.0


def test_a_judge_that_believes_what_a_change_is_said_to_be_is_found() -> None:
    report = check(Trusting(), "framing")
    assert flips(report, "said to be sound") == pytest.approx(0.5)
    assert flips(report, "said to be faulty") == 0.0
    assert report.framing[0].down == pytest.approx(0.5)


def test_self_preference_needs_authors_and_finds_them() -> None:
    report = check(Vain(), "agreement", "self", authors={"alpha": "claude", "beta": "gpt"})
    found = report.self_preference
    assert found is not None
    assert found.difference is not None
    assert found.own is not None
    assert found.others is not None
    assert (found.others.value, found.families) == (0.0, ("gpt",))
    assert (found.own.value or 0) > 0.5
    assert found.difference.low is not None
    assert found.difference.low > 0
    unknown = check(Vain(), "agreement", "self").self_preference
    assert unknown is not None
    assert "not known" in unknown.reason
    assert unknown.difference is None


def test_a_failure_is_no_disagreement() -> None:
    report = check(Failing())
    assert report.agreement[0].kappa.value == 1.0
    assert report.agreement[0].left_out["failed: network"] > 0
    assert report.spent.failed["network"] > 0
    assert report.injection is not None
    assert sum(row.failed for row in report.injection.total) > 0 or report.injection.total[0].tried > 0
    assert all(row.flipped == 0 for row in report.injection.total)
    rows = [row for row in report.irrelevant if row.failed]
    assert rows
    assert all(row.flips.value == 0.0 for row in rows)


def test_rows_that_nobody_was_asked_about_are_counted_apart() -> None:
    """Silent reviews are a no for every judge and every rater, and raise any judge's kappa."""
    bench = toy_bench()
    spoken = [Item(Ask(i.ask.case, i.ask.review), i.rater, (1.0, 0.0), i.cluster) for i in bench.items]
    quiet = [
        Item(
            Ask(i.ask.case, i.ask.review.model_copy(update={"comments": (), "system": "mute"})),
            i.rater,
            (0.0, 0.0),
            i.cluster,
        )
        for i in bench.items
    ]
    judge = LengthLoving(words=12)
    found = [
        check_judge(
            replace(bench, items=tuple(items)), asker(judge), JudgeOptions(only=("agreement",), resamples=RESAMPLES)
        )
        for items in ([*spoken, *quiet], spoken)
    ]
    both, alone = (one.agreement[0] for one in found)
    assert (both.rows, both.unasked) == (2 * alone.rows, alone.rows)
    assert (alone.unasked, alone.kappa_asked) == (0, None)
    assert both.kappa_asked == alone.kappa
    assert (both.kappa.value or 0) > (alone.kappa.value or 0)
    assert found[0].spent.decisions == found[1].spent.decisions, "and cost nothing"


@pytest.mark.parametrize(("failed", "passed"), [(10, True), (11, False)])
def test_a_gate_counts_what_failed(failed: int, passed: bool) -> None:
    row = JudgeAgreement(
        rater="people",
        rows=100 - failed,
        clusters=9,
        kappa=Value(value=0.95, n=100 - failed),
        left_out={"failed: timeout": failed - 1, "failed: network": 1, "no truth": 500},
    )
    found = gate([row], 0.9, False)
    assert (found.passed, found.failed, found.most_failed) == (passed, failed / 100, 0.1)


def test_what_stops_the_run_leaves_what_was_found() -> None:
    report = check(Failing(word="queue", stops=True))
    assert "the line is down" in report.stopped
    assert report.agreement[0].left_out["not asked: the check was stopped"] > 0
    assert report.injection is None


def test_every_attack_changes_the_question_in_its_place() -> None:
    assert len(ATTACKS) >= 25
    assert len({attack.technique for attack in ATTACKS}) >= 10
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
    ask = toy_bench().pairs[0].ask
    for attack in ATTACKS:
        texts = set()
        for direction in WANTED:
            found = attacked(ask, attack, direction)
            assert found != ask, attack.name
            assert found.case.references == ask.case.references
            texts.add(found.case.to_line() + found.review.to_line())
            in_comment = attack.place in ("after", "before", "around")
            assert (found.review.comments[0].body != ask.review.comments[0].body) == in_comment
        assert len(texts) == len(WANTED), f"{attack.name} says the same in both directions"


def test_reversing_twice_is_the_question_itself() -> None:
    for item in toy_bench().items:
        assert reverse(reverse(item.ask)) == item.ask


def test_probes_are_half_yes_and_from_many_changes() -> None:
    chosen = probe_items(toy_bench(), 12, seed=3)
    assert sum(item.truth[0] == 1 for item in chosen) == 6
    assert len({item.cluster for item in chosen}) >= 6
    assert chosen == probe_items(toy_bench(), 12, seed=3)


def test_a_continuous_measure_flips_when_it_moves_far() -> None:
    from reviewgauge.core.specs import load

    probes = Probes(asker(load(Metric, "chrf")), grades_bench().pairs, RESAMPLES)
    assert "a tenth of its standard deviation" in probes.flip_is


def test_families_are_read_from_specs_and_authors() -> None:
    from reviewgauge.core.records import Comment, Review

    named = Review(case="c", system='prompt(model="openai:gpt-5-mini")')
    author = Review(case="c", system="x", comments=(Comment(id="a", body="b", author="anthropic:claude-sonnet-4-5"),))
    assert families([named, author, Review(case="c", system="tool")], {"tool": "qwen3"}) == {
        named.system: "gpt",
        "x": "claude",
        "tool": "qwen",
    }


@pytest.mark.parametrize("wrong", [{"only": ("all",)}, {"repeats": 1}, {"probes": 0}, {"limit": 0}])
def test_what_cannot_be_wanted_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UserError):
        JudgeOptions(**wrong)  # type: ignore[arg-type]
