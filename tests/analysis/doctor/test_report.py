from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine_small import make_case, make_cases
from reviewgauge.analysis.doctor.probe_checks import is_one
from reviewgauge.analysis.doctor.report import doctor, examine, lint
from reviewgauge.analysis.doctor.trials import Trial
from reviewgauge.core.errors import NeedsCode, UserError
from reviewgauge.core.protocols import Aggregate, Dataset, Measured, Metric
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Review, Side, Span, findings
from reviewgauge.core.reports.doctor import DoctorReport, LintFinding, ProbeCheck
from reviewgauge.core.results import CommentOutcome, CommentState, Drop, GroupOutcome, Matching
from reviewgauge.core.specs import load
from reviewgauge.engine.probes import oracle
from reviewgauge.engine.run.manifest import benchmark_hash
from reviewgauge.metrics.hits import Hits

if TYPE_CHECKING:
    from reviewgauge.core.protocols import Numbers


@dataclass(frozen=True)
class Exact(Metric):
    """An honest small metric: the same words are the same finding. `fault` breaks it in one way."""

    fault: str = ""
    headline: ClassVar[str] = "f1"

    def parts(self, case: Case, review: Review) -> Measured | str:
        if self.fault == "crash" and len(review.comments) > 3:
            raise ZeroDivisionError("too many")
        if self.fault == "code":
            raise NeedsCode("exact", "small")
        if self.fault == "elsewhere":
            return "does not apply here"
        matching = self._match(case, review)
        states = [outcome.state for outcome in matching.comments]
        hit = sum(group.hit for group in matching.groups)
        parts: dict[str, float] = {state.value: states.count(state) for state in CommentState}
        parts |= {"comments": len(states), "hit": hit, "references": len(matching.groups)}
        parts["said"] = parts["matched"] + parts["false"]
        if self.fault == "mute":
            parts |= {"matched": 0, "duplicate": 0, "false": 0, "said": 0}
        if self.fault == "missing part":
            parts["comments"] += 1
        if self.fault == "order":
            parts["first"] = sum(map(ord, review.comments[0].body)) if review.comments else 0
        return Measured(parts=parts, matching=matching)

    def _match(self, case: Case, review: Review) -> Matching:
        taken: dict[str, str] = {}
        outcomes = []
        groups = findings(case.references)
        for comment in review.comments:
            group = next((g[0].id for g in groups if self._same(comment, g)), None)
            state = CommentState.FALSE if group is None else CommentState.MATCHED
            if group in taken and self.fault != "spam":
                state = CommentState.DUPLICATE
            if group is not None:
                taken.setdefault(group, comment.id)
            outcomes.append(CommentOutcome(comment=comment.id, state=state, group=group))
        if self.fault in ("lost", "declared"):
            outcomes = outcomes[:2]
        return Matching(
            policy="exact",
            comments=tuple(outcomes),
            groups=tuple(
                GroupOutcome(
                    group=group[0].id,
                    members=tuple(member.id for member in group),
                    hit=group[0].id in taken,
                    comments=(taken[group[0].id],) if group[0].id in taken else (),
                )
                for group in groups
            ),
            broken=("only two comments count",) if self.fault == "declared" else (),
        )

    def _same(self, comment: Comment, group: tuple[Comment, ...]) -> bool:
        if self.fault == "anything":
            return True
        if self.fault == "lines":
            return bool(comment.span and comment.span.start and comment.span.start > 500)
        if self.fault == "deaf" and any("finding 1" in reference.body for reference in group):
            return False
        return any(comment.body.split()[-1] == reference.body.split()[-1] for reference in group) and any(
            comment.body == reference.body or "otherwise" in comment.body for reference in group
        )

    def combine(self, aggregate: Aggregate) -> Mapping[str, Numbers]:
        precision = aggregate.ratio(aggregate.total("matched"), aggregate.total("said"))
        if self.fault == "silence":
            precision = aggregate.ratio(aggregate.total("matched") + 1e-12, aggregate.total("said") + 1e-12)
        recall = aggregate.ratio(aggregate.total("hit"), aggregate.total("references"))
        f1 = aggregate.ratio(2 * aggregate.total("matched"), aggregate.total("said") + aggregate.total("references"))
        scale = 100.0 if self.fault == "percent" else 1.0
        return {"precision": precision, "recall": scale * recall, "f1": f1}


@dataclass(frozen=True)
class Bare(Metric):
    """Only a mean."""

    def parts(self, case: Case, review: Review) -> Measured | str:
        return Measured(parts={"n": float(len(review.comments))})


@dataclass(frozen=True)
class Words(Metric):
    """Precision of texts, without a matching: `silent` is that of no words, `lacks` what rounding takes from all."""

    silent: float = 0.0
    lacks: float = 0.0

    def parts(self, case: Case, review: Review) -> Measured | str:
        said = {word for comment in review.comments for word in comment.body.split()}
        wanted = {word for reference in case.references for word in reference.body.split()}
        shared = len(said & wanted) / len(said) if said else self.silent
        return Measured(parts={"precision": shared - self.lacks if said else shared})


def small_cases() -> list[Case]:
    """Four changes with one to four findings; the smallest with two comes first in no order."""
    cases = [make_case(n, references=count) for n, count in enumerate((4, 1, 2, 3))]
    one = cases[1]
    other = Comment(id="again", body=f"otherwise {one.id}", same_as="r0")
    cases[1] = one.model_copy(update={"references": (*one.references, other)})
    return cases


def checks_of(fault: str) -> dict[str, ProbeCheck]:
    return {check.name: check for check in examine(Exact(fault=fault), small_cases())[0]}


def failing(fault: str) -> set[str]:
    return {name for name, check in checks_of(fault).items() if check.ok is False}


@pytest.mark.parametrize(("silent", "holds"), [(0.0, True), (1.0, False), (0.25, False)])
def test_silence_may_have_no_precision_of_texts_but_none_that_pays(silent: float, holds: bool) -> None:
    checks = {check.name: check for check in examine(Words(silent), small_cases())[0]}
    assert checks["silence: precision"].ok is holds


@pytest.mark.parametrize(("lacks", "holds"), [(2e-7, True), (1e-4, False)])
def test_a_one_of_single_precision_is_one(lacks: float, holds: bool) -> None:
    checks = {check.name: check for check in examine(Words(lacks=lacks), small_cases())[0]}
    assert checks["oracle: precision"].ok is holds


def test_an_honest_metric_passes_every_check() -> None:
    checks = checks_of("")
    assert [name for name, check in checks.items() if check.ok is not True] == ["the fix, proposed on its lines"]
    assert set(checks) == {
        "nothing breaks", "oracle: recall", "oracle: precision", "all phrasings: recall", "silence: recall",
        "silence: f1", "silence: precision", "accounts add up", "shares are shares", "order does not matter",
        "spam never gains", "wrong lines", "another change's findings", "... on the right lines",
        "empty words on the right lines", "the fix, proposed on its lines", "a greeting", "the change, told back",
        "parrot", "other phrasings",
    }  # fmt: skip
    assert checks["oracle: recall"].found == "1.0000 (10 of 10)"
    assert checks["silence: precision"].found == "undefined"
    assert checks["other phrasings"].found == "recall 1.0000 over 1 findings, against 0.0000"


@pytest.mark.parametrize(("fault", "wanted"), [
    ("deaf", {"oracle: recall", "oracle: precision"}),
    ("silence", {"silence: precision"}), ("lost", {"accounts add up"}),
    ("missing part", {"accounts add up"}),
    ("order", {"order does not matter"}),
    ("spam", {"spam never gains"}), ("crash", {"nothing breaks"}),
    ("lines", {"wrong lines", "oracle: recall"}),
    ("percent", {"shares are shares", "oracle: recall"}),
    ("anything", {"another change's findings", "parrot"}),
])  # fmt: skip
def test_each_fault_is_found(fault: str, wanted: set[str]) -> None:
    assert wanted <= failing(fault)


@dataclass(frozen=True)
class Retells(Metric):
    """Pays for words that the change holds, and needs no reference."""

    headline: ClassVar[str] = "retold"

    def parts(self, case: Case, review: Review) -> Measured | str:
        told = " ".join(comment.body for comment in review.comments).split()
        return Measured(parts={"retold": float(sum(word in case.change.title for word in told))})


def test_who_pays_for_the_change_told_back_fails_and_few_checks_give_no_verdict() -> None:
    cases = [
        c.model_copy(update={"change": c.change.model_copy(update={"title": "Keep cookies"})}) for c in make_cases(3)
    ]
    report = doctor("small", cases, [Retells(), Bare(), Exact()])
    told = {
        check.metric.rpartition(".")[2]: check.ok
        for check in report.checks
        if check.name.endswith("the change, told back")
    }
    assert told == {"Retells": False, "Bare": None, "Exact": True}
    assert {name.rpartition(".")[2] for name in report.mostly_untried} == {"Retells", "Bare"}


def test_the_smallest_case_that_shows_it_is_named() -> None:
    check = checks_of("deaf")["oracle: recall"]
    assert (check.case, check.ok) == ("case-002", False)  # two findings; case-001 has no "finding 1"
    assert check.detail == "recall is 0.5000: finding r1 counts as missed"
    assert check.found == "0.7000 (7 of 10) (3 cases)"
    check = checks_of("deaf")["oracle: precision"]
    assert check.detail == 'precision is 0.5000: "finding 1 of case-002" counts as false'
    check = checks_of("crash")["nothing breaks"]
    assert check.detail.endswith("crash: ZeroDivisionError: too many (test_report.py, line 40)")
    check = checks_of("lost")["accounts add up"]
    assert check.detail.endswith("is counted 0 times")


def test_what_a_variant_declares_broken_is_no_failure_but_is_told() -> None:
    check = checks_of("declared")["accounts add up"]
    assert check.ok is None
    assert "as this variant declares: only two comments count" in check.found


def test_what_cannot_be_tried_says_why() -> None:
    checks, _ = examine(Exact(fault="code"), small_cases())
    assert [(c.ok, c.found) for c in checks] == [
        (None, "exact needs the code under review, which is not at hand for small (reviewgauge get small --with-code)")
    ]
    checks, _ = examine(Exact(fault="elsewhere"), small_cases())
    assert [(c.ok, c.found) for c in checks] == [(None, "the metric applies to none of these cases")]
    with pytest.raises(UserError, match="nobody"):  # a typing error is not a check that could not be tried
        examine(Hits(judge="nobody"), small_cases())
    named = {check.name: check for check in examine(Bare(), make_cases(3))[0]}
    assert {name for name, check in named.items() if check.ok is not None} == {
        "nothing breaks",
        "order does not matter",
        "shares are shares",
    }
    assert named["accounts add up"].found == "the metric gives no matching"
    assert named["other phrasings"].found == "the data holds no finding in two phrasings"
    alone = {check.name: check for check in examine(Exact(), make_cases(1))[0]}
    assert alone["another change's findings"].found == "no other change has findings"
    mute = {check.name: check for check in examine(Exact(fault="mute"), small_cases())[0]}
    assert mute["spam never gains"].found == "precision and F1 are undefined on this data"
    without = [case_without_lines(n) for n in range(2)]
    assert {c.name: c for c in examine(Exact(), without)[0]}["wrong lines"].found == "no reference has lines"


def case_without_lines(number: int) -> Case:
    return Case(
        id=f"c{number}", change=Change(repo="o/r"), references=(Comment(id="r", body=f"b{number}"),), verdict=False
    )


def test_the_report_holds_checks_lint_and_notes() -> None:
    cases = [*small_cases(), Case(id="odd", change=Change(repo="o/r"), references=(Comment(id="e1e", body=" "),))]
    notes = [Drop(item="case-000", by="small", reason="a range was reversed: put right")]
    report = doctor("small", cases, [Exact(), Bare()], notes)
    assert report.benchmark == benchmark_hash(cases)
    assert report.cases == 5
    assert len(report.metrics) == 2
    assert {check.metric for check in report.checks} == set(report.metrics)
    assert all(check.name.startswith(check.metric + ": ") for check in report.checks)
    assert [one.rule for one in report.lint if one.level == "error"] == ["too_small", "empty_body"]
    assert report.lint_counts["noted_when_read"] == 1
    assert not report.ok  # an empty reference is an error in the data
    assert DoctorReport.model_validate(json.loads(report.model_dump_json())) == report
    assert doctor("small", [*small_cases(), *(make_case(n) for n in range(4, 10))], [Exact()]).ok


@pytest.mark.drill
def test_aacr_and_its_published_evaluator(shared_data: Path) -> None:
    """The public evaluator finds 196 of its own 1,505 golden comments; the default one finds all."""
    cases = list(load(Dataset, f"aacr_bench(path={str(shared_data / 'aacr-bench')!r})").cases())
    items = [(case, oracle(case)) for case in cases]
    published = Trial(load(Metric, 'hits(judge="exact", policy="greedy", variant="aacr")'), items)
    assert is_one(published, "oracle", "recall").found.startswith("0.1302 (196 of 1,505)")
    default = Trial(load(Metric, 'hits(judge="exact")'), items)
    assert is_one(default, "oracle", "recall").found == "1.0000 (1,505 of 1,505)"
    checks, _ = examine(load(Metric, 'hits(judge="dice")'), cases[::5])
    assert [(c.name, c.found, c.case, c.detail) for c in checks if c.ok is False] == []


PATCH = "@@ -10,2 +10,3 @@\n a\n+b\n c\n@@ -40,3 +41,0 @@\n-x\n-y\n-z\n"


def sound(name: str = "sound") -> Case:
    return Case(
        id=name,
        change=Change(repo="o/r", files=(ChangedFile(path="a.py", patch=PATCH), ChangedFile(path="logo.png"))),
        references=(
            Comment(id="f00d1e", body=f"the loop in {name} ends too early", span=Span(path="a.py", start=11)),
            Comment(id="beefaa", body="gone too early", span=Span(path="a.py", start=41, side=Side.OLD)),
            Comment(id="cafe0a", body="whole file", span=Span(path="a.py")),
            Comment(id="cafe0b", body="no patch", span=Span(path="logo.png", start=3)),
        ),
        facts={"language": "Python"},
    )


def with_reference(comment: Comment) -> Case:
    return sound().model_copy(update={"references": (*sound().references, comment)})


def rules(*cases: Case) -> list[tuple[str, str, str]]:
    return [(f.level, f.rule, f.item) for f in lint(cases)]


def test_sound_data_has_nothing_odd() -> None:
    assert lint([sound()]) == []


@pytest.mark.parametrize(("comment", "level", "rule"), [
    (Comment(id="abc", body=" \n"), "error", "empty_body"),
    (Comment(id="abc", body="half \ud800 pair"), "error", "encoding"),
    (Comment(id="abc", body="lost \ufffd here"), "warning", "encoding"),
    (Comment(id="abc", body="cafÃ©"), "warning", "encoding"),
    (Comment(id="abc", body="donâ€™t"), "warning", "encoding"),
    (Comment(id="abc", body="b", span=Span(path="z.py", start=9)), "warning", "path_not_in_change"),
    (Comment(id="abc", body="b", span=Span(path="a.py", start=20, end=30)), "warning", "outside_diff"),
    (Comment(id="abc", body="b", span=Span(path="a.py", start=13)), "warning", "outside_diff"),
    (Comment(id="abc", body="b", span=Span(path="a.py", start=12, side=Side.OLD)), "warning", "outside_diff"),
    (Comment(id="abc", body="Whole  FILE", span=Span(path="a.py")), "warning", "duplicate"),
])  # fmt: skip
def test_an_odd_reference_is_named(comment: Comment, level: str, rule: str) -> None:
    assert rules(with_reference(comment)) == [(level, rule, "abc")]


@pytest.mark.parametrize("body", ["tabs\tand\r\nlines", "naïve café – “quotes” 日本語 🎉", "Ünïcödé Ã", "a" * 5000])
def test_honest_texts_are_left_alone(body: str) -> None:
    assert lint([with_reference(Comment(id="abc", body=body))]) == []


def test_another_phrasing_in_the_same_words_is_no_duplicate() -> None:
    first = sound().references[2]
    assert lint([with_reference(first.model_copy(update={"id": "abc", "same_as": first.id}))]) == []


def test_ids_and_facts() -> None:
    twice = [sound(), sound()]
    assert rules(*twice) == [("error", "duplicate_id", "")]
    bare = sound("bare").model_copy(update={"facts": {}})
    assert rules(sound(), bare) == [("warning", "missing_fact", "language")]


def test_lines_of_product_code_that_tell_changed_from_clean_are_named() -> None:
    def sized(n: int, lines: int, *, lock: int, changed: bool) -> Case:
        files = tuple(
            ChangedFile(path=path, patch=f"@@ -0,0 +1,{count} @@\n" + "".join(f"+a{k} = {k}\n" for k in range(count)))
            for path, count in (("src/a.py", lines), ("uv.lock", lock))
        )
        found = sound(f"{changed}{n}").model_copy(update={"change": Change(repo="o/r", files=files)})
        return found if changed else found.model_copy(update={"references": (), "verdict": True})

    cases = [sized(n, 30 + n, lock=10, changed=True) for n in range(10)]
    cases += [sized(n, 5 + n, lock=35, changed=False) for n in range(10)]
    assert [f.item for f in lint(cases) if f.rule == "size_tells"] == ["product_lines"]
    assert [f for f in lint(cases[:9] + cases[10:]) if f.rule == "size_tells"] == []


def test_words_that_come_again_in_many_cases() -> None:
    said = Comment(id="abc", body="Please add a test for this.")
    cases = [sound(f"c{n}").model_copy(update={"references": (said,)}) for n in range(3)]
    assert lint(cases[:2]) == []
    assert lint(cases) == [
        LintFinding(level="warning", rule="duplicate_everywhere", case="c0", item="abc",
            message='"please add a test for this." is a reference of 3 cases'),
    ]  # fmt: skip


def test_right_and_wrong_at_once_is_an_error_at_one_place_and_a_warning_at_two() -> None:
    right = sound().references[0]
    wrong = right.model_copy(update={"id": "abc"})
    case = sound().model_copy(update={"rejected": (wrong,)})
    assert rules(case) == [("error", "contradictory", right.id)]
    elsewhere = wrong.model_copy(update={"span": Span(path="a.py", start=12)})
    case = sound().model_copy(update={"rejected": (elsewhere,)})
    assert rules(case) == [("warning", "contradictory", right.id)]


def test_errors_come_first() -> None:
    cases = [sound(), with_reference(Comment(id="abc", body="")), sound("bare").model_copy(update={"facts": {}})]
    levels = [finding.level for finding in lint(cases)]
    assert levels == sorted(levels, key=["error", "warning", "note"].index)
    assert levels[0] == "error"


@given(st.lists(st.text(st.characters(exclude_characters="\x00"), max_size=40), max_size=4))
def test_any_text_is_linted_without_breaking(bodies: list[str]) -> None:
    case = sound().model_copy(
        update={"references": tuple(Comment(id=f"id-{n}-x", body=body) for n, body in enumerate(bodies))}
    )
    for finding in lint([case]):
        finding.to_line()
