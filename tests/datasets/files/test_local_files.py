from __future__ import annotations

import os
from pathlib import Path

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.datasets.files.local_files import data_home, locate, objects


def test_the_own_variable_wins_then_xdg_then_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("REVIEWGAUGE_DATA", str(tmp_path / "own"))
    assert data_home() == tmp_path / "own"
    monkeypatch.delenv("REVIEWGAUGE_DATA")
    assert data_home() == tmp_path / "xdg" / "reviewgauge"
    monkeypatch.setenv("XDG_DATA_HOME", "relative/is/invalid")
    assert data_home() == tmp_path / "home" / ".local" / "share" / "reviewgauge"


def test_a_missing_data_set_names_the_verb_that_brings_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVIEWGAUGE_DATA", str(tmp_path))
    with pytest.raises(UserError, match="reviewgauge get martian"):
        locate("martian", "")
    (tmp_path / "martian").mkdir()
    assert locate("martian", "") == tmp_path / "martian"
    for name, folder in (("graded_reviews", "graded-reviews"), ("crscore_study", "crscore")):
        (tmp_path / folder).mkdir()
        assert locate(name, "") == tmp_path / folder, "as the official repository calls it"


def test_a_given_path_must_exist(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not exist"):
        locate("martian", str(tmp_path / "absent"))
    assert locate("martian", str(tmp_path)) == tmp_path


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.json"])
def test_a_pipe_among_the_files_is_not_waited_for(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(UserError, match="is not a plain file"):
        list(objects(tmp_path / name))
