"""What touched the lines of a change afterwards."""

from __future__ import annotations

from pathlib import Path

from history_builder import Told
from reviewgauge.repo.history.later_commits import later_commits

SHIP = "def ship(parcel):\n    weight = parcel.weight\n    return heavy(weight)\n"
END = "\n\n\n\ndef other():\n    return None\n"


def test_what_rewrites_or_works_beside_the_lines_until_the_horizon(tmp_path: Path) -> None:
    told = Told(tmp_path / "shop")
    told.commit("begin", {"shop/ship.py": END})
    head = told.commit("Add shipping", {"shop/ship.py": SHIP + END})
    files = told.repository.changed_files(f"{head}^", head)
    checked = SHIP.replace("    weight", "    check(parcel)\n    weight")
    told.commit("Other work", {"shop/ship.py": SHIP + END.replace("None", "1")})
    told.commit("Check parcels (#7)", {"shop/ship.py": checked + END})
    told.commit("[PR #7/3f backport][3.1] Check parcels (#8)", {"shop/ship.py": SHIP + END})
    told.commit("Weigh anew", {"shop/ship.py": SHIP.replace("parcel.weight", "weigh(parcel)") + END})
    told.commit("Too late", {"shop/ship.py": SHIP + END}, days=100)
    found = later_commits(told.repository, head, files, 50)
    assert [(one.title, one.why) for one in found.commits] == [
        ("Check parcels (#7)", "beside them"),
        ("Weigh anew", ""),
    ]
    assert found.until > found.commits[-1].day and len(found.commits[0].id) >= 7
    assert not later_commits(told.repository, head, (), 50).commits


def test_what_names_the_change(tmp_path: Path) -> None:
    told = Told(tmp_path / "shop")
    told.commit("begin", {"shop/a.py": "def weigh():\n    return 1\n", "shop/b.py": "X = weigh()\n"})
    told.branch("old")
    told.commit("Before it, about #30", {"shop/c.py": "Y = 1\n"})
    told.git("checkout", "-q", "main")
    told.branch("rename")
    head = told.commit("Rename", {"shop/a.py": "def heavy():\n    return 1\n"})
    told.merge("rename", message="Merge pull request #30 from ada/rename\n\nRename")
    told.commit("Other", {"shop/d.py": "Z = 1\n"})
    told.commit("Of course #300 is another one", {"shop/d.py": "Z = 2\n"})
    told.commit(f"Follow-up of {head[:9]}", {"shop/d.py": "Z = 3\n"})
    told.commit("Repair #30", {"shop/d.py": "Z = 4\n"})
    found = later_commits(told.repository, head, told.repository.changed_files(f"{head}^", head), 50)
    assert [(one.title, one.why) for one in found.commits] == [
        (f"Follow-up of {head[:9]}", "names it"),
        ("Repair #30", "names it"),
    ]
