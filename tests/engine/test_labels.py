"""Labels of a run: kept beside the cases, joined to them, no part of the benchmark's identity."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewbench.core.errors import UserError
from reviewbench.core.labels import Label, Subject, SubjectKind
from reviewbench.core.records import Case, Change
from reviewbench.engine.benchmark import benchmark_hash
from reviewbench.engine.store import RunFolder

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
