"""Labels out and in: the round trip, and that the rest of the package reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation_toys import add_rater, answers_for, desk_of, judge_all, small_cases, small_project, small_reviews
from reviewgauge.annotation.items import make_items
from reviewgauge.annotation.label_import import import_labels
from reviewgauge.annotation.labels import labels_csv, labels_jsonl, labels_of
from reviewgauge.annotation.schemas.schema import Answer, load_schema, shipped_schemas
from reviewgauge.annotation.store.accounts import Role
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.judgements import NotYours
from reviewgauge.annotation.store.projects import find_project, status
from reviewgauge.api.agree import agree
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Subject, SubjectKind


def worked(database: Database, schema: str) -> None:
    """Two raters, who differ in the second item, a consensus, an expert."""
    project = small_project(database, schema, count=2)
    ann, bob = desk_of(database, project, "Ann"), desk_of(database, project, "Bob")
    for desk, choices in ((ann, (0, 0)), (bob, (0, 4 if schema in ("grade", "quality") else 1))):
        for choice in choices:
            slot = desk.next()
            if slot is None:
                break
            parts = len(desk.work(slot).item.parts)
            given = answers_for(project.schema_, parts, choice)
            if schema == "claims":
                given += [Answer(dimension="missing", value=f"=Claim {n}, of {desk.account.name}") for n in (1, 2)]
            desk.submit(slot, f"judged-{desk.account.id}-{slot}", given, reason="-why,\n so")
    judge_all(bob)
    judge_all(ann)  # confirms


@pytest.mark.parametrize("schema", [name for name in shipped_schemas() if name != "reports"])
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_what_was_exported_imports_to_the_same(tmp_path: Path, schema: str, kind: str) -> None:
    written = labels_csv if kind == "csv" else labels_jsonl
    with Database.open(tmp_path / "one.db", create=True) as one, Database.open(tmp_path / "two.db", create=True) as two:
        worked(one, schema)
        labels = labels_of(one, find_project(one), None)
        assert any(label.consensus for label in labels)
        file = tmp_path / f"labels.{kind}"
        file.write_text(written(labels), encoding="utf-8")
        project = small_project(two, schema, count=2)
        done = import_labels(two, project, file)
        assert done.labels == len(labels)
        assert written(labels_of(two, project, None)) == file.read_text("utf-8")
        assert status(two, project) == status(one, find_project(one))
        again = import_labels(two, project, file)
        assert (again.judgements, again.known) == (0, done.judgements)


@given(reason=st.text(max_size=40), text=st.text(min_size=1, max_size=40))
def test_any_words_survive_the_round_trip(reason: str, text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("words")
    with Database.open(folder / "1.db", create=True) as one, Database.open(folder / "2.db", create=True) as two:
        first, second = (small_project(each, "claims", count=1, raters=1) for each in (one, two))
        desk = desk_of(one, first, "Ann")
        slot = desk.next()
        assert slot is not None
        given = [*answers_for(first.schema_, 2), Answer(dimension="missing", value=text)]
        try:
            desk.submit(slot, "some-good-key", given, reason=reason)
        except UserError:
            return
        labels = labels_of(one, first, None)
        (folder / "labels.jsonl").write_text(labels_jsonl(labels), encoding="utf-8")
        import_labels(two, second, folder / "labels.jsonl")
        assert labels_of(two, second, None) == labels


def test_the_labels_are_read_by_agree(tmp_path: Path) -> None:
    with Database.open(tmp_path / "store.db", create=True) as database:
        project = small_project(database, "hits", count=4)
        for name in ("Ann", "Bob"):
            judge_all(desk_of(database, project, name))
        file = tmp_path / "labels.csv"
        file.write_text(labels_csv(labels_of(database, project, None)), encoding="utf-8")
        report = agree(file, resamples=0)
        assert [(one.dimension, one.items) for one in report.dimensions] == [("hit", 4)]
        for role in (Role.RATER, Role.EXPERT):
            with pytest.raises(NotYours):
                labels_of(database, project, add_rater(database, role.value, role))


def test_labels_of_something_else_change_nothing(tmp_path: Path) -> None:
    with Database.open(tmp_path / "store.db", create=True) as database:
        project = small_project(database, "grade", count=2)
        file = tmp_path / "labels.csv"
        good = "case,system,attempt,rater,dimension,value\nshop#1,gpt,1,Ann,grade,3\n"
        for bad, says in (
            ("shop#9,gpt,1,Ann,grade,3\n", "no item"),
            ("shop#2,gpt,1,Ann,grade,9\n", "from 1 to 5"),
            ("shop#2,gpt,1,Ann,fun,3\n", "does not ask"),
        ):
            file.write_text(good + bad, encoding="utf-8")
            with pytest.raises(UserError, match=says):
                import_labels(database, project, file)
        assert status(database, project).batches[0].judgements == 0


def test_an_item_shows_nobody_who_wrote_it() -> None:
    cases = small_cases(2)
    for name in set(shipped_schemas()) - {"reports"}:
        for item in make_items(load_schema(name), cases, small_reviews(cases)).items:
            shown = item.model_copy(
                update={"subject": Subject(kind=SubjectKind.CHANGE, case="any"), "parts": ()}
            ).model_dump_json()
            assert "gpt" not in shown
