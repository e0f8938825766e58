"""What `validate` says of a run whose labels are on pairs of comment and finding, as the viewer writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

import reviewgauge
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, Subject, SubjectKind
from reviewgauge.engine.run.folder import RunFolder

pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture
def run(tmp_path: Path) -> str:
    path = str(tmp_path / "run")
    reviewgauge.review("sample", "recorded", run=path, limit=3)
    with RunFolder.open(path, write=True) as folder:
        outcome = next(one for one in folder.outcomes() if one.review is not None and one.review.comments)
        assert outcome.review is not None
        reference = folder.cases_by_id()[outcome.case].references[0]
        about = {"case": outcome.case, "system": outcome.system, "attempt": outcome.attempt}
        pair = Subject(kind=SubjectKind.PAIR, comment=outcome.review.comments[0].id, reference=reference.id, **about)
        folder.add_labels(Label(subject=pair, rater=who, dimension="same_issue", value=True) for who in ("ann", "bob"))
    return path


def test_labels_on_pairs_check_a_judge(run: str) -> None:
    with pytest.raises(UserError, match="no judgements of people on reviews") as caught:
        reviewgauge.validate(run, "hits")
    assert f"reviewgauge validate {run} lexical" in caught.value.remedy


def test_two_raters_are_both_named(run: str) -> None:
    with pytest.raises(UserError, match="2 raters judged") as caught:
        reviewgauge.score(run, 'hits(judge="recorded")')
    assert all(f"""hits(judge='recorded(rater="{who}")')""" in caught.value.remedy for who in ("ann", "bob"))
