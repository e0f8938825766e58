"""Shares of correct, wrong and missing claims, and of the kinds of errors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import reviewgauge
from reviewgauge.analysis.claim_shares import claim_shares
from reviewgauge.cli.main import main
from reviewgauge.core.labels import Label, RaterKind, Subject, SubjectKind
from reviewgauge.core.reports.agreement import ClaimShares


def label(claim: str, value: str, rater: str = "Ann", dimension: str = "claim", consensus: bool = False) -> Label:
    """A label on `case/claim`."""
    case, _, name = claim.partition("/")
    subject = Subject(kind=SubjectKind.CLAIM, case=case, claim=name)
    return Label(subject=subject, rater=rater, dimension=dimension, value=value, consensus=consensus)


def shares(labels: Sequence[Label], resamples: int = 200) -> ClaimShares:
    (found,) = claim_shares(labels, {}, resamples=resamples, seed=0)
    return found


def counts(found: ClaimShares) -> dict[str, int]:
    return {one.value: one.claims for one in found.shares}


def test_missing_claims_and_unclear_ones_are_not_in_the_denominator() -> None:
    words = {"a/1": "correct", "a/2": "correct", "a/3": "incorrect", "b/1": "correct", "b/2": "ambiguous"}
    found = shares([*(label(claim, word) for claim, word in words.items()), label("b/new", "missing")])
    assert (found.claims, found.changes, found.left_out) == (4, 2, {"ambiguous": 1})
    assert counts(found) == {"correct": 3, "incorrect": 1, "unverifiable": 0, "missing": 1}
    assert [one.share.value for one in found.shares] == [0.75, 0.25, 0.0, 0.25]


def test_a_value_that_no_claim_has_still_has_an_interval() -> None:
    found = shares([label(f"c{n}/1", "correct") for n in range(30)])
    wrong = found.shares[1].share
    assert (wrong.value, wrong.low) == (0, 0)
    assert wrong.high is not None and 0.05 < wrong.high < 0.2, "Wilson's upper end of 0 of 30 is .11"


def test_intervals_are_wider_where_the_claims_of_a_change_go_together() -> None:
    alone = [label(f"c{n}/1", "correct" if n % 2 else "incorrect") for n in range(60)]
    together = [label(f"c{n % 6}/{n}", "correct" if n % 2 else "incorrect") for n in range(60)]
    widths = []
    for labels in (alone, together):
        share = shares(labels, resamples=500).shares[0].share
        assert share.value == 0.5 and share.low is not None and share.high is not None
        widths.append(share.high - share.low)
    assert widths[1] > 1.5 * widths[0]


def test_most_raters_decide_a_tie_goes_to_the_first_and_a_consensus_to_itself() -> None:
    labels = [
        *(label("a/1", word, rater) for word, rater in (("incorrect", "Ann"), ("correct", "Bo"), ("correct", "Cy"))),
        *(label("a/2", word, rater) for word, rater in (("unverifiable", "Ann"), ("correct", "Bo"))),
        *(label("a/3", word, rater) for word, rater in (("correct", "Ann"), ("correct", "Bo"))),
        label("a/3", "incorrect", "all", consensus=True),
    ]
    found = shares(labels)
    assert counts(found) == {"correct": 1, "incorrect": 1, "unverifiable": 1, "missing": 0}
    assert found.split == 2


def test_a_claim_with_two_kinds_of_errors_counts_for_both() -> None:
    words = {"a/1": "reasoning", "a/2": "localization, comprehension", "b/1": "comprehension"}
    found = shares([label(claim, word, dimension="error") for claim, word in words.items()])
    assert found.claims == 3
    assert counts(found) == {"reasoning": 1, "localization": 1, "comprehension": 2}


def test_people_decide_where_they_and_models_judged_a_claim() -> None:
    models = [label("a/1", "incorrect", name).model_copy(update={"rater_kind": RaterKind.MODEL}) for name in "xy"]
    alone = label("a/2", "unverifiable", "x").model_copy(update={"rater_kind": RaterKind.MODEL})
    found = shares([*models, label("a/1", "correct"), alone])
    assert counts(found) == {"correct": 1, "incorrect": 0, "unverifiable": 1, "missing": 0} and not found.split


def test_words_in_another_case_are_the_same_and_two_at_once_are_none() -> None:
    words = {"a/1": "Correct", "a/2": "INCORRECT ", "a/3": "correct, incorrect", "b/new": "Missing"}
    found = shares([label(claim, word) for claim, word in words.items()])
    assert counts(found) == {"correct": 1, "incorrect": 1, "unverifiable": 0, "missing": 1}
    assert (found.claims, found.left_out) == (2, {"correct, incorrect": 1})


def test_free_text_is_no_category() -> None:
    labels = [label(f"a/{n}", f"note {n}") for n in range(51)]
    assert claim_shares(labels, {}, resamples=10, seed=0) == ()
    assert len(shares(labels[:50], resamples=10).shares) == 50


def test_where_claims_were_only_added_there_are_no_rates() -> None:
    found = shares([label("a/new", "missing"), label("b/new", "missing")])
    assert (found.claims, counts(found)["missing"]) == (0, 2)
    assert all(one.share.value is None and one.share.reason for one in found.shares)


def test_no_resamples_no_intervals() -> None:
    found = shares([label("a/1", "correct"), label("b/1", "incorrect")], resamples=0)
    assert all(one.share.low is None and one.share.reason for one in found.shares)


def test_languages_stand_apart_and_then_together() -> None:
    labels = [label("a/1", "correct"), label("b/1", "incorrect"), label("c/1", "correct")]
    found = claim_shares(labels, {"a": "Go", "b": "Java", "c": "Go"}, resamples=50, seed=0)
    assert [(one.language, one.claims) for one in found] == [("Go", 2), ("Java", 1), ("", 3)]


def test_other_labels_have_no_such_table() -> None:
    on_link = label("a/1", "correct")
    subject = Subject(kind=SubjectKind.LINK, case="a", system="x", claim="1")
    numbers = label("a/1", "x").model_copy(update={"value": 1})
    assert not claim_shares([on_link.model_copy(update={"subject": subject}), numbers], {}, resamples=0, seed=0)


def test_anybody_judges_claims_in_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As docs/guides/people.md shows it: one rater is enough for shares, and two for agreement."""
    file = tmp_path / "claims.csv"
    rows = ["id,claim,rater,dimension,value,reason"]
    for at in range(25):
        rows += [f"pr-{at},1,Ann,claim,correct,", f"pr-{at},2,Ann,claim,{'incorrect' if at % 5 == 0 else 'correct'},"]
        rows += [f"pr-{at},2,Ann,error,reasoning,"] if at % 5 == 0 else []
    rows += ["pr-3,new,Ann,claim,missing,The timeout is halved."]
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert main(["agree", str(file), "--resamples", "100"]) == 0
    text = capsys.readouterr().out
    assert "agreement is undefined: only one rater" in text
    assert "claims, claim: 50 of 25 changes" in text and "claims, error: 5 of 5 changes" in text
    (quality,) = (one for one in reviewgauge.agree(file, resamples=0).claims if one.dimension == "claim")
    assert [one.share.value for one in quality.shares] == [0.9, 0.1, 0.0, 0.02]
    assert [one.dimension for one in reviewgauge.agree(file, dimensions=["error"], resamples=0).claims] == ["error"]
