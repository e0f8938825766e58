"""What `hits` and judges say of the reviews of a run, against what running its tests showed of them."""

from __future__ import annotations

from pathlib import Path

import pytest

import reviewgauge
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import findings
from reviewgauge.core.reports.judge_check import JudgeAgreement, JudgeReport
from reviewgauge.core.results import CommentOutcome, CommentState, Failure, FailureKind, GroupOutcome, Matching, Score
from reviewgauge.core.specs import signature
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.metrics.hits import Hits
from reviewgauge.metrics.useful_suggestions import UsefulSuggestions

pytestmark = pytest.mark.usefixtures("own_cache")
TESTED = signature(UsefulSuggestions(test="true"))


def shown(index: int, words: str) -> CommentOutcome:
    """Each third comment suggests no code; of the others every second one repairs something."""
    repairs = None if index % 3 == 2 else float(index % 2)
    state = CommentState.DUPLICATE if repairs else CommentState.NEUTRAL
    return CommentOutcome(comment=words, state=state, probability=repairs)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Recorded reviews of the sample; the tests repair each second finding."""
    path = tmp_path / "run"
    reviewgauge.review("sample", "recorded", run=path, limit=12)
    with RunFolder.open(path, write=True) as folder:
        cases = folder.cases_by_id()
        for at, outcome in enumerate(folder.outcomes()):
            assert outcome.review is not None
            own = [members[0].id for members in findings(cases[outcome.case].references)]
            groups = tuple(
                GroupOutcome(group=name, members=(name,), hit=not (at + n) % 2) for n, name in enumerate(own)
            )
            comments = tuple(shown(n, one.id) for n, one in enumerate(outcome.review.comments))
            matching = Matching(policy="execution", comments=comments, groups=groups)
            folder.append_score(
                Score(
                    case=outcome.case,
                    system=outcome.system,
                    metric=TESTED,
                    benchmark=folder.manifest.benchmark,
                    parts={"findings": 1.0},
                    matching=matching,
                    of=outcome.digest,
                )
            )
    return path


def only(report: JudgeReport, what: str) -> JudgeAgreement:
    (row,) = [one for one in report.agreement if one.rater == f"useful_suggestions: {what}"]
    return row


def test_findings_and_comments_are_compared_one_by_one(run: Path) -> None:
    found = reviewgauge.validate(str(run), "hits", labels="useful_suggestions")
    (report,) = found.judges
    with RunFolder.open(run) as folder:
        truths = {score.key: score.matching for score in folder.scores(TESTED)}
        scores = [(truths[one.key], one.matching) for one in folder.scores(signature(Hits()))]
    pairs: dict[str, list[tuple[bool, bool]]] = {"findings": [], "comments": []}
    for truth, said in scores:
        assert truth is not None and said is not None
        hit = {name: group.hit for group in said.groups for name in group.members}
        matched = (CommentState.MATCHED, CommentState.DUPLICATE)
        states = {one.comment: one.state in matched or (one.unsure and one.credit >= 0.5) for one in said.comments}
        pairs["findings"] += [(hit[group.group], group.hit) for group in truth.groups]
        pairs["comments"] += [
            (states[one.comment], bool(one.probability)) for one in truth.comments if one.probability is not None
        ]
    for what, own in pairs.items():
        row, both = only(report, what), sum(said and true for said, true in own)
        yes, true = sum(said for said, _ in own), sum(true for _, true in own)
        n, same = len(own), sum(said == true for said, true in own)
        chance = (yes * true + (n - yes) * (n - true)) / n**2
        assert yes and true and n > 10
        assert row.precision and row.recall and row.f1
        assert row.rows == row.precision.n == n
        assert row.kappa.value == pytest.approx((same / n - chance) / (1 - chance))
        assert row.precision.value == pytest.approx(both / yes)
        assert row.recall.value == pytest.approx(both / true)
        assert row.f1.value == pytest.approx(2 * both / (yes + true))
        assert row.recall.low is not None and row.recall.low <= both / true
    assert "useful_suggestions" in report.on and found.totals[0].metric == signature(Hits())


def test_a_judge_is_hits_with_that_judge_and_a_gate_takes_the_least_kappa(run: Path) -> None:
    options = reviewgauge.JudgeOptions(min_kappa=0.99)
    (report,) = reviewgauge.validate(str(run), "lexical", labels=TESTED, judging=options).judges
    assert report.judge == "hits" and report.gate is not None and not report.gate.passed


def test_what_failed_or_was_edited_since_is_no_disagreement(run: Path) -> None:
    reviewgauge.score(run, "hits")
    with RunFolder.open(run, write=True) as folder:
        first, second, *_ = folder.scores(signature(Hits()))
        broken = Failure(kind=FailureKind.NETWORK, message="m")
        folder.append_score(first.model_copy(update={"matching": None, "parts": None, "failure": broken}))
        (stale,) = [score for score in folder.scores(TESTED) if score.key == second.key]
        folder.append_score(stale.model_copy(update={"of": "0" * 16}))
        truths = {score.key: score.matching for score in folder.scores(TESTED)}
    (report,) = reviewgauge.validate(str(run), "hits", labels="useful_suggestions").judges
    left, gone = truths[first.key], truths[second.key]
    assert left is not None and gone is not None
    row, total = only(report, "findings"), sum(len(one.groups) for one in truths.values() if one)
    assert row.rows == total - len(left.groups) - len(gone.groups)
    assert row.left_out == {"failed: network": len(left.groups)}


@pytest.mark.parametrize(("metric", "labels", "problem"), [
    ("hits", "useful_repairs", "is neither a file nor a metric of"),
    ("hits", "hits", "runs no tests"),
    ("chrf", "useful_suggestions", "matches no comments with findings"),
])  # fmt: skip
def test_what_cannot_be_compared_is_named(run: Path, metric: str, labels: str, problem: str) -> None:
    reviewgauge.score(run, "hits")
    with pytest.raises(UserError, match=problem):
        reviewgauge.validate(str(run), metric, labels=labels)


def test_what_belongs_to_people_is_refused(run: Path) -> None:
    with pytest.raises(UserError, match="of findings, not of reviews"):
        reviewgauge.validate(str(run), "hits", labels="useful_suggestions", sweep=True)
    with pytest.raises(UserError, match="does not exist"):
        reviewgauge.validate("sample", "hits", labels="useful_suggestions")
