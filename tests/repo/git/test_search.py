"""Text in the files of a commit: where it stands, and the limits of looking for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from git_project import commit
from reviewgauge.repo.git import search
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.git.search import Hit, search_text

FILES: dict[str, str | bytes] = {
    "a.py": "def total(x):\n    return x\n",
    "lib/b.py": "total(1)\ntotals\nTOTAL\n",
    "odd\nname.py": "a total\n",
    "data.bin": b"total\x00",
}


def test_lines_are_found_with_their_place(tmp_path: Path) -> None:
    head = commit(tmp_path / "p", FILES)
    repository = Repository(tmp_path / "p")
    found, cut = search_text(repository, head, "total")
    assert not cut
    assert [(hit.line, hit.text) for hit in found] == [
        (1, "def total(x):"), (1, "total(1)"), (2, "totals"), (1, "a total"),
    ]  # fmt: skip
    assert [hit.path for hit in found[:3]] == ["a.py", "lib/b.py", "lib/b.py"]
    assert repository.blob(head, found[3].path) == b"a total\n"
    below = search_text(repository, head, "total", below="lib", words=True, ignore_case=True)
    assert below.found == (Hit("lib/b.py", 1, "total(1)"), Hit("lib/b.py", 3, "TOTAL"))
    assert {hit.path for hit in search_text(repository, head, "total", without=["lib/b.py"]).found} == {
        "a.py",
        found[3].path,
    }


@pytest.mark.parametrize("text", ["-e", "--open-files-in-pager=sh", "(a+)+$", "", "a\nb", "\x00", ".*"])
def test_a_text_is_neither_an_option_nor_a_pattern(tmp_path: Path, text: str) -> None:
    head = commit(tmp_path / "p", FILES)
    assert search_text(Repository(tmp_path / "p"), head, text) == search.Hits(())


def test_what_ends_a_search_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = commit(tmp_path / "p", {f"f{n}.txt": "same words\n" * 1_500 for n in range(30)})
    repository = Repository(tmp_path / "p")
    assert search_text(repository, head, "same", seconds=0.0).cut == "the search ended after 0 seconds"
    assert len(search_text(repository, head, "same").found) == 30 * 1_000
    monkeypatch.setattr(search, "_MOST_BYTES", 100_000)
    few = search_text(repository, head, "same")
    assert "MB of lines" in few.cut
    assert 0 < len(few.found) < 30_000
    assert search_text(repository, head, "same", below="../outside").cut == "git could not read all of the files"


def test_any_number_of_paths_is_left_out(tmp_path: Path) -> None:
    long = ["/".join(["d" * 200] * 19) + f"/{number:04}.txt" for number in range(1_200)]
    head = commit(tmp_path / "p", {"a.txt": "total\n", **dict.fromkeys(long, "total\n")})
    found, cut = search_text(Repository(tmp_path / "p"), head, "total", without=long, seconds=60)
    assert found == (Hit("a.txt", 1, "total"),)
    assert cut in ("", "the search ended after 2 MB of lines")


def test_a_text_or_a_path_too_long_for_a_command_line_is_said(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "p")
    head = commit(tmp_path / "p", FILES)
    for found in (
        search_text(repository, head, "x" * 200_000),
        search_text(repository, head, "x", below="y" * 200_000),
    ):
        assert not found.found
        assert "at most can be looked for" in found.cut
