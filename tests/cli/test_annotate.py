"""The verbs of `annotate`, and what they say of mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from annotation_toys import desk_of, judge_all, small_cases
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.projects import find_project
from reviewgauge.cli.main import main


def init(where: Path, *more: str) -> int:
    return main(["annotate", "init", str(where), "sample", "--schema", "grade", "--limit", "4", "--raters", "2", *more])


def test_labels_travel_from_one_store_to_another(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two, file = tmp_path / "one.db", tmp_path / "two.db", tmp_path / "labels.csv"
    assert init(one) == init(two) == 0
    with Database.open(one) as database:
        for name in ("Ann", "Bob"):
            judge_all(desk_of(database, find_project(database), name))
    assert main(["annotate", "export", str(one), "-o", str(file)]) == 0
    assert main(["annotate", "import", str(two), str(file)]) == 0
    assert main(["annotate", "export", str(two), "-o", str(tmp_path / "again.csv")]) == 0
    assert (tmp_path / "again.csv").read_bytes() == file.read_bytes()
    assert main(["agree", str(file), "--resamples", "0"]) == 0
    capsys.readouterr()
    assert main(["annotate", "status", str(two), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["done"] == 4


def test_the_audit_log_is_harmless(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = tmp_path / "one.db"
    assert init(where) == 0
    with Database.open(where) as database:
        judge_all(desk_of(database, find_project(database), "Ann"), most=1)
        with database.writing() as connection:
            database.log(connection, None, "wrong password", address="\x1b]0;owned\x07")
    capsys.readouterr()
    assert main(["annotate", "audit", str(where)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ", 2)[1:] for line in lines[1:3]] == [
        ["Ann", "take: slot 1"],
        ["Ann", "judge: slot 1, judgement 1"],
    ]
    assert "\x1b" not in lines[3]
    assert main(["annotate", "audit", str(where), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["lines"][2]["account"] == "Ann"


def test_reviews_that_cannot_be_read_are_not_taken_for_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = small_cases(1)[0]
    (tmp_path / "cases.jsonl").write_bytes(case.to_line())
    words = ["annotate", "init", str(tmp_path / "one.db"), str(tmp_path), "--schema", "comments"]
    (tmp_path / "reviews.jsonl").write_text("{no review}\n", encoding="utf-8")
    assert main(words) == 2
    assert "reviews.jsonl, line 1" in capsys.readouterr().err
    (tmp_path / "reviews.jsonl").unlink()
    assert main(words) == 0  # its references


@pytest.mark.parametrize(("words", "says"), [
    (["status", "none.db"], "there is no file"),
    (["status", "mysql://x/y"], "mysql is not supported"),
    (["export", "one.db", "-o", "x.xlsx"], "neither a .csv nor a .jsonl"),
    (["serve", "one.db", "--host", "0.0.0.0"], "other machines"),
    (["serve", "one.db", "--url", "https://a.example/b"], "not an address"),
    (["init", "one.db", "sample", "--schema", "grade"], "there is a project 'main'"),
    (["init", "one.db", "sample", "--schema", "nothing"], "there is no schema"),
    (["status", "one.db", "--project", "x"], "--project: main"),
    (["status", "other.db"], "not a store"),
])  # fmt: skip
def test_mistakes_are_named(
    words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert init(Path("one.db")) == 0
    Path("other.db").touch()
    assert main(["annotate", *words]) == 2
    assert says in capsys.readouterr().err
