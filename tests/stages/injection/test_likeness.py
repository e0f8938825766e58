"""The card shows the size of pairs beside that of all recent changes."""

from __future__ import annotations

from reviewgauge.core.building import Candidate
from reviewgauge.core.records import ARM, Arm, Case, Change, ChangedFile
from reviewgauge.stages.add_twins import likeness_section


def sized(name: str, added: int, deleted: int, arm: Arm | None = None) -> Candidate:
    body = "\n".join(["-old"] * deleted + ["+new"] * added)
    patch = f"@@ -1,{deleted} +1,{added} @@\n{body}"
    change = Change(repo="acme/shop", files=(ChangedFile(path="a.py", patch=patch),))
    return Candidate(case=Case(id=name, change=change, facts={ARM: arm.value} if arm else {}))


def test_medians_of_pairs_and_of_all_recent_changes() -> None:
    recent = [sized("a", 4, 0), sized("b", 30, 10), sized("c", 8, 2)]
    made = [sized("d", 8, 3, Arm.DEFECT), sized("e", 8, 2, Arm.TWIN), sized("f", 9, 9, Arm.SAFE)]
    assert likeness_section(made, recent).rows == (
        ("with a defect", 1, 11, 1, 0.727),
        ("twins", 1, 10, 1, 0.8),
        ("all recent changes", 3, 10, 1, 0.8),
    )


def test_nothing_made_has_no_medians() -> None:
    assert likeness_section([], []).rows[0] == ("with a defect", 0, None, None, None)
