from __future__ import annotations

import shlex
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import documented
import reviewgauge
from reviewgauge.api.gate import split_measure
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Review, Span


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two scored runs of the sample: parrot, which is bad, and analyser, which is better; and both in one."""
    home = tmp_path_factory.mktemp("runs")
    for name, reviewer in (("old", "analyser"), ("new", "silent"), ("both", "silent")):
        if name == "both":
            shutil.copytree(home / "old", home / name)
        reviewgauge.review("sample", reviewer, run=home / name)
        reviewgauge.score(home / name, "hits", resamples=50)
    return home


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return documented.run(shlex.join(["reviewgauge", "gate", *arguments]), Path(arguments[0]).parent)


@pytest.mark.slow
def test_silence_does_not_replace_an_analyser_and_ci_is_told(runs: Path, tmp_path: Path) -> None:
    files = ["--markdown", str(tmp_path / "gate.md"), "--junit", str(tmp_path / "gate.xml")]
    done = run(str(runs / "new"), "--baseline", str(runs / "old"), "--metric", "hits.f1", "--margin", ".02", *files)
    assert done.returncode == 1, done.stderr
    assert "WORSE" in done.stdout
    assert "baseline\\: analyser" in (tmp_path / "gate.md").read_text("utf-8")
    assert ET.parse(tmp_path / "gate.xml").getroot().get("failures") == "1"


def test_the_other_way_round_passes_and_a_wide_margin_too(runs: Path) -> None:
    assert run(str(runs / "old"), "--baseline", str(runs / "new"), "--margin", ".02").returncode == 0
    assert run(str(runs / "new"), "--baseline", str(runs / "old"), "--margin", "1").returncode == 0


@pytest.mark.slow
def test_what_cannot_be_told_is_exit_code_3(runs: Path) -> None:
    done = run(str(runs / "new"), "--baseline", str(runs / "old"), "--metric", "hits.precision", "--margin", ".02")
    assert done.returncode == 3, done.stdout  # silence has no precision
    assert "undefined" in done.stdout


@pytest.mark.slow
def test_one_system_under_one_name_in_two_runs(runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs / "old", tmp_path / "again")
    found = reviewgauge.gate(tmp_path / "again", baseline=runs / "old", margin=0.0)
    assert (found.verdict, found.candidate, found.baseline) == ("not worse", "again:analyser", "old:analyser")


def test_mistakes_are_one_line_and_exit_code_2(runs: Path) -> None:
    for arguments, problem in (
        ([str(runs / "new"), "--baseline", str(runs / "old")], "no --margin given"),
        ([str(runs / "new"), "--margin", ".1"], "no baseline given"),
        ([str(runs / "both"), "--baseline", str(runs / "old"), "--margin", ".1"], "holds 2 systems"),
        ([str(runs / "new"), "--baseline", str(runs / "old"), "--margin", ".1", "--metric", "hits.f9"], "no measure"),
        ([str(runs / "new"), "--baseline", str(runs / "old"), "--margin", ".1", "--metric", "chrf"], "was not scored"),
    ):
        done = run(*arguments)
        assert done.returncode == 2
        assert problem in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(("word", "parts"), [
    ("hits.f1", ("hits", "f1")), ("hits", ("hits", "")),
    ("hits(policy='any').recall", ("hits(policy='any')", "recall")),
    ("hits(judge='openai:m@http://h/v1.2').f0.5", ("hits(judge='openai:m@http://h/v1.2')", "f0.5")),
    ("mine.metric", ("mine.metric", "")),
    ("", ("", "")),
])  # fmt: skip
def test_the_measure_stands_after_a_dot(word: str, parts: tuple[str, str]) -> None:
    assert split_measure(word) == parts


@pytest.fixture(scope="module")
def bots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tool, one that comments on everything too, one that finds other things, and two dead ones."""
    home = tmp_path_factory.mktemp("bots")
    change = Change(repo="shop", files=(ChangedFile(path="a.py", patch="@@ -1 +1,3 @@\n a\n+b\n+c"),))
    cases, reviews = [], []
    for n in range(24):
        said = Comment(id=f"r{n}", body=f"the handle of channel {n} is never closed", span=Span(path="a.py", start=2))
        clean = n >= 16
        cases.append(Case(id=f"c{n:02}", change=change, verdict=clean, references=() if clean else (said,)))
        spam = tuple(Comment(id=f"s{k}", body=f"please consider the name of this, {k}") for k in range(5))
        own = () if clean or n % 2 else (said,)
        other = () if clean or n % 2 == 0 else (said,)
        both = {"tool": own, "spam": (*own, *spam), "other": other, "dead": (), "mute": ()}
        reviews += [Review(case=f"c{n:02}", system=name, comments=comments) for name, comments in both.items()]
    (home / "cases.jsonl").write_bytes(b"".join(case.to_line() for case in cases))
    (home / "reviews.jsonl").write_bytes(b"".join(review.to_line() for review in reviews))
    reviewgauge.review(str(home / "cases.jsonl"), "recorded", run=home / "run")
    reviewgauge.score(home / "run", "hits(judge='dice')", resamples=50)
    return home / "run"


def test_two_dead_bots_cannot_be_told_and_spam_is_worse(bots: Path) -> None:
    dead = reviewgauge.gate(bots, system="dead", against="mute", margin=0.02)
    assert (dead.verdict, dead.reason) == ("cannot tell", "neither of the two comments on anything")
    spam = reviewgauge.gate(bots, system="spam", against="tool", margin=1.0)
    assert spam.checks[0].verdict == "not worse"
    assert [(one.measure, one.margin, one.verdict) for one in spam.checks[1:]] == [
        ("noise", 0.1, "worse"),
        ("comments_per_change", 2.0, "worse"),
        ("clean_left_alone", 0.1, "worse"),
    ]
    done = run(str(bots), "--system", "spam", "--against", "tool", "--margin", "1")
    assert done.returncode == 1
    assert "WORSE: worse than the baseline in false discovery (margin .10)" in done.stdout
    named = {"hits(judge='dice').comments_per_change": 9.0, "hits(judge='dice').f1": 1.0}
    eased = reviewgauge.gate(bots, system="spam", against="tool", metric=list(named), margin=list(named.values()))
    assert [(one.measure, one.guard) for one in eased.checks][:2] == [("comments_per_change", False), ("f1", False)]
    with pytest.raises(UserError, match="1 --metric and 2 --margin given"):
        reviewgauge.gate(bots, system="spam", against="tool", margin=[1.0, 2.0])


def test_findings_lost_and_gained_are_listed(bots: Path, tmp_path: Path) -> None:
    done = run(
        str(bots), "--system", "other", "--against", "tool", "--margin", "1", "--markdown", str(tmp_path / "g.md")
    )
    assert done.returncode == 0, done.stdout
    assert "findings lost, which only the baseline hit: 8" in done.stdout
    assert "the handle of channel 0 is never closed" in done.stdout
    assert "--json has: 3 more rows" in done.stdout
    assert "findings gained, which only the candidate hit: 8" in done.stdout
    assert "the handle of channel 1 is never closed" in (tmp_path / "g.md").read_text("utf-8")


def test_comments_beside_the_findings_are_listed_with_their_words(bots: Path, tmp_path: Path) -> None:
    found = reviewgauge.gate(bots, system="spam", against="tool", margin=1.0)
    assert (found.lost, found.gained, found.comments_lost) == ((), (), ())
    assert len(found.comments_gained) == 5 * 24
    first = found.comments_gained[0]
    assert (first.case, first.text, first.state) == ("c00", "please consider the name of this, 0", "unsure")
    back = reviewgauge.gate(bots, system="tool", against="spam", margin=1.0)
    assert (back.comments_lost, back.comments_gained) == (found.comments_gained, ())
    run(str(bots), "--system", "spam", "--against", "tool", "--margin", "1", "--markdown", str(tmp_path / "g.md"))
    text = (tmp_path / "g.md").read_text("utf-8")
    assert "Comments gained, about no known finding: 120" in text
    assert "and 105 more" in text
    assert text.index("please consider the name of this, 1") < text.index("<summary>Lost")


def test_findings_carry_the_words_that_hit_them(bots: Path) -> None:
    found = reviewgauge.gate(bots, system="other", against="tool", margin=1.0)
    assert {one.comment == one.text for one in (*found.lost, *found.gained)} == {True}
