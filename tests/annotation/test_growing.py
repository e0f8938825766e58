"""A gold set grows: what runs say that matches nothing is pooled, judged, and put into the next version."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from annotation_toys import PATCH, desk_of
from reviewgauge.annotation.growing.grow import grow
from reviewgauge.annotation.growing.pool import pool
from reviewgauge.annotation.schemas.schema import Answer
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.desk import Work
from reviewgauge.annotation.store.projects import find_project
from reviewgauge.api.rescore import rescore
from reviewgauge.api.score import score
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Review, Span
from reviewgauge.datasets.jsonl import Jsonl
from reviewgauge.engine.review import import_reviews
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.model_options import ModelOptions

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


def run_of(folder: Path, system: str, said: Mapping[str, Sequence[Comment]], data: Sequence[Case] = ()) -> Path:
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


def says(correct: str, same: str = "") -> Answers:
    """Parts about an empty cart say the same, unless `same` is the answer to all."""

    def answers(work: Work) -> Sequence[Answer]:
        empty = [EMPTY in text.body for text in work.item.part_texts]
        told = [same or ("yes" if one else "no") for one in empty]
        given = [Answer(part=part, dimension="same", value=value) for part, value in enumerate(told)]
        given.append(Answer(dimension="correct", value=correct))
        more = [Answer(dimension="category", value="defect"), Answer(dimension="needs", value="diff")]
        return given + more if correct == "yes" else given

    return answers


def test_accepted_findings_become_references_and_rejected_ones_known_wrong(where: str, tmp_path: Path) -> None:
    a = run_of(tmp_path / "a", "ann", {"shop#1": [comment(1, EMPTY)], "shop#2": [comment(1, EMPTY)]})
    b = run_of(tmp_path / "b", "bob", {"shop#1": [comment(7, EMPTY)], "shop#3": [comment(1, "The name is ugly.")]})
    made = pool(where, [a, b], raters=2)
    assert (made.counts, made.distinct, made.items) == ({"unmatched": 4}, 3, 3)
    with Database.open(where) as database:
        judge(database, lambda work: says("no" if work.item.subject.case == "shop#3" else "yes")(work), "A", "B")
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


def test_old_and_new_scores_stand_side_by_side(tmp_path: Path) -> None:
    wrong = "The name total is ugly and must be changed at once."
    a = run_of(tmp_path / "a", "ann", {"shop#1": [comment(1, EMPTY)], "shop#3": [comment(1, wrong)]})
    b = run_of(tmp_path / "b", "bob", {"shop#1": [comment(1, EMPTY + " So refuse it.")]})
    c = run_of(tmp_path / "c", "cat", {"shop#1": [comment(1, "Where is the licence header of this file?")]})
    database = tmp_path / "gold.db"
    pool(database, [a, b], raters=1)
    with Database.open(database) as opened:
        judge(opened, lambda work: says("no" if work.item.subject.case == "shop#3" else "yes")(work), "A")
        done = grow(opened, find_project(opened), cases(), out=tmp_path / "v2", name="shop")
        assert (done.references, done.phrasings, done.rejected) == (1, 1, 1)
    again = rescore(a, b, c, on=str(tmp_path / "v2"), run=tmp_path / "new", resamples=100)
    (table,) = again.tables
    assert again.reviews == 9 and table.new_findings == 1
    counted = {one.system: (one.found, one.own, one.judged, one.accepted) for one in table.systems}
    assert counted == {"ann": (1, 1, 2, 1), "bob": (1, 1, 1, 1), "cat": (0, 0, 0, 0)}
    recall = {one.system: next(f for f in one.figures if f.reading == "recall") for one in table.systems}
    ann = recall["ann"]
    assert ann.old is not None and ann.old < 0.1 and ann.new == pytest.approx(1 / 3) and ann.n == 3
    assert any("no comment of cat was judged" in one for one in table.warnings)
    assert rescore(a, b, c, on=str(tmp_path / "v2"), run=tmp_path / "new", resamples=100).reviews == 0
    assert rescore(a, on=str(tmp_path / "v2"), run=tmp_path / "dry", models=ModelOptions(dry_run=True)).tables == ()
    assert not (tmp_path / "dry").exists()


def test_a_run_on_other_content_is_refused(tmp_path: Path) -> None:
    said = {"shop#1": [comment(1, EMPTY)]}
    a, b = run_of(tmp_path / "a", "ann", said), run_of(tmp_path / "b", "bob", said, cases("Another change"))
    with pytest.raises(UserError, match="shop#1 is another change in this run"):
        pool(tmp_path / "gold.db", [a, b])
    pool(tmp_path / "gold.db", [a], raters=1)
    with pytest.raises(UserError, match="shop#1 is another change in the project"):
        pool(tmp_path / "gold.db", [b])
    with Database.open(tmp_path / "gold.db") as database:
        judge(database, says("yes"), "A")
        project = find_project(database)
        with pytest.raises(UserError, match="shop#1 is another change in the project"):
            grow(database, project, cases("Another change"), out=tmp_path / "v2", name="shop")
        with pytest.raises(UserError, match="1 changes of the project are not in shop, such as shop#1"):
            grow(database, project, cases()[1:], out=tmp_path / "v2", name="shop")
        grow(database, project, cases(), out=tmp_path / "v2", name="shop")
    with pytest.raises(UserError, match=r"shop#1, which .*b reviewed, is another change in v2"):
        rescore(b, on=str(tmp_path / "v2"), run=tmp_path / "new")
    assert not (tmp_path / "new").exists()
