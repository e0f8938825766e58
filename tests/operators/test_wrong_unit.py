from __future__ import annotations

import pytest

from planted import bodies, changes
from reviewgauge.operators.wrong_unit import WrongUnit

CASES = [
    ("python", "wait = timeout * 1000", "wait = timeout", "wait = 1000 * timeout"),
    ("python", "elapsed = (end - start) * 1000", "elapsed = end - start", ""),
    ("python", "share = part * 1000", None, ""),  # nothing says that it is a time
    ("python", "age = timedelta(minutes=5)", "age = timedelta(seconds=5)", "age = timedelta(seconds=300)"),
    ("python", "hours = seconds // 3600", "hours = seconds / 3600", ""),
    ("python", "def f(a):\n    return a[len(a) // 2]", "return a[len(a) / 2]", ""),
    ("python", "def f(a):\n    return a // 2", None, ""),  # may do as a float
    ("python", "n = int(total / size)", "n = round(total / size)", ""),
    ("python", "n = int(text)", None, ""),
    ("python", "n = round(total / size, 2)", None, ""),
    ("javascript", "const ms = seconds * 1000;", "const ms = seconds;", "const ms = 1000 * seconds;"),
    ("javascript", "setTimeout(done, 5000);", "setTimeout(done, 5);", "setTimeout(done, 5 * 1000);"),
    ("typescript", "const n = Math.floor(a / b);", "const n = Math.ceil(a / b);", ""),
    ("tsx", "const n = Math.round(a / b);", "const n = Math.floor(a / b);", ""),
    (
        "java",
        "class A {\n  Duration a = Duration.ofSeconds(5);\n}",
        "Duration a = Duration.ofMillis(5);",
        "Duration a = Duration.ofMillis(5000);",
    ),
    ("java", "class A {\n  X a = poll(5, TimeUnit.SECONDS);\n}", "X a = poll(5, TimeUnit.MILLISECONDS);", ""),
    ("go", "var wait = 5 * time.Second", "var wait = 5 * time.Millisecond", "var wait = 5000 * time.Millisecond"),
    ("go", "var a = b > 2 * time.Second", "var a = b > 2 * time.Millisecond", "var a = b > 2000 * time.Millisecond"),
    ("go", "var wait = time.Minute", "var wait = time.Second", ""),
    ("go", "var count = int(wait / time.Second)", None, ""),
    (
        "rust",
        "fn f() {\n    wait(Duration::from_secs(5));\n}",
        "wait(Duration::from_millis(5));",
        "wait(Duration::from_millis(5000));",
    ),
    ("rust", "fn f() {\n    let n = (a / b).ceil();\n}", "let n = (a / b).floor();", ""),
]  # fmt: skip


@pytest.mark.parametrize(("language", "before", "after", "safe"), CASES)
def test_what_is_counted_wrongly(language: str, before: str, after: str | None, safe: str) -> None:
    assert changes(WrongUnit(), language, before) == ([after] if after else [])
    assert changes(WrongUnit(), language, before, safe=True) == ([safe] if safe else [])


@pytest.mark.parametrize(("language", "text", "said"), [
    ("python", "wait = timeout * 1000", "`timeout` is taken as it is where `wait` gets it"),
    ("go", "var late = wait > time.Second", "Wrong unit: `time.Millisecond` is"),
    ("go", "var wait = 5 * time.Second", "`5 * time.Millisecond` is 1000 times too short"),
    ("javascript", "const n = Math.floor(a / b);", "`Math.ceil(a / b)` rounds up"),
])  # fmt: skip
def test_what_is_said(language: str, text: str, said: str) -> None:
    [body] = bodies(WrongUnit(), language, text)
    assert said in body
