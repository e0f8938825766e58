"""Labels of a run: kept beside the cases, joined to them, no part of the benchmark's identity."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, Subject, SubjectKind
from reviewgauge.core.records import Case, Change, Comment, Review
from reviewgauge.core.specs import signature
from reviewgauge.engine.review import import_reviews
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.manifest import benchmark_hash
from reviewgauge.engine.score import score
from reviewgauge.metrics.hits import Hits

CASES = [Case(id="a", change=Change(repo="r")), Case(id="b", change=Change(repo="r"))]
LABEL = Label(subject=Subject(kind=SubjectKind.CHANGE, case="b"), rater="ann", dimension="clear", value=True)


def test_labels_stand_on_their_cases_and_are_kept_once(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path / "run", dataset="d", dataset_path="", cases=CASES) as run:
        assert run.add_labels([LABEL]) == 1
        assert run.add_labels([LABEL]) == 0
    again = RunFolder.open(tmp_path / "run")
    assert [case.labels for case in again.cases()] == [(), (LABEL,)]
    with pytest.raises(UserError, match="reading only"):
        again.add_labels([LABEL])


def test_labels_do_not_change_the_benchmark() -> None:
    labelled = [CASES[0], CASES[1].model_copy(update={"labels": (LABEL,)})]
    assert benchmark_hash(labelled) == benchmark_hash(CASES)


def verdict(value: bool) -> Label:
    subject = Subject(kind=SubjectKind.PAIR, case="a", system="s", comment="c", reference="g")
    return Label(subject=subject, rater="ann", dimension="same_issue", value=value)


def test_labels_that_the_data_gained_reach_the_run_and_what_was_measured_with_the_old_ones_is_measured_again(
    tmp_path: Path,
) -> None:
    case = Case(id="a", change=Change(repo="r"), references=(Comment(id="g", body="never closed"),))
    labelled = case.model_copy(update={"labels": (verdict(False),)})
    said = Review(case="a", system="s", comments=(Comment(id="c", body="see there"),))
    lexical, recorded = Hits(), Hits(judge="recorded")
    with RunFolder.create(tmp_path / "run", dataset="d", dataset_path="", cases=[labelled]) as run:
        import_reviews(run, [said])
        assert (score(run, recorded).done, score(run, lexical).done) == (1, 1)
        assert (score(run, recorded).skipped, score(run, lexical).skipped) == (1, 1)
    more = case.model_copy(update={"labels": (verdict(False), verdict(True))})
    with RunFolder.create(tmp_path / "run", dataset="d", dataset_path="", cases=[more]) as run:
        assert run.cases()[0].labels == more.labels
        assert (score(run, recorded).done, score(run, lexical).done) == (1, 0)
        (found,) = run.scores(signature(recorded))
        assert found.parts is not None and found.parts["hit"] == 1


def test_other_reviews_under_a_known_name_are_refused_before_anything_is_recorded(tmp_path: Path) -> None:
    said = Review(case="a", system="s", comments=(Comment(id="c", body="see there"),))
    new = Review(case="a", system="other")
    with RunFolder.create(tmp_path / "run", dataset="d", dataset_path="", cases=CASES) as run:
        import_reviews(run, [said])
        changed = said.model_copy(update={"comments": ()})
        with pytest.raises(UserError, match="rested on another recorded reviews"):
            import_reviews(run, [changed, new])
        assert [outcome.review for outcome in run.outcomes()] == [said]
        assert list(run.manifest.systems) == ["s"]
        assert import_reviews(run, [said]).skipped == 1
