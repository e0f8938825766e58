"""A gold set grows: what runs say that matches nothing is pooled, judged, and put into the next version."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from annotation_toys import PATCH, desk_of
from reviewgauge.annotation.growing.grow import grow
from reviewgauge.annotation.growing.pool import pool
from reviewgauge.annotation.schemas.schema import Answer
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.desk import Work
from reviewgauge.annotation.store.projects import find_project
from reviewgauge.api.score import score
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Review, Span
from reviewgauge.datasets.jsonl import Jsonl
from reviewgauge.engine.review import import_reviews
from reviewgauge.engine.run.folder import RunFolder

Answers = Callable[[Work], Sequence[Answer]]
EMPTY = "What if the cart is empty? The total is then undefined and the page breaks."


def cases(title: str = "Pay") -> list[Case]:
    change = Change(repo="acme/shop", title=title, files=(ChangedFile(path="pay.py", patch=PATCH),))
    known = Comment(id="r1", body="Rounding loses a cent: use Decimal.", span=Span(path="pay.py", start=2))
    return [
        Case(id="shop#1", change=change, references=(known,)),
        Case(id="shop#2", change=change, verdict=True),
        Case(id="shop#3", change=change, references=(known,)),
    ]


def comment(number: int, body: str, line: int = 2) -> Comment:
    return Comment(id=f"c{number}", body=body, span=Span(path="pay.py", start=line), author="gpt")


def run_of(folder: Path, system: str, said: dict[str, Sequence[Comment]], data: Sequence[Case] = ()) -> Path:
    """A scored run in which one system said this on these cases, and nothing on others."""
    found = data or cases()
    reviews = [Review(case=one.id, system=system, comments=tuple(said.get(one.id, ()))) for one in found]
    with RunFolder.create(folder, dataset="shop", dataset_path="", cases=found) as run:
        import_reviews(run, reviews, source="recorded", pins={})
    score(folder, "hits", resamples=10)
    return folder


def judge(database: Database, answers: Answers, *names: str) -> None:
    for name in names:
        desk = desk_of(database, find_project(database), name)
        while (slot := desk.next()) is not None:
            desk.submit(slot, f"judged-{desk.account.id}-{slot}", answers(desk.work(slot)))


def says(correct: str, same: str = "yes") -> Answers:
    def answers(work: Work) -> Sequence[Answer]:
        parts = [Answer(part=part, dimension="same", value=same) for part in range(len(work.item.parts))]
        given = [*parts, Answer(dimension="correct", value=correct)]
        more = [Answer(dimension="category", value="defect"), Answer(dimension="needs", value="diff")]
        return given + more if correct == "yes" else given

    return answers


def test_accepted_findings_become_references_and_rejected_ones_known_wrong(where: str, tmp_path: Path) -> None:
    a = run_of(tmp_path / "a", "ann", {"shop#1": [comment(1, EMPTY)], "shop#2": [comment(1, EMPTY)]})
    b = run_of(tmp_path / "b", "bob", {"shop#1": [comment(7, EMPTY)], "shop#3": [comment(1, "The name is ugly.")]})
    made = pool(where, [a, b], raters=2)
    assert (made.counts, made.distinct, made.items) == ({"unmatched": 4}, 3, 3)
    with Database.open(where) as database:
        judge(database, lambda work: says("no" if work.item.subject.case == "shop#3" else "yes", "no")(work), "A", "B")
        project = find_project(database)
        done = grow(database, project, cases(), out=tmp_path / "v2", name="shop")
        assert (done.version, done.references, done.phrasings, done.rejected) == (2, 2, 0, 1)
        assert sum(done.comments.values()) == 4 and sum(done.findings.values()) == 3
        one, two, three = Jsonl(path=str(tmp_path / "v2")).cases()
        assert [(c.body, c.category, c.needs, c.same_as) for c in one.references[1:]] == [
            (EMPTY, "defect", "diff", None)
        ]
        assert one.references[1].extra["said_by"] == ["ann", "bob"]
        assert two.verdict is None and three.verdict is None and len(three.rejected) == 1
        with pytest.raises(UserError, match="nothing was judged that v2 does not have"):
            grow(database, project, [one, two, three], out=tmp_path / "v3", name="v2", before=tmp_path / "v2")
        with pytest.raises(UserError, match="holds a benchmark"):
            grow(database, project, cases(), out=tmp_path / "v2", name="shop")
