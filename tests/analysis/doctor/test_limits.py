from __future__ import annotations

from collections.abc import Mapping

import pytest

from reviewgauge.analysis.doctor.limits import label_noise
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
    unsure, labels = report.limits
    assert unsure.startswith("unsure: ") and "of 3 comments with empty words on its lines" in unsure
    assert labels.startswith("labels: nobody has checked them")


@pytest.mark.parametrize(("unsure", "right", "precision"), [(0.0, 9.0, 0.5), (2.0, 1.5, 0.375)])
def test_an_unsure_comment_counts_as_its_probability(unsure: float, right: float, precision: float) -> None:
    parts = {"matched": 1.0, "duplicate": 0.0, "false": 1.0, "unsure": unsure, "right": right, "hit": 1.0}
    assert strict({**parts, "references": 2.0})["precision"] == precision
