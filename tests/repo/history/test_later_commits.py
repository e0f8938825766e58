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
    assert [(one.title, one.rewrote) for one in found.commits] == [("Check parcels (#7)", False), ("Weigh anew", True)]
    assert found.until > found.commits[-1].day and len(found.commits[0].id) >= 7
    assert not later_commits(told.repository, head, (), 50).commits
