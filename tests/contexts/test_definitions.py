"""`definitions` on a planted repository: what the hunk calls, wherever it is defined."""

from __future__ import annotations

from pathlib import Path

import pytest

from git_project import make_change
from reviewgauge.core.errors import NeedsCode, UserError
from reviewgauge.core.protocols import Context
from reviewgauge.core.records import Change
from reviewgauge.core.specs import load

TARIFF = "def tariff(parcel):\n    return parcel.weight\n\n\nclass Parcel:\n    weight = 1\n"


def said(change: Change, spec: str = "definitions") -> list[str]:
    return [one.name for one in load(Context, spec).excerpts(change, change)]


def planted(folder: Path, line: str, **files: str) -> Change:
    before = {"shop/tariff.py": TARIFF, "a.py": "def own(x):\n    return x\n", **files}
    return make_change(folder, before, {"a.py": f"def own(x):\n    return {line}\n"})


def test_what_the_hunk_calls_is_found_in_another_file(tmp_path: Path) -> None:
    change = planted(tmp_path / "r", "tariff(Parcel()) + own(x)")
    found = list(load(Context, "definitions").excerpts(change, change))
    assert [(one.name, one.text.split("\n")[0]) for one in found] == [
        ("shop/tariff.py, lines 1 to 2 (function tariff)", "def tariff(parcel):"),
        ("shop/tariff.py, lines 5 to 6 (class Parcel)", "class Parcel:"),
    ]
    assert said(change, "definitions(most=1)") == [found[0].name]
    assert said(change, "definitions(longest=1)")[0] == "shop/tariff.py, line 1 (function tariff)"


def test_words_in_comments_and_strings_are_no_names(tmp_path: Path) -> None:
    assert said(planted(tmp_path / "r", "x  # tariff(Parcel)")) == []
    assert said(planted(tmp_path / "s", "'tariff(Parcel)'")) == []


def test_of_several_the_nearest_counts_and_too_many_say_nothing(tmp_path: Path) -> None:
    run = "def run():\n    pass\n"
    near = {"x/y/z.py": run, "x/near.py": run, "x/deep/er.py": run}
    before = {"x/a.py": "y = 1\n", **near}
    change = make_change(tmp_path / "r", before, {"x/a.py": "y = run()\n"})
    assert said(change) == ["x/near.py, lines 1 to 2 (function run)"]
    assert said(change, "definitions(alike=2)") == []
    own = make_change(tmp_path / "s", before, {"x/a.py": run + "\n" * 9 + "y = run()\n"})
    assert said(own, "definitions(alike=2)") == []  # its own file has it, and the hunk shows it


def test_methods_go_by_their_last_name_and_called_names_come_first(tmp_path: Path) -> None:
    ship = "class Ship:\n    def sail(self):\n        pass\n\n    def main_mast(self):\n        pass\n"
    ship += "\n    def size(self):\n        pass\n"
    change = planted(tmp_path / "r", "x.size, x.main_mast, x.sail()", **{"ship.py": ship})
    assert said(change) == ["ship.py, lines 2 to 3 (method Ship.sail)", "ship.py, lines 5 to 6 (method Ship.main_mast)"]


def test_other_languages_and_what_no_grammar_knows(tmp_path: Path) -> None:
    before = {
        "lib.go": "package a\n\nfunc Price(n int) int {\n\treturn n\n}\n",
        "main.go": "package a\n",
        "x.cob": "A\n",
    }
    after = {"main.go": "package a\n\nvar p = Price(3)\n", "x.cob": "CALL Price().\n", "x.rst": "Price()\n"}
    change = make_change(tmp_path / "r", before, after)
    assert said(change) == ["lib.go, lines 3 to 5 (function Price)"]


def test_a_deleted_call_is_looked_up_too(tmp_path: Path) -> None:
    change = make_change(tmp_path / "r", {"t.py": TARIFF, "a.py": "y = tariff(1)\n"}, {"a.py": None})
    assert said(change) == ["t.py, lines 1 to 2 (function tariff)"]


def test_bad_input() -> None:
    with pytest.raises(NeedsCode, match="the context definitions needs the code"):
        said(Change(repo="r"))
    with pytest.raises(UserError, match="must be 1 or more"):
        load(Context, "definitions(most=0)")
