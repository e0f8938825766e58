"""Comments that a forge moved along with their lines go back to the push that they were made on."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from git_project import commit
from reviewgauge.core.pull_requests import Remark, Revision, Thread
from reviewgauge.core.records import Side
from reviewgauge.repo.git.repository import Repository
from reviewgauge.stages.pull_requests.commits import as_said, with_forced

FIRST, SECOND = (datetime(2025, 3, day, tzinfo=UTC) for day in (1, 3))
BETWEEN = datetime(2025, 3, 2, tzinfo=UTC)
BODY = "".join(f"line {n}\n" for n in range(1, 21))


@pytest.mark.parametrize(("path", "line", "side", "said", "expected"), [
    ("new.py", 12, Side.NEW, BETWEEN, ("old.py", 10, 0)),  # renamed, and two lines were put in above
    ("new.py", 1, Side.NEW, BETWEEN, ("new.py", 1, 1)),  # a line that was not there
    ("new.py", 12, Side.NEW, SECOND, ("new.py", 12, 1)),  # made on the last push
    ("new.py", 12, Side.NEW, datetime(2025, 1, 1, tzinfo=UTC), ("new.py", 12, 1)),  # before all: a wrong clock
    ("new.py", 12, Side.NEW, None, ("new.py", 12, 1)),
    ("same.py", 3, Side.NEW, BETWEEN, ("same.py", 3, 0)),
    ("same.py", None, Side.NEW, BETWEEN, ("same.py", None, 0)),  # about the whole file
    ("same.py", 3, Side.OLD, BETWEEN, ("same.py", 3, 0)),  # lines of the base stay
])  # fmt: skip
def test_a_place_is_led_back(
    tmp_path: Path,
    path: str,
    line: int | None,
    side: Side,
    said: datetime | None,
    expected: tuple[str, int | None, int],
) -> None:
    heads = [commit(tmp_path, {"old.py": BODY, "same.py": BODY})]
    heads.append(commit(tmp_path, {"old.py": None, "new.py": f"import a\nimport b\n{BODY}"}))
    pushes = [
        Revision(head=head, base="b" * 40, pushed=pushed) for head, pushed in zip(heads, (FIRST, SECOND), strict=True)
    ]
    thread = Thread(
        id="1", path=path, side=side, start=line, line=line, commit=heads[1], remarks=(Remark(id="1", created=said),)
    )
    (found,) = as_said(Repository(tmp_path), [thread], pushes)
    assert (found.path, found.line, heads.index(found.commit or "")) == expected
    assert found.start == found.line


def test_a_push_that_leaves_the_one_before_out_was_forced() -> None:
    pushes = [
        Revision(head=name, commits=commits) for name, commits in (("a", ("a",)), ("b", ("a", "b")), ("c", ("c",)))
    ]
    assert [one.forced for one in with_forced(pushes)] == [False, False, True]
    assert with_forced([]) == ()
