"""`reviewgauge agree`, as a user types it."""

from __future__ import annotations

from pathlib import Path

import pytest

import reviewgauge
from reviewgauge.cli.main import main
from reviewgauge.core.labels import Label, Subject, SubjectKind
from reviewgauge.core.records import Case, Change
from reviewgauge.core.reports.agreement import AgreementReport

RATERS = (("Ada", "human"), ("Bo", "human"), ("gpt", "model"))


def rows() -> list[str]:
    """Thirty reviews: whether they hit and how severe, by two people and a model that is often one off."""
    found = ["id,system,rater,kind,dimension,value,batch"]
    for at in range(30):
        for rater, kind in RATERS:
            wrong = (rater == "Bo" and at % 6 == 0) or (rater == "gpt" and at % 3 == 0)
            batch = "first" if at < 12 else "second"
            found.append(f"pr-{at},bot,{rater},{kind},hit,{'no' if (at % 2 == 0) is not wrong else 'yes'},{batch}")
            found.append(f"pr-{at},bot,{rater},{kind},severity,{at % 5 + 1 + wrong},{batch}")
    return found


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "votes.csv"
    file.write_text("\n".join(rows()) + "\n", encoding="utf-8")
    return file


def said(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> str:
    assert main(["agree", *map(str, arguments)]) == code
    done = capsys.readouterr()
    return done.err if code else done.out


def values(report: AgreementReport, dimension: str) -> dict[str, float | None]:
    (one,) = (one for one in report.dimensions if one.dimension == dimension)
    return {c.name: c.figure.value for c in one.coefficients}


@pytest.mark.usefixtures("hundred_columns")
def test_a_csv_of_votes(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, table, "--resamples", 100)
    assert "hit: 30 of 30 items with two raters or more, 90 labels" in text
    assert "raters: 2 humans (Ada, Bo), 1 model (gpt)" in text
    assert "pairs of raters: Krippendorff's alpha (ordinal) above the diagonal, within 1 below" in text
    assert "first" in text and "second" in text
    assert "votes.csv; 95% intervals from 100 resamples of whole cases, seed 0" in text
    assert str(table.parent) not in text
    assert max(len(line) for line in text.splitlines()) <= 100


def test_choices_narrow_the_labels(table: Path) -> None:
    people = reviewgauge.agree(table, kinds=["human"], dimensions=["hit"], batches=["first"], resamples=10)
    (one,) = people.dimensions
    assert (one.kinds, one.judged_twice) == ({"Ada": "human", "Bo": "human"}, 12)
    assert one.left_out == {"of another batch": 54, "by a model": 12}
    assert values(people, "hit")["Cohen's kappa"] == pytest.approx(1 - (2 / 12) / 0.5)
    wide = values(reviewgauge.agree(table, tolerance=0.5, resamples=0), "severity")
    assert wide["within 0.5"] == wide["percent agreement"] < 1.0  # type: ignore[operator]
    codes = reviewgauge.agree(table, nominal=["severity"], resamples=0)
    assert "Krippendorff's alpha (ordinal)" not in values(codes, "severity")


def _labels() -> list[Label]:
    return [
        Label(
            subject=Subject(kind=SubjectKind.REVIEW, case=f"pr-{at}", system="bot"),
            rater=rater,
            dimension="useful",
            value=at % 3 + (rater == "Bo" and at % 4 == 0),
        )
        for at in range(30)
        for rater in ("Ada", "Bo")
    ]


def test_files_of_labels_and_of_cases(tmp_path: Path) -> None:
    labels = _labels()
    (tmp_path / "labels.jsonl").write_bytes(b"".join(one.to_line() for one in labels))
    expected = values(reviewgauge.agree(labels, resamples=0), "useful")
    assert values(reviewgauge.agree(tmp_path / "labels.jsonl", resamples=0), "useful") == expected
    assert values(reviewgauge.agree(tmp_path, resamples=0), "useful") == expected  # a folder that holds them
    claims = [
        Label(subject=Subject(kind=SubjectKind.CLAIM, case=case, claim="c"), rater="Ada", dimension="claim", value=word)
        for case, word in (("pr-0", "correct"), ("pr-1", "incorrect"))
    ]
    own = [
        Case(
            id=f"pr-{at}",
            change=Change(repo="shop"),
            facts={"language": ("Go", "Java")[at % 2]},
            labels=tuple(one for one in (*claims, *labels) if one.subject.case == f"pr-{at}"),
        )
        for at in range(30)
    ]
    (tmp_path / "cases.jsonl").write_bytes(b"".join(case.to_line() for case in own))
    found = reviewgauge.agree(tmp_path / "cases.jsonl", resamples=0)
    assert values(found, "useful") == expected and found.source == "cases.jsonl"
    assert [one.language for one in found.claims] == ["Go", "Java", ""]


@pytest.mark.parametrize(("content", "words"), [
    ("id,rater,dimension,value\nx,Ada,hit,1\nx,Ada,hit,2\n", "'Ada' judged 'x' in 'hit' twice"),
    ("id,rater,dimension,value\nx,Ada,hit,nan\ny,Bo,hit,2\n", "line 2"),
    ("id,rater,dimension,value\n", "holds no label"),
    ("id,rater,dimension,value,consensus\nx,Ada,hit,1,true\n", "consensus labels only (1)"),
])  # fmt: skip
def test_bad_labels_are_one_clear_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, words: str
) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(content, encoding="utf-8")
    text = said(capsys, file, code=2)
    assert text.startswith("error: ") and words in text and text.count("\n") == 1


@pytest.mark.parametrize(("arguments", "words"), [
    (("nothing.csv",), "there is nothing at nothing.csv"),
    (("crscore",), "crscore"),
    (("sample",), "sample has no labels"),
    (("sample", "--tolerance", "-1"), "tolerance must be 0 or more, got -1"),
    (("sample", "--kind", "robot"), "robot"),
])  # fmt: skip
def test_bad_words_are_one_clear_line(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    text = said(capsys, *arguments, code=2)
    assert text.startswith("error: ") and words in text and text.count("\n") == 1


def test_names_from_data_cannot_steer_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.jsonl"
    nasty = "\x1b[31m[bold]Eve[/bold]\u202e"
    changed = [
        one.model_copy(update={"rater": nasty, "batch": nasty}) if one.rater == "Bo" else one for one in _labels()
    ]
    file.write_bytes(b"".join(one.to_line() for one in changed))
    text = said(capsys, file, "--resamples", 10)
    assert "[bold]Eve[/bold]" in text
    assert "\x1b" not in text and "\u202e" not in text
