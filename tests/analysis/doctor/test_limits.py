from __future__ import annotations

from collections.abc import Mapping

import pytest

from reviewgauge.analysis.doctor.limits import label_noise, label_size
from reviewgauge.analysis.doctor.probe_checks import strict
from reviewgauge.analysis.doctor.report import doctor
from reviewgauge.core.protocols import Metric
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Origin, Resolution, Span, Tier
from reviewgauge.core.specs import load

PATCH = "@@ -1,1 +1,4 @@\n a\n+total = amount - tax\n+ship(total)\n+done()\n"


def case(number: int, facts: Mapping[str, str] = {}, *, clean: bool = False) -> Case:
    change = Change(repo="o/r", files=(ChangedFile(path="a.py", patch=PATCH),))
    fix = Resolution(commit="f" * 40, diff="-total = amount - tax\n+total = amount + tax\n")
    label = Comment(
        id=f"l{number}",
        body="Fix prices that lose the tax",
        span=Span(path="a.py", start=2),
        origin=Origin.FIX,
        resolution=fix,
    )
    return Case(id=f"c{number}", change=change, references=() if clean else (label,), verdict=clean, facts=facts)


def test_what_wrong_labels_do_to_a_perfect_reviewer() -> None:
    people = {"labels_that_hold": "8 of 10", "clean_that_hold": "9 of 10"}
    (line,) = label_noise([case(0, people), case(1, people), case(2, people, clean=True)])
    # 1.6 of 2 labels, and one comment on each tenth clean change: 1.6 / 1.7, 2 * 1.6 / (1.7 + 2)
    assert "precision 0.94 [" in line and "recall 0.80 [0.49, 0.94]" in line and "F1 0.86 [" in line
    assert "every clean change" not in line
    (line,) = label_noise([case(0, {"labels_that_hold": "8 of 10"})])
    assert line.endswith("if every clean change is clean")
    (line,) = label_noise([case(0), case(1, clean=True)])
    assert "nobody has checked" in line and "recall 0.80" in line
    assert list(label_noise([case(0, clean=True)])) == []
    assert list(label_noise([case(0, {"labels_that_hold": "11 of 10"})])) == list(label_noise([case(0)]))


def test_labels_that_a_person_confirmed_hold() -> None:
    people = {"labels_that_hold": "8 of 10", "clean_that_hold": "9 of 10"}
    one = case(0, people)
    confirmed = one.references[0].model_copy(update={"tier": Tier.CONFIRMED})
    (line,) = label_noise([one.model_copy(update={"references": (confirmed,)})])
    assert "recall 1.00 [1.00, 1.00]" in line


def test_doctor_says_how_much_is_unsure_and_what_labels_allow() -> None:
    report = doctor("small", [case(n) for n in range(3)], [load(Metric, "hits")])
    unsure, size, labels = report.limits
    assert unsure == "unsure: 100% of 3 comments that tell the finding in other words"
    assert size.startswith("labels: 3 on 3 changes: recall is known within 0.57")
    assert labels.startswith("labels: nobody has checked them")
    (error,) = [one for one in report.lint if one.level == "error"]
    assert error.message.startswith("too small: 3 changes with labels cannot tell two reviewers apart, 10 are needed")
    assert not report.ok
    assert "too_small" not in doctor("larger", [case(n) for n in range(10)], [load(Metric, "hits")]).lint_counts


def test_old_labels_are_said_and_their_number_by_the_formula_of_plan() -> None:
    """Nine of twenty from 2008 to 2010: 2.80 standard errors of a difference that varies by one half on a change."""
    size = label_size(22, [2008, 2009, 2010] * 3 + [2019] * 10 + [0])
    assert size.words == (
        "22 on 20 changes of 2008 to 2019, median 2019, 19 over 5 years old: recall is known within 0.22, and two "
        "reviewers that each find other halves must differ by 0.47 to be told apart (by less if they find the same: "
        "plan); 395 such changes show a difference of .10"
    )
    assert not size.problem
    assert "10 are needed" in label_size(9, [0] * 9).problem


@pytest.mark.parametrize(("unsure", "right", "precision"), [(0.0, 9.0, 0.5), (2.0, 1.5, 0.375)])
def test_an_unsure_comment_counts_as_its_probability(unsure: float, right: float, precision: float) -> None:
    parts = {"matched": 1.0, "duplicate": 0.0, "false": 1.0, "unsure": unsure, "right": right, "hit": 1.0}
    assert strict({**parts, "references": 2.0})["precision"] == precision
