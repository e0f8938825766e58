"""Whether a line still meant the same when it was fixed."""

from __future__ import annotations

import pytest

from reviewgauge.stages.history.meanings import broken_later

READ = "def get(request):\n    at = int(request.time)\n    return now() - at\n"
ANOTHER = "what it reads was given another value later"
MOVED = "its condition was put into another block later"


@pytest.mark.parametrize(
    ("head", "line", "fixed", "fix_line", "why"),
    [
        (READ, 3, "import time\n\n" + READ, 5, ""),
        (READ, 3, READ.replace("at = int(request.time)", "at, by = request.time.split()"), 3, ANOTHER),
        (READ, 3, READ.replace("int(request.time)", "int(\n        request.time,\n    )"), 5, ""),
        (READ, 3, READ.replace("    return", "    by = at\n    return"), 4, ""),
        ("def f(a, at):\n    g(at)\n", 2, "def f(a):\n    g(at)\n", 2, ANOTHER),
        ("def f(\n    at=1,\n):\n    g(at)\n", 4, "def f(\n    at: int = 1,\n):\n    g(at)\n", 4, ""),
        ("def f(at):\n    g(at)\n", 2, "def f(at):\n    def h():\n        g(at)\n", 3, ""),
        ("for at in b:\n    g(at)\n", 2, "for at in c:\n    g(at)\n", 2, ""),
        ("def f(at):\n    if at:\n        g()\n", 2, "def f(at):\n    if b:\n        if at:\n", 3, MOVED),
        ("def f(at):\n    g(at)\n", 2, "def f(at):\n    if b:\n        g(at)\n", 3, ""),
        ("g(at)\n", 9, "g(at)\n", 1, ""),
    ],
)
def test_what_a_line_reads_or_stands_in(head: str, line: int, fixed: str, fix_line: int, why: str) -> None:
    assert broken_later(head, line, fixed, fix_line, ["at", "return", "-"]) == why
