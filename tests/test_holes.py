"""What an attacker did, done again: each ends in one clear line, and does nothing. See docs/explanation/security.md."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewgauge.cli.main import main
from reviewgauge.core.errors import BadInput
from reviewgauge.core.parsing import MOST_VALUES, parse_record
from reviewgauge.core.records import Change

pytestmark = pytest.mark.processes
SECRET = "alias ls='ls --color'\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of others: two reviewers on the sample, scored."""
    folder = tmp_path_factory.mktemp("theirs") / "run"
    assert main(["review", "sample", "silent", "-o", str(folder)]) == 0
    assert main(["score", str(folder), "hits", "--resamples", "20"]) == 0
    return folder


@pytest.fixture
def theirs(made: Path, tmp_path: Path) -> Path:
    """A copy of it that may be armed."""
    copy = tmp_path / "run"
    copy.mkdir()
    for file in made.iterdir():
        if file.is_file():
            (copy / file.name).write_bytes(file.read_bytes())
    return copy


@pytest.fixture
def bashrc(tmp_path: Path) -> Iterator[Path]:
    file = tmp_path / "home" / ".bashrc"
    file.parent.mkdir()
    file.write_text(SECRET)
    yield file
    assert file.read_text() == SECRET, "a file outside of the run was written"


@pytest.mark.parametrize("name", [
    "lock", "manifest.json.tmp", "scores.jsonl", "reviews.jsonl", "reviews.jsonl.torn", "calls.jsonl", "labels.jsonl",
])  # fmt: skip
@pytest.mark.parametrize("verb", ["score", "review", "validate", "bundle", "report"])
def test_a_link_in_a_run_is_named(
    theirs: Path, bashrc: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, verb: str
) -> None:
    (theirs / name).unlink(missing_ok=True)
    (theirs / name).symlink_to(bashrc)
    run = str(theirs)
    words = {
        "score": ["score", run, "hits", "--resamples", "20"],
        "review": ["review", "sample", "parrot", "-o", run],
        "validate": ["validate", run, "hits"],
        "bundle": ["bundle", "make", run, "-o", str(tmp_path / "b.zip")],
        "report": ["report", run, "-o", str(tmp_path / "r.html")],
    }[verb]
    assert main(words) == 2
    error = capsys.readouterr().err
    assert f"{name} is a link, which could lead out of the folder" in error
    assert error.count("error:") == 1


@pytest.mark.parametrize(
    "name", ["build.lock", "memory.sqlite", "cases.jsonl.tmp", "card.json.tmp", "reviews.jsonl.tmp", ".scratch"]
)
def test_a_link_in_a_benchmark_is_named(
    tmp_path: Path, bashrc: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    bench = tmp_path / "bench"
    bench.mkdir()
    (bench / name).symlink_to(bashrc if name != ".scratch" else bashrc.parent)
    assert main(["build", "sample", "-o", str(bench), "--recipe", "local"]) == 2
    assert f"{name} is a link" in capsys.readouterr().err
    assert [file.name for file in bashrc.parent.iterdir()] == [".bashrc"]


def test_a_line_of_many_small_values_takes_no_memory() -> None:
    raw = b'{"repo":"a/b","files":[' + b"{}," * MOST_VALUES + b"{}]}"
    with pytest.raises(BadInput, match=r"line 3: holds [\d,]+ values, over"):
        parse_record(Change, raw, "cases.jsonl", 3)
    fields = b",".join(b'"k%d":1' % number for number in range(20_000))
    with pytest.raises(BadInput, match="has 20,000 problems"):
        parse_record(Change, b'{"repo":"a/b",' + fields + b"}", "cases.jsonl", 3)
