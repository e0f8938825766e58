"""Projects from an audit, points, claims and recorded labels, through the verbs; and who reads what comes back."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path

import pytest

from annotation_client import Client, served
from annotation_toys import add_rater, desk_of, next_of, small_cases, small_reviews
from history_builder import Told
from judged_toys import study, write_study
from reviewgauge.annotation.schemas.schema import Answer
from reviewgauge.annotation.store.accounts import find_account
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.projects import find_project
from reviewgauge.annotation.store.rater_session import RaterSession, Work
from reviewgauge.api.agree import agree
from reviewgauge.api.build import build
from reviewgauge.api.review import review
from reviewgauge.api.score import score
from reviewgauge.cli.main import main
from reviewgauge.core.parsing import parse_record
from reviewgauge.core.records import Case, Comment, Tier
from reviewgauge.core.reports.agreement import AgreementReport
from reviewgauge.engine.review import import_reviews
from reviewgauge.engine.run.folder import RunFolder


def told(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """What a command prints."""
    capsys.readouterr()
    code = main([str(word) for word in words])
    said = capsys.readouterr()
    assert code == 0, said.err
    return said.out


def judged(where: Path, name: str, says: Callable[[Work], list[Answer]], *, talk: bool = False) -> int:
    """Let somebody judge all there is, and with `talk` what is discussed; `says` makes the answers out of the work."""
    with Database.open(where) as database:
        with database.reading() as connection:
            known = find_account(connection, name)
        return hand_in(RaterSession(database, find_project(database), known or add_rater(database, name)), says, talk)


def hand_in(desk: RaterSession, says: Callable[[Work], list[Answer]], talk: bool) -> int:
    done = 0
    while (slot := desk.next()) is not None:
        work, key = desk.work(slot), f"{desk.account.name}-{slot:08}"
        if work.round != "independent" and not talk:
            break
        if work.confirms:
            desk.conclude(slot, key, agreed=True, reason="")
        else:
            desk.submit(slot, key, says(work), reason=f"so says {desk.account.name}")
        done += 1
    return done


# --- the audit of a build ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Two defects that were fixed, and a clean change."""
    found = Told(tmp_path_factory.mktemp("shops") / "shop")
    found.commit("begin", {"README.md": "shop\n"})
    found.commit("Add total", {"shop/total.py": "def total(items):\n    return sum(items[1:])\n"})
    found.commit("Add tax", {"shop/tax.py": "def tax(amount):\n    return amount * 1.19\n"})
    found.commit("Add names", {"shop/names.py": "def names(given):\n    return sorted(given)\n"})
    found.commit("Fix total forgetting the first item", {"shop/total.py": "def total(items):\n    return sum(items)\n"})
    found.commit("Fix tax that adds the amount", {"shop/tax.py": "def tax(amount):\n    return amount * 0.19\n"})
    found.quiet(500)
    return found


def about(work: Work, *refused: str) -> list[Answer]:
    return [Answer(dimension="right", value="no" if work.change.title in refused else "yes")]


@pytest.mark.drill
def test_checked_labels_come_back_into_the_build(
    shop: Told, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench, store = tmp_path / "bench", tmp_path / "audit.db"
    build(shop.folder, out=bench, audit=4)
    assert "4 items of 4 changes" in told(capsys, "annotate", "init", store, bench)
    seen: dict[str, Work] = {}
    judged(store, "Ann", lambda work: (seen.update({work.change.title: work}), about(work))[1])
    judged(store, "Bob", lambda work: about(work, "Add tax"))
    label, clean = seen["Add total"].item, seen["Add names"].item
    assert label.exhibits[1].text.startswith("Fix total forgetting the first item")
    assert label.exhibits[1].files[0].path == "shop/total.py" and label.references[0].span is not None
    title = clean.exhibits[-1].title
    landed = shop.git("log", "--format=%cI", "--grep=Add names").split()[-1]
    watched = date.fromisoformat(title[-10:]) - datetime.fromisoformat(landed).date()
    assert title.startswith("Commits that touched its lines") and watched.days == 180
    assert "labels-ann.csv" in told(capsys, "annotate", "export", store, "-o", bench)
    card = build(shop.folder, out=bench).card
    assert card is not None
    (section,) = [one for one in card.sections if one.by == "check_labels"]
    assert section.figures["raters"] == 2 and section.figures["labels on which raters are split"] == 1
    assert section.figures["agreement of the raters: percent agreement"] == 0.75

    assert judged(store, "Bob", lambda work: about(work, "Add tax"), talk=True) == 1
    assert judged(store, "Ann", about, talk=True) == 1, "who confirms what Bob proposes"
    told(capsys, "annotate", "export", store, "-o", bench)
    card = build(shop.folder, out=bench).card
    assert card is not None
    (section,) = [one for one in card.sections if one.by == "check_labels"]
    assert section.figures["raters"] == 2, "a consensus is no rater"
    assert section.figures["labels that hold"] == 1 and section.figures["labels checked"] == 2
    cases = {case.change.title: case for case in read_cases(bench)}
    assert "Add tax" not in cases and cases["Add total"].references[0].tier is Tier.CONFIRMED
    review(str(bench), "analyser", run=tmp_path / "run")
    (board,) = score(tmp_path / "run").leaderboards
    assert any("labels: 1 of 2 checked hold" in warning for warning in board.warnings)


def read_cases(bench: Path) -> list[Case]:
    lines = (bench / "cases.jsonl").read_bytes().splitlines()
    return [parse_record(Case, line, "cases.jsonl", number) for number, line in enumerate(lines, 1)]


@pytest.mark.drill
def test_a_models_decisions_are_checked_by_three(
    shop: Told, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As ContextCRBench has its filter checked: three people on their own, and what most of them say."""
    bench, store = tmp_path / "bench", tmp_path / "filter.db"
    stage = "classify(model='fake:rules', what='domain')"
    build(shop.folder, out=bench, stages=[stage], audit=3)
    (table,) = (bench / "audit").glob("classify*.csv")
    told(capsys, "annotate", "init", store, table, "--raters", "3")
    shown: dict[str, Work] = {}
    judged(store, "Ann", lambda work: (shown.update({work.item.subject.case: work}), about(work))[1])
    judged(store, "Bob", about)
    first = next(iter(shown))
    judged(
        store, "Cy", lambda work: [Answer(dimension="right", value="no" if work.item.subject.case == first else "yes")]
    )
    assert "What was decided" in shown[first].item.exhibits[1].title and shown[first].item.exhibits[0].text
    told(capsys, "annotate", "export", store, "-o", bench)
    card = build(shop.folder, out=bench, stages=[stage]).card
    assert card is not None
    (section,) = [one for one in card.sections if one.title.startswith("Audit of classify")]
    assert (section.figures["raters"], section.figures["right"]) == (3, 3)
    assert section.figures["agreement of the raters: percent agreement"] == 0.7778
    assert "agreement of the raters: Fleiss' kappa" in section.figures


# --- points, reports, claims ---------------------------------------------------------------------------------------


@pytest.mark.drill
def test_change_points_are_verified_by_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As SWR-Bench has its change-points checked: how many hold, and how far two people agree."""
    bench, store, out = tmp_path / "cases.jsonl", tmp_path / "points.db", tmp_path / "points.csv"
    bench.write_bytes(b"".join(case.to_line() for case in small_cases(10)))
    told(capsys, "annotate", "init", store, bench, "--schema", "points", "--raters", "2")

    def says(work: Work, wrong: set[str]) -> list[Answer]:
        bad = work.item.subject.case in wrong
        kind = [
            Answer(part=0, dimension=name, value=value) for name, value in (("type", "functional"), ("severity", 6))
        ]
        more = [] if bad else [*kind, Answer(part=0, dimension="trivial", value="no")]
        return [
            Answer(part=0, dimension="valid", value="no" if bad else "yes"),
            *more,
            Answer(dimension="clean", value="no"),
        ]

    judged(store, "Ann", lambda work: says(work, {"shop#3"}))
    judged(store, "Bob", lambda work: says(work, {"shop#3", "shop#4"}))
    told(capsys, "annotate", "export", store, "-o", out)
    report = AgreementReport.model_validate_json(
        told(capsys, "agree", out, "--dimension", "valid", "--resamples", "0", "--json")
    )
    (valid,) = report.dimensions
    assert valid.items == 10
    assert next(one.figure.value for one in valid.coefficients if one.name == "percent agreement") == 0.9


@pytest.mark.drill
def test_reports_drawn_at_random_are_judged_beside_the_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, store, out = tmp_path / "run", tmp_path / "reports.db", tmp_path / "people.csv"
    known = tuple(
        Comment(id=name, category=kind, body=body)
        for name, kind, body in (("K1", "F.2 Logic", "The discount is computed wrong"), ("K2", "E.2", "Odd blanks"))
    )
    cases = [case.model_copy(update={"references": known}) for case in small_cases(8)]
    cases[0] = cases[0].model_copy(update={"references": ()})  # and nothing is said of it: nobody can judge that
    said = "- The discount is computed wrong\n- The tax logic crashes for guests"
    with RunFolder.create(run, dataset="made", dataset_path="", cases=cases) as made:
        found = [one.model_copy(update={"comments": (Comment(id="c", body=said),)}) for one in small_reviews(cases)]
        found = [one.model_copy(update={"comments": ()}) if one.case == cases[0].id else one for one in found]
        import_reviews(made, found, source="made", pins={})
    told(capsys, "score", run, "points(model='fake:rules')")
    told(capsys, "annotate", "init", store, run, "--limit", "7", "--raters", "2")

    def says(work: Work) -> list[Answer]:
        answers = []
        for part, (subject, kind) in enumerate(zip(work.item.parts, work.item.kinds, strict=True)):
            values = (
                {"hit": "yes" if subject.claim == "K1" else "no"} if kind == "known" else {"type": "F.2", "severity": 4}
            )
            answers += [Answer(part=part, dimension=name, value=value) for name, value in values.items()]
        return answers

    assert judged(store, "Ann", says) == judged(store, "Bob", says) == 7
    told(capsys, "annotate", "export", store, "-o", out)
    report = AgreementReport.model_validate_json(
        told(capsys, "agree", run, "--labels", out, "--resamples", "0", "--json")
    )
    assert {one.dimension: (len(one.kinds), one.items) for one in report.dimensions} == {
        "hit": (3, 14),
        "type": (3, 14),
        "severity": (3, 14),
    }


def test_checked_claims_are_those_that_reviews_are_judged_by(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench, store, out = tmp_path / "bench", tmp_path / "claims.db", tmp_path / "claims.csv"
    bench.mkdir()
    cases = small_cases(2)
    (bench / "cases.jsonl").write_bytes(b"".join(case.to_line() for case in cases))
    (bench / "reviews.jsonl").write_bytes(b"".join(one.to_line() for one in small_reviews(cases)))
    told(capsys, "annotate", "init", store, bench, "--schema", "claims", "--raters", "1")

    def says(work: Work) -> list[Answer]:
        wrong = [
            Answer(part=1, dimension=name, value=value)
            for name, value in (("accuracy", "incorrect"), ("error", "reasoning"))
        ]
        return [
            Answer(part=0, dimension="accuracy", value="correct"),
            *wrong,
            Answer(dimension="missing", value="Empty carts."),
        ]

    judged(store, "Ann", says)
    told(capsys, "annotate", "export", store, "-o", out)
    assert "claims, accuracy: 4 of 2 changes" in told(capsys, "agree", out, "--resamples", "0")
    told(capsys, "annotate", "init", store, bench, "--schema", "quality", "--project", "quality", "--labels", out)
    with Database.open(store) as database:
        desk = desk_of(database, find_project(database, "quality"), "Bob")
        slot = next_of(desk)
        assert [one.body for one in desk.work(slot).item.part_texts] == ["Adds a variable.", "Empty carts."]


@pytest.mark.drill
def test_validate_holds_a_metric_against_grades_of_this_service(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, out = tmp_path / "grades.db", tmp_path / "grades.csv"
    bench = write_study(tmp_path / "mine", study(6), labels=False)
    told(capsys, "annotate", "init", store, bench, "--schema", "grade", "--raters", "2", "--batch", "24")
    judged(store, "Ann", lambda work: [Answer(dimension="grade", value=1 + work.number % 4)])
    judged(store, "Bob", lambda work: [Answer(dimension="grade", value=2 + work.number % 4)])
    told(capsys, "annotate", "export", store, "-o", out)
    words = ("--labels", out, "-o", tmp_path / "validity", "--resamples", "20", "--folds", "2", "--no-report", "--json")
    found = json.loads(told(capsys, "validate", bench, "exact_match", *words))
    (grade,) = found["report"]["labels"]
    assert (grade["dimension"], grade["raters"]) == ("grade", {"Ann": 24, "Bob": 24})


# --- recorded labels -----------------------------------------------------------------------------------------------


def alpha(report: AgreementReport, dimension: str, name: str) -> str:
    (found,) = [one for one in report.dimensions if one.dimension == dimension]
    value = next(one.figure.value for one in found.coefficients if one.name == name)
    return f"{value:.4f}"


@pytest.mark.drill
def test_the_agreement_that_crscore_published_comes_out(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, store, out = shared_data / "crscore", tmp_path / "crscore.db", tmp_path / "ratings.csv"
    words = ("crscore_study", "--from", data, "--schema", "quality", "--labels", "agreement")
    said = told(capsys, "annotate", "init", store, *words)
    assert "190 items of 19 changes, with 380 judgements of 2 raters" in said
    assert "80 labels are left out: addressed of something else" in said  # claims of an older list
    assert "batch 1 (800-899): 180 of 180 judgements" in told(capsys, "annotate", "status", store)
    told(capsys, "annotate", "export", store, "-o", out)
    published = agree(out, batches=["800-899"], resamples=0)
    values = [alpha(published, name, "Krippendorff's alpha (ordinal)") for name in ("con", "comp", "rel")]
    assert values == ["0.8868", "0.8505", "0.8806"]
    told(capsys, "annotate", "init", store, *words, "--project", "first", "--limit", "90")
    with Database.open(store) as database, served(database, find_project(database, "first")) as (origin, link):
        owner = Client(origin)
        owner.send(link.removeprefix(origin))
        page = owner.send("/agreement").text
    assert all(value in page for value in (".8868", ".8505", ".8806"))


def test_a_consensus_without_votes_is_a_consensus(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """GradedReviews published what its raters agreed on, and not what each said before."""
    store, out = tmp_path / "graded.db", tmp_path / "graded.csv"
    words = ("graded_reviews", "--from", shared_data / "graded-reviews", "--schema", "grade", "--limit", "40")
    told(capsys, "annotate", "init", store, *words, "--labels", "recorded")
    assert "40 of 40 items are done" in told(capsys, "annotate", "status", store)
    told(capsys, "annotate", "export", store, "-o", out)
    rows = list(csv.DictReader(out.open()))
    assert {(row["rater"], row["consensus"], row["written_by"]) for row in rows} == {("consensus", "true", "authors")}
    capsys.readouterr()
    assert main(["agree", str(out)]) == 2
    assert "consensus labels only" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["sample"], "--schema is required"),
        (["sample", "--schema", "grade", "--labels", "recorded"], "name a file of labels"),
        (["sample", "--schema", "reports"], "there is nothing to judge"),
        (["sample", "--schema", "grade", "--labels", "other.csv"], "no label answers a question"),
    ],
)
def test_what_cannot_be_made_is_said(
    words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("other.csv").write_text("id,rater,dimension,value\nx,Ann,fun,1\n")
    assert main(["annotate", "init", "new.db", *words]) == 2
    assert says in capsys.readouterr().err
    assert not Path("new.db").exists()
