"""Dice, exact and recorded: the judges that hold no model."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind, Subject, SubjectKind
from reviewgauge.core.protocols import Judge
from reviewgauge.core.records import Case, Change, Comment, Review
from reviewgauge.core.results import Verdict
from reviewgauge.core.specs import load
from reviewgauge.judges.dice import Dice
from reviewgauge.judges.exact import Exact
from reviewgauge.judges.pairs.lexical_model import load_weights, sigmoid
from reviewgauge.judges.recorded import Recorded

COMMENTS = (Comment(id="c1", body="Checked rows are null"), Comment(id="c2", body="Rename  this\nplease"))
REFERENCES = (Comment(id="r1", body="Check the rows for null"), Comment(id="r2", body="Rename this please"))


def judged(judge: Judge, labels: Sequence[Label] = ()) -> Sequence[Sequence[Verdict | None]]:
    case = Case(id="case", change=Change(repo="a/b"), references=REFERENCES, labels=tuple(labels))
    review = Review(case="case", system="tool", comments=COMMENTS)
    return judge.judge(case, COMMENTS, REFERENCES, review)


def label(
    kind: SubjectKind,
    dimension: str,
    comment: str | None = None,
    reference: str | None = None,
    *,
    value: bool = True,
    rater: str = "model-a",
    system: str = "tool",
    attempt: int = 1,
    confidence: float | None = 0.8,
) -> Label:
    subject = Subject(kind=kind, case="case", system=system, attempt=attempt, comment=comment, reference=reference)
    return Label(
        subject=subject,
        rater=rater,
        rater_kind=RaterKind.MODEL,
        dimension=dimension,
        value=value,
        confidence=confidence,
        reason="as it said",
    )


def values(rows: Sequence[Sequence[Verdict | None]]) -> list[list[bool | None]]:
    return [[None if verdict is None else verdict.same for verdict in row] for row in rows]


def test_dice() -> None:
    rows = judged(Dice())
    assert values(rows) == [[True, False], [False, True]]
    assert rows[0][0] is not None
    assert rows[0][0].reason == "Dice 1.00"
    assert values(judged(Dice(cut=0.0))) == [[True, True], [True, True]]


def test_dice_probability_rises_with_the_coefficient_and_the_cut_is_the_threshold() -> None:
    thresholds = [load(Judge, f"dice(cut={cut})").threshold for cut in (0.1, 0.3, 0.6, 1.0)]
    assert thresholds == sorted(thresholds)
    assert 0.3 < Dice().threshold < 0.7
    with pytest.raises(UserError):
        load(Judge, "dice(cut=1.5)")


@pytest.mark.parametrize("repo", ["a/b", "getsentry/sentry", "grafana/Grafana"])
def test_dice_is_calibrated_without_the_repository(repo: str) -> None:
    fitted = load_weights()[0].without(repo).dice
    assert (fitted == load_weights()[0].dice) == (repo == "a/b")
    case = Case(id="case", change=Change(repo=repo), references=REFERENCES)
    review = Review(case="case", system="tool", comments=COMMENTS)
    verdict = Dice().judge(case, COMMENTS, REFERENCES, review)[0][0]
    assert verdict is not None
    assert verdict.probability == pytest.approx(sigmoid(fitted.slope + fitted.intercept))  # their Dice is 1
    for cut in (None, 0.9):
        assert values(Dice(cut=cut).judge(case, COMMENTS, REFERENCES, review)) == [[True, False], [False, True]]


def test_exact_ignores_white_space_only() -> None:
    assert values(judged(Exact())) == [[False, False], [False, True]]
    assert Exact().estimate == ""


def test_recorded_yes_no_and_unknown() -> None:
    labels = [
        label(SubjectKind.PAIR, "same_issue", "c1", "r1"),
        label(SubjectKind.PAIR, "same_issue", "c2", "r1", value=False),
    ]
    rows = judged(Recorded(), labels)
    assert values(rows) == [[True, None], [False, None]]
    assert rows[0][0] is not None
    assert rows[0][0].probability == 0.8
    assert rows[0][0].votes[0].rater == "model-a"
    assert rows[0][0].reason == "as it said"


def test_recorded_false_positive_and_missed_deny_every_pair_of_theirs() -> None:
    assert values(judged(Recorded(), [label(SubjectKind.COMMENT, "false_positive", "c2")])) == [
        [None, None],
        [False, False],
    ]
    assert values(judged(Recorded(), [label(SubjectKind.REVIEW, "missed", None, "r2")])) == [
        [None, False],
        [None, False],
    ]


def test_of_two_recorded_words_on_one_thing_the_later_stands() -> None:
    words = [label(SubjectKind.COMMENT, "false_positive", "c2", value=value) for value in (True, False)]
    assert values(judged(Recorded(), words)) == [[None, None], [None, None]]
    assert values(judged(Recorded(), words[::-1])) == [[None, None], [False, False]]


def test_a_recorded_yes_beats_a_general_no() -> None:
    labels = [
        label(SubjectKind.COMMENT, "false_positive", "c1"),
        label(SubjectKind.PAIR, "same_issue", "c1", "r1", confidence=0.2),
    ]
    rows = judged(Recorded(), labels)
    assert values(rows) == [[True, False], [None, None]]
    assert rows[0][0] is not None
    assert rows[0][0].probability == 0.5  # a yes stays on the side of yes


def test_labels_on_other_systems_attempts_and_dimensions_are_not_ours() -> None:
    labels = [
        label(SubjectKind.PAIR, "same_issue", "c1", "r1", system="another"),
        label(SubjectKind.PAIR, "same_issue", "c1", "r1", attempt=2),
        label(SubjectKind.PAIR, "helpful", "c1", "r1"),
    ]
    assert values(judged(Recorded(), labels)) == [[None, None], [None, None]]
    assert values(judged(Recorded(rater="anyone"))) == [[None, None], [None, None]]


def test_several_raters_must_be_told_apart() -> None:
    labels = [
        label(SubjectKind.PAIR, "same_issue", "c1", "r1"),
        label(SubjectKind.PAIR, "same_issue", "c1", "r1", value=False, rater="model-b"),
    ]
    with pytest.raises(UserError, match="2 raters"):
        judged(Recorded(), labels)
    assert values(judged(Recorded(rater="model-b"), labels))[0][0] is False
    assert values(judged(Recorded(rater="model-c"), labels)) == [[None, None], [None, None]], "skipped, not wrong"
