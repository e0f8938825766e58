from __future__ import annotations

import pytest

from planted import bodies, changes
from reviewgauge.operators.missing_await import MissingAwait

PYTHON = "async def pay(a):\n    {}\n    return a\n"
SCRIPT = "async function pay(a) {{\n  {}\n  b();\n}}\n"


@pytest.mark.parametrize(
    ("language", "frame", "before", "after"),
    [
        ("python", PYTHON, "await a.close()", ["a.close()"]),
        ("python", PYTHON, "b = await a.get(1); c(b)", ["b = a.get(1); c(b)"]),
        ("python", PYTHON, "b = (await a.get(1)).text", ["b = a.get(1).text"]),
        ("python", PYTHON, "return await a.get(1)", ["return a.get(1)"]),
        ("python", PYTHON, "await a", []),  # a statement without effect would show
        ("python", PYTHON, "await logger.info(a)", []),
        ("python", PYTHON, "b = [await a.get(1)]", []),
        ("javascript", SCRIPT, "await a.close();", ["a.close();"]),
        ("javascript", SCRIPT, "const b = await a.get(1); c(b);", ["const b = a.get(1); c(b);"]),
        ("javascript", SCRIPT, "if (await a.ok()) b();", ["if (a.ok()) b();"]),
        ("javascript", SCRIPT, "const c = await a.get(1); return c;", []),  # the same
        ("javascript", SCRIPT, "return await a.get(1);", []),  # the same
        ("javascript", SCRIPT, "try { return await a.get(1); } catch (e) { b(e); }",
         ["try { return a.get(1); } catch (e) { b(e); }"]),
        ("javascript", SCRIPT, "try { b(); } catch (e) { return await a.get(1); }", []),
        ("typescript", SCRIPT, "await a.close();", ["a.close();"]),
        ("typescript", SCRIPT, "const b = await a.get(1);", []),  # types
        ("tsx", SCRIPT, "await a.close();", ["a.close();"]),
    ],
)  # fmt: skip
def test_nobody_waits(language: str, frame: str, before: str, after: list[str]) -> None:
    assert changes(MissingAwait(), language, frame.format(before)) == after


@pytest.mark.parametrize(("language", "frame", "before", "after"), [
    ("python", PYTHON, "await a.close()", ["pending = a.close() await pending"]),
    ("python", PYTHON, "b = await a.get(1)\n    c(b)", ["pending = a.get(1) b = await pending"]),
    ("python", PYTHON, "pending = await a.get(1)", []),
    ("typescript", SCRIPT, "await a.close();", ["const pending = a.close(); await pending;"]),
])  # fmt: skip
def test_the_safe_twin_waits_in_a_statement_of_its_own(
    language: str, frame: str, before: str, after: list[str]
) -> None:
    assert changes(MissingAwait(), language, frame.format(before), safe=True) == after


@pytest.mark.parametrize(("language", "frame", "before", "said"), [
    (*("python", PYTHON, "await a.close()"),
        "`a.close` is not awaited: what follows does not wait for it, and a coroutine that nobody awaits "
        "never runs."),
    (*("javascript", SCRIPT, "const b = await a.get(1); c(b);"),
        "`a.get` is not awaited: `b` is a promise and not its result, and what uses it below fails."),
])  # fmt: skip
def test_the_sentence_says_what_is_used_instead(language: str, frame: str, before: str, said: str) -> None:
    assert bodies(MissingAwait(), language, frame.format(before)) == [said]
