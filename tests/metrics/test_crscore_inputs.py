"""What CRScore says of odd input, from files to scores. None is not zero."""

from __future__ import annotations

import json
from typing import Any

import pytest

import reviewgauge
from reviewgauge.core.records import Case, Change, ChangedFile, Claim, Comment, Review

PATCH = "@@ -1,2 +1,2 @@\n def ship(weight):\n-    return weight > 10\n+    return weight >= 10\n"
COBOL = "@@ -1,2 +1,2 @@\n 100-SHIP.\n-    IF WEIGHT > 10 PERFORM PAY.\n+    IF WEIGHT >= 10 PERFORM PAY.\n"
BROKEN = "@@ -1,2 +1,2 @@\n def ((((\n-    ]]} weight > 10 {{{ `\n+    ]]} weight >= 10 {{{ `\n"
MANY = tuple(Claim(id=str(at), body=f"The constant number {at} is changed.") for at in range(500))
ASKS = "Should the weight be >= 10?"


def case(name: str, path: str, patch: str | None, claims: tuple[Claim, ...] = ()) -> Case:
    return Case(id=name, change=Change(repo="o/r", files=(ChangedFile(path=path, patch=patch),)), claims=claims)


CASES = {
    "no claims, no diff": (case("a", "ship.py", None), ASKS),
    "no claims to make": (case("b", "ship.py", "@@ -1 +1 @@\n x = 1\n"), ASKS),
    "claims without words": (case("c", "ship.py", PATCH, (Claim(id="1", body=" "),)), ASKS),
    "silence": (case("d", "ship.py", PATCH), None),
    "no sentence": (case("e", "ship.py", PATCH), "👍 !!"),
    "only an address": (case("f", "ship.py", PATCH), "https://example.org/ship/weight.py#L10"),
    "only code": (case("g", "ship.py", PATCH), "```suggestion\nreturn weight >= 10\n```"),
    "another natural language": (case("h", "ship.py", PATCH), "重量の比較が変わった理由は？"),
    "another language with a name": (case("i", "ship.py", PATCH), "Warum wird `weight` mit 10 verglichen?"),
    "500 claims": (case("j", "ship.py", PATCH, MANY), "Why is number 77 changed?"),
    "a million pairs": (case("k", "ship.py", PATCH, MANY), "Why? " * 2001),
    "a language without a grammar": (case("l", "ship.cob", COBOL), ASKS),
    "code that no parser accepts": (case("m", "ship.py", BROKEN), ASKS),
}


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The line of scores.jsonl of each case."""
    folder = tmp_path_factory.mktemp("inputs")
    reviews = [
        Review(case=one.id, system="s", comments=() if text is None else (Comment(id="k", body=text),))
        for one, text in CASES.values()
    ]
    (folder / "cases.jsonl").write_bytes(b"".join(one.to_line() for one, _ in CASES.values()))
    (folder / "reviews.jsonl").write_bytes(b"".join(one.to_line() for one in reviews))
    reviewgauge.review(str(folder), "recorded", run=folder / "run")
    reviewgauge.score(folder / "run", "crscore")
    lines = map(json.loads, (folder / "run" / "scores.jsonl").read_text(encoding="utf-8").splitlines())
    names = {one.id: name for name, (one, _) in CASES.items()}
    return {names[line["case"]]: line for line in lines}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("no claims, no diff", "the case has no claims and no diff to make them from"),
        ("no claims to make", "there is nothing to claim about the change"),
        ("claims without words", "there is nothing to claim about the change"),
        ("a million pairs", "too many to pair: 500 claims with 2,001 sentences"),
    ],
)
def test_what_cannot_be_compared_has_a_reason_and_no_number(
    scored: dict[str, dict[str, Any]], name: str, reason: str
) -> None:
    assert scored[name].get("parts") is None and scored[name].get("failure") is None
    assert scored[name]["reason"].startswith(reason)


@pytest.mark.parametrize("name", ["silence", "no sentence", "only an address", "another natural language"])
def test_what_says_nothing_of_the_change_is_a_zero(scored: dict[str, dict[str, Any]], name: str) -> None:
    assert scored[name]["parts"] == {"con": 0.0, "comp": 0.0, "rel": 0.0}


@pytest.mark.parametrize(
    "name", ["only code", "another language with a name", "a language without a grammar", "code that no parser accepts"]
)
def test_what_shares_words_with_the_change_has_a_number(scored: dict[str, dict[str, Any]], name: str) -> None:
    assert 0 < scored[name]["parts"]["rel"] <= 1


def test_all_claims_count_however_many(scored: dict[str, dict[str, Any]]) -> None:
    found = scored["500 claims"]
    assert len(found["coverage"]["claims"]) == 500
    assert found["parts"]["comp"] == pytest.approx(found["parts"]["con"] / 500)


@pytest.mark.parametrize("name", ["a language without a grammar", "code that no parser accepts"])
def test_what_no_parser_reads_is_told_line_by_line(scored: dict[str, dict[str, Any]], name: str) -> None:
    (claim,) = scored[name]["coverage"]["claims"]
    assert claim["body"].startswith("The line changes from `") and (claim["source"], claim["line"]) == ("diff", 2)
