"""What people say of a build comes back into it: SWR-Bench's two annotators, and AACR-Bench's three rounds."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from annotation_toys import add_rater
from recorded_forge import TOKEN, Forge, serve
from reviewgauge.annotation.schemas.schema import ITEM, Answer, asked
from reviewgauge.annotation.store.accounts import Role
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.projects import find_project
from reviewgauge.annotation.store.rater_session import RaterSession, Work
from reviewgauge.api.build import build
from reviewgauge.cli.main import main
from reviewgauge.core.building import Candidate, Decision, DecisionKind
from reviewgauge.core.labels import Label, RaterKind, Subject, SubjectKind
from reviewgauge.core.records import Case, Change, Comment, Tier
from reviewgauge.core.reports.build_card import BuildCard
from reviewgauge.core.results import Drop
from reviewgauge.engine.build.people import People
from reviewgauge.stages.sampling.audit import decision_id
from reviewgauge.stages.where import Where

Says = Callable[[Work], Mapping[tuple[int, str], str]]


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)


@pytest.fixture(scope="module")
def forge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forge]:
    with serve(tmp_path_factory.mktemp("forge"), "papers") as running:
        yield running


def built(recipe: str, out: Path, settings: Mapping[str, str], **options: object) -> tuple[BuildCard, dict[str, Case]]:
    card = build(".", out=out, recipe=recipe, settings=dict(settings), **options).card  # type: ignore[arg-type]
    assert card is not None
    cases = map(Case.model_validate_json, (out / "cases.jsonl").read_bytes().splitlines())
    return card, {case.id: case for case in cases}


def told(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    capsys.readouterr()
    code = main([str(word) for word in words])
    said = capsys.readouterr()
    assert code == 0, said.err
    return said.out


def judged(where: Path, name: str, says: Says, role: Role = Role.RATER) -> int:
    """Let somebody new judge all there is; what `says` names, the rest by the first option."""
    with Database.open(where) as database:
        desk = RaterSession(database, find_project(database), add_rater(database, name, role))
        done = 0
        while (slot := desk.next()) is not None:
            work = desk.work(slot)
            if role is Role.RATER and work.round != "independent":
                break
            given, said = list[Answer](), says(work)
            for part, question in asked(desk.project.schema_, work.item.kinds):
                values = {(one.part, one.dimension): one.value for one in given}
                wanted = question.when is None or values.get((part, question.when.dimension)) in question.when.values
                if wanted:
                    value = said.get((part, question.dimension), question.options[0].value)
                    given.append(Answer(part=part, dimension=question.dimension, value=value))
            desk.submit(slot, f"{name}-{slot:08}", given, reason="so it is")
            done += 1
    return done


def rows_of(card: BuildCard) -> dict[tuple[object, ...], tuple[object, ...]]:
    (section,) = [one for one in card.sections if one.by == "people"]
    return {(str(row[0]).partition("(")[0], row[1]): row[2:] for row in section.rows}


@pytest.mark.drill
def test_two_annotators_verify_the_pull_requests_of_swr_bench(
    forge: Forge, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, store, labels = tmp_path / "bench", tmp_path / "people.db", tmp_path / "people.csv"
    settings = {"api": forge.url, "model": "fake:rules", "sample": "6", "repos": repr(("acme/shop",))}
    first, cases = built("swr_bench", out, settings)
    changed = [name for name in sorted(cases) if cases[name].references]
    clean = [name for name in sorted(cases) if cases[name].clean]
    assert len(changed) == len(clean) == 6
    assert f"{len(cases)} items" in told(capsys, "annotate", "init", store, out, "--schema", "swr_bench")
    refused, trivial, retyped, spoiled = *changed[:3], clean[0]
    seen: list[Work] = []

    def says(work: Work) -> dict[tuple[int, str], str]:
        seen.append(work)
        case = work.item.subject.case
        answers = {(ITEM, "clean"): "no" if case in (*changed, spoiled) else "yes"}
        for part, subject in enumerate(work.item.parts):
            kept = next(one for one in cases[case].references if one.id == subject.reference)
            answers[part, "valid"] = "no" if case == refused else "yes"
            answers[part, "trivial"] = "yes" if case == trivial else "no"
            answers[part, "type"] = "F.2" if case == retyped else str(kept.category).partition(" ")[0]
        return answers

    judged(store, "ann", says)
    judged(store, "bob", says)
    assert all(work.item.exhibits for work in seen if work.item.parts), "they see the discussion and the commit"
    told(capsys, "annotate", "export", store, "-o", labels)
    assert "valid: " in told(capsys, "agree", labels)

    verified, kept = built("swr_bench", out, settings, labels=[labels])
    assert verified.benchmark != first.benchmark
    assert not {refused, trivial, spoiled} & kept.keys()
    assert kept[retyped].references[0].category == "F.2 Logic"
    assert kept[retyped].references[0].tier is Tier.CONFIRMED
    assert kept[retyped].references[0].extra["people"] == {
        "raters": ["ann", "bob"],
        "agreed": 2,
        "settled": "independent",
    }
    drops = [json.loads(line) for line in (out / "drops.jsonl").read_bytes().splitlines()]
    why = {(drop["item"], drop["reason"]) for drop in drops}
    assert (f"{refused}: {cases[refused].references[0].id}", "people found that it is not right") in why
    assert (spoiled, "people found that it is not clean") in why and (trivial, "only trivial change-points") in why
    counts = rows_of(verified)
    points = sum(len(cases[name].references) for name in changed)
    assert counts["extract_points", "comment"] == (points, points - len(cases[refused].references), 1, 0)
    assert counts["extract_points", "clean"][2] == 1
    assert {stage for stage, _ in counts} == {"extract_points"}, "each once, where it was decided"

    settings |= {"annotators": "2", "sample": "3"}
    last, drawn = built("swr_bench", out, settings, labels=[labels], replace=True)
    assert {case.facts["judged_by"] for case in drawn.values()} == {2}, (
        "the sample is drawn of those that were verified"
    )
    assert drawn.keys() <= cases.keys() and last.cases == len(drawn) <= 6
    again, _ = built("swr_bench", out, settings, labels=[labels])
    assert again.benchmark == last.benchmark


@pytest.mark.drill
def test_three_rounds_with_experts_verify_the_comments_of_aacr_bench(
    forge: Forge, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, store, labels = tmp_path / "bench", tmp_path / "people.db", tmp_path / "people.csv"
    (tmp_path / "repositories.csv").write_text(
        "name,language,stars,new_stars,issues_and_pulls,closed_pulls,active,language_share\n"
        "acme/shop,Python,900,900,5001,900,2025-03-20,0.97\nacme/rare,COBOL,900,800,9000,800,2025-03-20,0.9\n"
    )
    settings = {
        "api": forge.url,
        "model": "fake:rules",
        "sample": "4",
        "candidates": str(tmp_path / "repositories.csv"),
    }
    settings["reviewers"] = repr(("prompt(model='fake:example')",))
    first, cases = built("aacr_bench", out, settings)
    proposed = {(case.id, one.id) for case in cases.values() for one in case.neutral if one.same_as is None}
    known = {(case.id, one.id) for case in cases.values() for one in case.references}
    assert proposed and known
    (overlap,) = [one for one in first.sections if one.title == "Who found what"]
    assert [row[0] for row in overlap.rows] == ["people", "prompt(model='fake:example')"]
    assert sum(map(int, overlap.figures.values())) == len(known), "each reference, by how many proposed it"
    assert f"{len(proposed) + len(known)} items" in told(
        capsys, "annotate", "init", store, out, "--schema", "aacr_bench"
    )
    accepted, refused, argued = sorted(proposed)[:3]
    wrong, other = sorted(known)[:2]

    def says(work: Work) -> dict[tuple[int, str], str]:
        about = work.item.subject.case, str(work.item.subject.reference)
        right = about in (known | {accepted}) - {wrong}
        return {
            (ITEM, "correct"): "yes" if right else "no",
            (ITEM, "category"): "performance" if about == other else "defect",
            (ITEM, "needs"): "repo" if about == other else "diff",
        }

    def doubts(work: Work) -> dict[tuple[int, str], str]:
        about = work.item.subject.case, str(work.item.subject.reference)
        return {**says(work), (ITEM, "correct"): "yes"} if about == argued else says(work)

    judged(store, "ann", says)
    judged(store, "bob", doubts)
    assert judged(store, "eve", doubts, Role.EXPERT) == 1, "only what the two differ in, and without a discussion"
    told(capsys, "annotate", "export", store, "-o", labels)

    grown, after = built("aacr_bench", out, settings, labels=[labels])
    assert grown.benchmark != first.benchmark
    references = {(case.id, one.id): one for case in after.values() for one in case.references}
    rejected = {(case.id, one.id) for case in after.values() for one in case.rejected}
    assert {accepted, argued, other} <= references.keys() and {refused, wrong} <= rejected
    assert not any(case.neutral for case in after.values() if any(name == case.id for name, _ in proposed))
    assert references[accepted].extra["people"] == {"raters": ["ann", "bob"], "agreed": 2, "settled": "independent"}
    assert references[argued].extra["people"] == {"raters": ["ann", "bob"], "agreed": 1, "settled": "expert"}
    assert (references[other].category, str(references[other].needs)) == ("performance", "repo")
    counts = rows_of(grown)
    assert counts["generate", "comment"][0] == len(proposed)
    assert counts["generate", "comment"][2] == len(proposed) - 2
    assert set(counts) == {
        ("augment", "comment"),
        ("generate", "comment"),
        ("classify", "category"),
        ("classify", "context"),
    }


@pytest.mark.drill
def test_marks_in_the_tables_of_an_audit_overrule_the_model_too(forge: Forge, tmp_path: Path) -> None:
    out = tmp_path / "bench"
    settings = {"api": forge.url, "model": "fake:rules", "sample": "6", "repos": repr(("acme/shop",))}
    first, cases = built("swr_bench", out, settings, audit=50)
    refused = next(name for name in sorted(cases) if cases[name].references)
    number = refused.rpartition("/")[2]
    (table,) = (out / "audit").glob("*.csv")
    with table.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["correct"] = "n" if f"/pull/{number}\n" in row["shown"] else "y"
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    marked, kept = built("swr_bench", out, settings)
    assert refused not in kept and marked.benchmark != first.benchmark
    assert sum(int(str(row[0])) for row in rows_of(marked).values()) == len(rows)


@pytest.mark.drill
def test_decisions_are_items_by_their_kind(forge: Forge, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, store = tmp_path / "bench", tmp_path / "people.db"
    settings = {"api": forge.url, "model": "fake:rules", "sample": "6", "repos": repr(("acme/shop",))}
    _, cases = built("swr_bench", out, settings)
    clean = [name for name in cases if cases[name].clean]
    said = told(capsys, "annotate", "init", store, out, "--kind", "clean", "--raters", "1")
    decided = [json.loads(line) for line in (out / "decisions.jsonl").read_bytes().splitlines()]
    asked_of = [one for one in decided if one.get("kind") == "clean" and one["item"] in clean]
    assert f"{len(asked_of)} items" in said
    judged(store, "ann", lambda work: {(ITEM, "right"): "no"})
    told(capsys, "annotate", "export", store, "-o", tmp_path / "people.jsonl")
    card, kept = built("swr_bench", out, settings, labels=[tmp_path / "people.jsonl"])
    assert not {one["item"] for one in asked_of} & kept.keys()
    assert rows_of(card) == {("extract_points", "clean"): (len(asked_of), 0, len(asked_of), 0)}
    assert main(["annotate", "init", str(store), str(out), "--kind", "domain", "--project", "2"]) == 2
    assert "no model decided anything of these kinds in" in (said := capsys.readouterr().err)
    assert "(there is: clean, comment)" in said


@pytest.mark.drill
def test_merged_comments_are_items_and_come_apart(
    forge: Forge, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, store, labels = tmp_path / "bench", tmp_path / "people.db", tmp_path / "people.csv"
    settings = {"api": forge.url, "repos": repr(("acme/shop",))}
    stages = ["""generate(reviewers=("prompt(model='fake:example')", "prompt(model='fake:varied')"))""", "merge_same"]
    first, cases = built("pull_requests", out, settings, stages=stages)
    merged = {one.id for case in cases.values() for one in (*case.references, *case.neutral) if one.same_as}
    assert merged
    told(capsys, "annotate", "init", store, out, "--kind", "same", "--raters", "1")
    judged(
        store, "ann", lambda work: {(ITEM, "right"): "no" if work.item.exhibits[1].title.endswith(": same") else "yes"}
    )
    told(capsys, "annotate", "export", store, "-o", labels)
    apart, after = built("pull_requests", out, settings, stages=stages, labels=[labels])
    assert not [one.id for case in after.values() for one in (*case.references, *case.neutral) if one.same_as]
    assert apart.benchmark != first.benchmark and ("merge_same", "same") in rows_of(apart)


# --- one candidate ---------------------------------------------------------------------------------------------------

STAGE = Where(fact="year", at_least=2000)
CASE = Case(
    id="shop#1",
    change=Change(repo="acme/shop"),
    references=(Comment(id="a", body="Leaks."), Comment(id="b", body="Races.", same_as="a")),
    neutral=(Comment(id="c", body="Slow."),),
    verdict=False,
)


def label(value: str, rater: str, dimension: str = "correct", about: str = "a", round_: str | None = None) -> Label:
    kind = SubjectKind.COMMENT if about else SubjectKind.CHANGE
    subject = Subject(kind=kind, case="shop#1", reference=about or None)
    return Label(
        subject=subject, rater=rater, dimension=dimension, value=value, round=round_, consensus=round_ is not None
    )


def settled(*labels: Label, case: Case = CASE) -> tuple[Case | None, list[str]]:
    outputs = list(People(labels).settle([Candidate(case=case)]))
    kept = [Case.model_validate(one.case.model_dump()) for one in outputs if isinstance(one, Candidate)]
    return (kept[0] if kept else None), [one.reason for one in outputs if isinstance(one, Drop)]


def test_an_expert_counts_before_a_consensus_and_that_before_most_raters() -> None:
    votes = [label("no", "ann"), label("no", "bob"), label("yes", "cy")]
    assert settled(*votes)[0] != settled(*votes, label("yes", "all", round_="discussion"))[0]
    agreed, _ = settled(*votes, label("yes", "all", round_="discussion"))
    assert agreed is not None and agreed.references[0].extra["people"] == {
        "raters": ["ann", "bob", "cy"],
        "agreed": 1,
        "settled": "discussion",
    }
    last, _ = settled(*votes, label("yes", "all", round_="discussion"), label("no", "eve", round_="expert"))
    assert last is not None and [one.id for one in last.rejected] == ["a"]
    assert [(one.id, one.same_as) for one in last.references] == [("b", None)], "the rest of a finding stays one"


def test_raters_who_are_split_and_models_change_nothing() -> None:
    model = label("no", "gpt").model_copy(update={"rater_kind": RaterKind.MODEL})
    for said in ([label("yes", "ann"), label("no", "bob")], [model]):
        kept, _ = settled(*said)
        assert kept is not None and kept.references == CASE.references


def test_a_change_without_a_right_comment_leaves_unless_it_is_clean() -> None:
    wrong = [label("no", "ann", "valid", "a"), label("no", "ann", "valid", "b")]
    kept, why = settled(*wrong)
    assert kept is None and why[-1] == "people found none of its comments right"
    kept, _ = settled(*wrong, label("yes", "ann", "clean", ""))
    assert kept is not None and kept.clean and not kept.rejected
    assert settled(label("no", "ann", "clean", ""), case=kept)[1] == ["people found that it is not clean"]


def test_what_a_model_dropped_comes_back_and_classes_are_taken_away() -> None:
    before = Candidate(case=CASE)
    made = Decision(item="shop#1", by="where", shown="x", decided="low").on(DecisionKind.COMMENT, "a")
    subject = Subject(kind=SubjectKind.CHANGE, case=decision_id(made))
    people = People([Label(subject=subject, rater="ann", dimension="right", value="no")])
    outputs = list(people.overrule(STAGE, before, [made, Drop(item="shop#1", by="where", reason="low")]))
    (back,) = [one for one in outputs if isinstance(one, Candidate)]
    assert [one.id for one in back.case.references] == ["a"] and back.case.references[0].tier is Tier.CONFIRMED
    assert not any(isinstance(one, Drop) for one in outputs)
    typed = before.with_case(references=(CASE.references[0].model_copy(update={"category": "security"}),))
    made = Decision(item="shop#1", by="where", shown="x", decided="security").on(DecisionKind.CATEGORY, "a")
    subject = Subject(kind=SubjectKind.CHANGE, case=decision_id(made))
    people = People([Label(subject=subject, rater="ann", dimension="right", value="no")])
    (_, after) = people.overrule(STAGE, typed, [made, typed])
    assert isinstance(after, Candidate) and after.case.references[0].category is None


def test_judgements_about_nothing_here_are_a_warning() -> None:
    people = People([label("yes", "ann", about="gone")])
    assert list(people.settle([Candidate(case=CASE)])) == [Candidate(case=CASE)]
    section = people.section()
    assert section is not None and section.warnings == ("1 judgements of people are about nothing in this build",)
