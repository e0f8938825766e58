"""A gold set grows: what runs say that matches nothing is pooled, judged, and put into the next version."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation_toys import PATCH, desk_of, next_of
from reviewgauge.annotation.growing.next_version import Decision, NextVersion, PoolDecision, fates, grow, judge_pool
from reviewgauge.annotation.growing.pool import pool
from reviewgauge.annotation.growing.unmatched import Pooled, Source, read_unmatched
from reviewgauge.annotation.items import Item
from reviewgauge.annotation.label_import import import_labels
from reviewgauge.annotation.labels import labels_csv, labels_of
from reviewgauge.annotation.schemas.schema import Answer, load_schema
from reviewgauge.annotation.store.accounts import Role
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.projects import find_project, status
from reviewgauge.annotation.store.rater_session import Work
from reviewgauge.api.rescore import rescore
from reviewgauge.api.score import score
from reviewgauge.cli.main import main
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Subject, SubjectKind
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Review, Span
from reviewgauge.core.reports.annotation import PoolResult
from reviewgauge.datasets.jsonl import Jsonl
from reviewgauge.datasets.sample import Sample
from reviewgauge.engine.review import import_reviews
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.model_options import ModelOptions
from reviewgauge.repo.git.repository import Repository

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


def pool_runs(where: str | Path, runs: Sequence[Path], **options: Any) -> PoolResult:
    unmatched = read_unmatched(runs)
    with Database.open(where, create=True) as database:
        return pool(database, unmatched, **options)


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
    made = pool_runs(where, [a, b], raters=2)
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
    pool_runs(database, [a, b], raters=1)
    with Database.open(database) as opened:
        judge(opened, lambda work: says("no" if work.item.subject.case == "shop#3" else "yes")(work), "A")
        done = grow(opened, find_project(opened), cases(), out=tmp_path / "v2", name="shop")
        assert (done.references, done.phrasings, done.rejected) == (1, 1, 1)
    again = rescore(a, b, c, on=str(tmp_path / "v2"), run=tmp_path / "new", resamples=100)
    (table,) = again.tables
    assert again.reviews == 9 and table.new_findings == 1
    counted = {one.system: (one.found, one.own, one.judged, one.accepted) for one in table.systems}
    assert counted == {"ann": (1, 1, 2, 1), "bob": (1, 1, 1, 1), "cat": (0, 0, 0, 0)}
    recall = {one.system: next(f for f in one.comparisons if f.measure == "recall") for one in table.systems}
    ann = recall["ann"]
    assert (
        ann.second_value is not None
        and ann.second_value < 0.1
        and ann.first_value == pytest.approx(1 / 3)
        and ann.n == 3
    )
    assert any("no comment of cat was judged" in one for one in table.warnings)
    assert rescore(a, b, c, on=str(tmp_path / "v2"), run=tmp_path / "new", resamples=100).reviews == 0
    assert rescore(a, on=str(tmp_path / "v2"), run=tmp_path / "dry", models=ModelOptions(dry_run=True)).tables == ()
    assert not (tmp_path / "dry").exists()


def test_changes_that_left_the_benchmark_are_in_neither_column(tmp_path: Path) -> None:
    """As after people refused a label: the reviews of the others still count."""
    run = run_of(tmp_path / "a", "ann", {"shop#1": [comment(1, "Rounding loses a cent: use Decimal.")]})
    fewer, others = tmp_path / "fewer.jsonl", tmp_path / "others.jsonl"
    fewer.write_bytes(b"".join(case.to_line() for case in cases()[:2]))
    others.write_bytes(cases()[0].model_copy(update={"id": "shop#9"}).to_line())
    again = rescore(run, on=str(fewer), run=tmp_path / "new", resamples=100)
    (figure, *_), warnings = again.tables[0].systems[0].comparisons, again.tables[0].warnings
    assert again.reviews == 2 and (figure.second_value, figure.first_value, figure.n) == (1.0, 1.0, 2)
    assert "1 of 3 changes are no longer in fewer.jsonl: both columns are without them" in warnings
    with pytest.raises(UserError, match=r"no change that .* reviewed is in others"):
        rescore(run, on=str(others), run=tmp_path / "none")


def test_a_run_on_other_content_is_refused(tmp_path: Path) -> None:
    said = {"shop#1": [comment(1, EMPTY)]}
    a, b = run_of(tmp_path / "a", "ann", said), run_of(tmp_path / "b", "bob", said, cases("Another change"))
    with pytest.raises(UserError, match="shop#1 is another change in this run"):
        pool_runs(tmp_path / "gold.db", [a, b])
    pool_runs(tmp_path / "gold.db", [a], raters=1)
    with pytest.raises(UserError, match="shop#1 is another change in the project"):
        pool_runs(tmp_path / "gold.db", [b])
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


def test_later_runs_add_what_is_new_and_may_say_what_was_pooled_before(where: str, tmp_path: Path) -> None:
    first, other = (
        "The lock is never released when the payment fails.",
        "Nobody tests a negative price in this function.",
    )
    a = run_of(tmp_path / "a", "ann", {"shop#1": [comment(1, EMPTY), comment(2, first)]})
    more = [comment(1, EMPTY), comment(2, EMPTY + " Refuse it."), comment(3, other, line=3)]
    b = run_of(tmp_path / "b", "bob", {"shop#1": more})
    assert pool_runs(where, [a], raters=1).items == 2
    with Database.open(where) as database:
        judge(database, says("yes"), "A")
        assert grow(database, find_project(database), cases(), out=tmp_path / "v2", name="shop").references == 2
    again = pool_runs(where, [a, b])
    assert (again.distinct, again.known, again.items) == (4, 2, 2)
    assert pool_runs(where, [b, a]).items == 0
    with pytest.raises(UserError, match="is there already"):
        pool_runs(where, [b], raters=3)
    with Database.open(where) as database:
        project = find_project(database)
        assert status(database, project).items == 4 and len(status(database, project).batches) == 2
        opened = {one.pooled.comment.body: one.fate for one in judge_pool(database, project)}
        assert opened == {
            EMPTY: PoolDecision.ACCEPTED,
            first: PoolDecision.ACCEPTED,
            more[1].body: PoolDecision.OPEN,
            other: PoolDecision.OPEN,
        }
        judge(database, says("yes"), "B")
        second = list(Jsonl(path=str(tmp_path / "v2")).cases())
        done = grow(database, project, second, out=tmp_path / "v3", name="v2", before=tmp_path / "v2")
        assert (done.version, done.references, done.phrasings) == (3, 1, 1)
        grown = next(Jsonl(path=str(tmp_path / "v3")).cases()).references[1:]
        assert {one.body: one.extra["version"] for one in grown} == {EMPTY: 2, first: 2, more[1].body: 3, other: 3}
        said_by = {one.body: one.extra["said_by"] for one in grown}
        assert said_by[first] == ["ann"] and said_by[other] == said_by[more[1].body] == ["bob"]
        fresh = grow(database, project, cases(), out=tmp_path / "all", name="shop")
        assert (fresh.version, fresh.references, fresh.phrasings) == (2, 3, 1)
    versions = json.loads((tmp_path / "v3" / "card.json").read_bytes())["sections"][-1]["rows"]
    assert [(row[0], row[4]) for row in versions] == [(1, 2), (2, 4), (3, 6)]
    (tmp_path / "v2" / "cases.jsonl").write_bytes((tmp_path / "v3" / "cases.jsonl").read_bytes())
    with Database.open(where) as database, pytest.raises(UserError, match="changed since its card was written"):
        third = list(Jsonl(path=str(tmp_path / "v2")).cases())
        grow(database, find_project(database), third, out=tmp_path / "v4", name="v2", before=tmp_path / "v2")


def test_phrasings_that_say_something_else_are_judged_on_their_own(tmp_path: Path) -> None:
    said = [comment(n, f"{EMPTY} {n} carts were empty in the last {n} days.") for n in range(20)]
    run, database = run_of(tmp_path / "a", "ann", {"shop#1": said}), tmp_path / "gold.db"
    assert pool_runs(database, [run], raters=1).items == 3  # an item shows eight
    with Database.open(database) as opened:
        judge(opened, says("yes", same="no"), "A")
        counted = Counter(one.fate for one in judge_pool(opened, find_project(opened)))
        assert counted == {PoolDecision.ACCEPTED: 3, PoolDecision.APART: 17}
    assert pool_runs(database, [run]).items == 17
    with Database.open(database) as opened:
        judge(opened, says("no"), "B")
        done = grow(opened, find_project(opened), cases(), out=tmp_path / "v2", name="shop")
        assert (done.references, done.phrasings, done.rejected) == (3, 0, 17)
        assert sum(done.comments.values()) == sum(done.findings.values()) == 20


def test_what_raters_do_not_agree_on_is_left_out_until_an_expert_decides(tmp_path: Path) -> None:
    run, database = run_of(tmp_path / "a", "secret-bot", {"shop#1": [comment(1, EMPTY)]}), tmp_path / "gold.db"
    pool_runs(database, [run], raters=2)
    with Database.open(database) as opened:
        project = find_project(opened)
        for name, correct in (("A", "yes"), ("B", "no")):
            desk = desk_of(opened, project, name)
            slot = desk.next()
            assert slot is not None and "secret-bot" not in desk.work(slot).model_dump_json()
            desk.submit(slot, f"judged-{name}-{slot}", says(correct)(desk.work(slot)))
        (one,) = judge_pool(opened, project)
        assert one.fate is PoolDecision.UNDECIDED
        with pytest.raises(UserError, match="nothing was judged"):
            grow(opened, project, cases(), out=tmp_path / "v2", name="shop")
        while (slot := desk.next()) is not None:
            desk.conclude(slot, f"discussed-{slot}", agreed=False, reason="we differ")
        expert = desk_of(opened, project, "E", Role.EXPERT)
        slot = next_of(expert)
        expert.submit(slot, "judged-by-expert", says("yes")(expert.work(slot)))
        (one,) = judge_pool(opened, project)
        assert (one.fate, one.settled, one.raters, one.needs) == (PoolDecision.ACCEPTED, "expert", 2, "diff")


def test_labels_of_a_pool_travel_and_hostile_words_stay_as_they_are(tmp_path: Path) -> None:
    words = [
        EMPTY,
        "<script>alert(1)</script> \u202e ]]> {{7*7}} '; DROP TABLE pooled;--",
        "=1+1\t" + "long " * 20_000,
        " \n ",
    ]
    run = run_of(tmp_path / "a", "an, n", {"shop#1": [comment(n, body) for n, body in enumerate(words)]})
    one, two, file = tmp_path / "1.db", tmp_path / "2.db", tmp_path / "labels.csv"
    made = pool_runs(one, [run], raters=1)
    assert made.counts == {"unmatched": 3, "without words": 1} and pool_runs(two, [run], raters=1).items == made.items
    with Database.open(one) as first, Database.open(two) as second:
        judge(first, says("yes"), "A")
        file.write_text(labels_csv(labels_of(first, find_project(first), None)), encoding="utf-8")
        assert "an, n" not in file.read_text("utf-8")  # who said it is not for raters
        import_labels(second, find_project(second), file)
        fates = [[(j.pooled.name, j.fate) for j in judge_pool(each, find_project(each))] for each in (first, second)]
        assert sorted(fates[0]) == sorted(fates[1])
        grow(second, find_project(second), cases(), out=tmp_path / "v2", name="shop")
    grown = next(Jsonl(path=str(tmp_path / "v2")).cases())
    assert {one.body for one in grown.references[1:]} == {comment(0, body).body for body in words[:3]}


POOLED = st.lists(
    st.tuples(
        st.sampled_from(["shop#1", "shop#2"]),
        st.integers(0, 3),  # phrasings
        st.sampled_from(["yes", "no", None]),
        st.lists(st.sampled_from(["yes", "no", None]), min_size=6, max_size=6),
        st.lists(st.integers(0, 5), max_size=2, unique=True),  # links: a reference, or a finding
        st.sampled_from([None, PoolDecision.OPEN, PoolDecision.UNDECIDED]),
    ),
    max_size=6,
)


@given(drawn=POOLED)
def test_every_comment_has_one_fate_and_the_next_version_holds_all_that_count(drawn: list[Any]) -> None:
    schema = load_schema("findings")
    rows: list[Pooled] = []
    made: dict[int, Decision] = {}
    for number, (case, phrasings, correct, same, links, open_) in enumerate(drawn):
        names = [f"pooled-{number}-{at}" for at in range(phrasings + 1)]
        parts = [Subject(kind=SubjectKind.PAIR, case=case, comment=one, reference=names[0]) for one in names[1:]]
        for link in links:
            other = (
                f"pooled-{link}-0" if link < number and drawn[link][0] == case else "r1" if case == "shop#1" else "gone"
            )
            parts.append(Subject(kind=SubjectKind.PAIR, case=case, comment=names[0], reference=other))
        answers = {(at, "same"): value for at, value in zip(range(len(parts)), same, strict=False) if value}
        answers |= {(-1, "correct"): correct} if correct else {}
        item = Item(subject=Subject(kind=SubjectKind.COMMENT, case=case, reference=names[0]), parts=tuple(parts))
        made[number] = Decision(item, open_, {} if open_ else answers, "" if open_ else "independent", 2)
        for part, name in enumerate(names, -1):
            source = Source(system="s", attempt=1, comment=name)
            rows.append(
                Pooled(
                    name=name, case=case, comment=Comment(id=name, body=name), sources=(source,), item=number, part=part
                )
            )
    judged = fates(rows, made, schema)
    assert [one.pooled.name for one in judged] == [one.name for one in rows]
    growth = NextVersion(judged, 2)
    grown = [Case.model_validate(growth.case(case).model_dump()) for case in cases()]
    there = Counter(one.id for case in grown for one in (*case.references, *case.rejected) if one.id != "r1")
    assert there == Counter(one.pooled.name for one in judged if one.right or one.fate is PoolDecision.REJECTED)
    assert growth.added.total() == there.total()
    assert [growth.case(case) for case in grown] == grown


def test_the_sample_grows_by_its_recorded_reviews(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, gold, grown = str(tmp_path / "run"), str(tmp_path / "gold.db"), str(tmp_path / "bench-2")
    assert main(["review", "sample", "recorded", "-o", run]) == main(["score", run, "--resamples", "10"]) == 0
    assert main(["annotate", "pool", gold, run, "--raters", "2"]) == 0
    with Database.open(gold) as database:
        judge(database, lambda work: says("yes" if work.number % 3 else "no")(work), "A", "B")
    capsys.readouterr()
    assert main(["annotate", "grow", gold, "sample", "-o", grown, "--json"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert done["references"] == done["findings"]["accepted"] == 5 and done["rejected"] == 2
    case = next(case for case in Jsonl(path=grown).cases() if case.change.head)
    assert case.change.git is not None and Path(case.change.git).is_relative_to(grown)
    assert Repository(Path(case.change.git)).run("cat-file", "-t", str(case.change.head)).strip() == b"commit"
    assert main(["score", run, "--on", grown, "-o", str(tmp_path / "new"), "--resamples", "100"]) == 0
    said = capsys.readouterr().out
    assert "5/5" in said and "blind-reader 5 of 7" in said
    assert main(["annotate", "grow", gold, str(tmp_path / "new"), "-o", str(tmp_path / "bench-3")]) == 2
    assert main(["annotate", "pool", gold, str(tmp_path / "new")]) == 0
    assert "0 items" in capsys.readouterr().out


def test_a_benchmark_grows_by_what_people_say_of_its_own_content(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, grown = str(tmp_path / "gold.db"), str(tmp_path / "bench-2")
    known, bench = {case.id: case for case in Sample().cases()}, tmp_path / "cases.jsonl"
    bare = [one.model_copy(update={"change": one.change.model_copy(update={"git": None})}) for one in known.values()]
    bench.write_bytes(b"".join(case.to_line() for case in bare))
    assert main(["annotate", "init", gold, str(bench), "--schema", "comments", "--raters", "2"]) == 0
    (spoiled, *_) = [case for case in known.values() if len(case.references) > 1]
    (proposed, *_) = [case for case in known.values() if case.neutral]

    def verdict(work: Work) -> Sequence[Answer]:
        wrong = work.item.subject.reference == spoiled.references[0].id and work.item.subject.case == spoiled.id
        return says("no" if wrong else "yes")(work)

    with Database.open(gold) as database:
        judge(database, verdict, "A", "B")
    assert main(["annotate", "grow", gold, str(bench), "-o", grown]) == 0
    said = capsys.readouterr().out
    assert "2 raters" in said and "version 2 in" in said
    after = {case.id: case for case in Jsonl(path=grown).cases()}
    assert after[spoiled.id].rejected[-1].id == spoiled.references[0].id
    kept = after[proposed.id].references
    assert {one.id for one in proposed.neutral if one.same_as is None} <= {one.id for one in kept}
    assert all(one.extra["people"] for one in kept)
    assert "Decided by people" in (tmp_path / "bench-2" / "card.md").read_text()
    assert main(["annotate", "grow", gold, grown, "-o", str(tmp_path / "bench-3")]) == 2
    assert "nothing was judged that" in capsys.readouterr().err
