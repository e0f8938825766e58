"""The agent contract of ReviewBench: its variables and files, and what of an agent's answer is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.records import Change
from reviewgauge.core.results import Failed
from reviewgauge.reviewers.programs.contract import HANDED_OVER, PATHS, check_findings, hand_over, settings

BASE, HEAD = "b" * 40, "a" * 40


@pytest.mark.parametrize(
    ("repo", "url", "name", "nwo", "number"),
    [
        ("acme/shop", "https://github.com/acme/shop/pull/1938", None, "acme/shop", "1938"),
        ("acme/shop", None, "acme/shop#12", "acme/shop", "12"),
        ("a/b/c", "https://example.org/pull/x", None, "local/a_b_c", "1"),
    ],
)
def test_every_variable_and_file_of_the_contract_is_there(
    tmp_path: Path, repo: str, url: str | None, name: str | None, nwo: str, number: str
) -> None:
    diff = tmp_path / "change.diff"
    diff.write_text("diff --git a/x b/x\n")
    change = Change(id=name, repo=repo, url=url, title='A "title"', description="two\nlines")
    words = {"base": BASE, "head": HEAD, "diff": str(diff), "workspace": "/checkout"}
    found = hand_over(change, words, "mine", tmp_path)
    assert set(found) == {*HANDED_OVER, *PATHS}
    assert {key: found[key] for key in ("RB_NWO", "RB_PR_NUMBER", "RB_BASE", "RB_HEAD", "RB_AGENT", "RB_ATTEMPT")} == {
        "RB_NWO": nwo,
        "RB_PR_NUMBER": number,
        "RB_BASE": BASE,
        "RB_HEAD": HEAD,
        "RB_AGENT": "mine",
        "RB_ATTEMPT": "1",
    }
    assert Path(found["RB_DIFF"]).read_text() == "diff --git a/x b/x\n"
    assert Path(found["RB_OUT"]).parent.is_dir()
    assert not Path(found["RB_OUT"]).exists()
    assert json.loads(Path(found["RB_PR_JSON"]).read_text()) == {
        "repo": f"https://github.com/{nwo}",
        "pr_number": int(number),
        "base": BASE,
        "head": HEAD,
        "nwo": nwo,
        "title": 'A "title"',
        "body": "two\nlines",
    }


def test_settings_become_variables() -> None:
    assert settings(("model=gpt-5.5", "max-tokens=9", "a=")) == {
        "RB_CONFIG_MODEL": "gpt-5.5",
        "RB_CONFIG_MAX_TOKENS": "9",
        "RB_CONFIG_A": "",
    }
    for wrong in ("model", "=x", "1a=b", "a b=c", "a=" + "x" * 65, "a=b\nc"):
        with pytest.raises(UserError, match="is not a setting"):
            settings((wrong,))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("not json", "is not valid JSON"),
        ('{"findings": []}', "field pr: is missing"),
        (json.dumps({"pr": {"head": BASE, "pr_number": 8}}), "is not the RB_HEAD .*, and 8 is not the RB_PR_NUMBER 7"),
        (json.dumps({"pr": {"head": HEAD, "pr_number": 7.5}}), "whole number"),
    ],
)
def test_findings_about_something_else_are_refused(text: str, words: str) -> None:
    variables = {"RB_HEAD": HEAD, "RB_PR_NUMBER": "7"}
    good = {"pr": {"head": HEAD, "pr_number": "7"}, "findings": []}
    check_findings(json.dumps(good).encode(), variables)
    with pytest.raises((BadInput, Failed), match=words):
        check_findings(text.encode(), variables)
