"""Suggestions applied to a real change and judged by real runs of pytest in the sandbox."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from fixed_shop import FIX, PYTEST, ROOTS, build_case
from reviewgauge.analysis.stats.arrays import MatrixAggregate, measures_of
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Format, Measured
from reviewgauge.core.records import Anchoring, Case, Comment, Review, Side, Span
from reviewgauge.core.results import CommentState
from reviewgauge.core.specs import load
from reviewgauge.metrics.execution.runs import usual_seconds
from reviewgauge.metrics.useful_suggestions import UsefulSuggestions
from reviewgauge.repo.diff.anchors import anchor
from reviewgauge.repo.diff.edits import Block, Refusal, TextEdit, apply_edits

pytestmark = [pytest.mark.processes, pytest.mark.drill]


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return build_case(tmp_path_factory.mktemp("useful"))


NEW = "```diff\n--- /dev/null\n+++ b/NAME\n@@ -0,0 +1 @@\n+print('1 passed')\n```"
METRIC = UsefulSuggestions(test=PYTEST, visible=ROOTS)


def comment(name: str, body: str = "Wrong.", **fields: object) -> Comment:
    place = {"span": Span(path="shop/total.py", start=3), "anchoring": Anchoring.AS_GIVEN}
    return Comment.model_validate({"id": name, "body": body, **place, **fields})


def measured(case: Case, *comments: Comment, metric: UsefulSuggestions = METRIC) -> Measured:
    found = metric.parts(case, Review(case=case.id, system="s", comments=comments))
    assert isinstance(found, Measured), found
    return found


def measures(found: Measured) -> Mapping[str, float]:
    return {name: float(v[0]) for name, v in measures_of(METRIC, MatrixAggregate.of([found.parts])).items()}


def state(found: Measured, name: str) -> tuple[CommentState, str]:
    assert found.matching is not None
    return next((one.state, one.reason) for one in found.matching.comments if one.comment == name)


def test_oracle_inverse_empty_and_untouched(case: Case, own_cache: Path) -> None:
    """The fix repairs everything, a breaking patch is harm, an empty review and a comment without code do nothing."""
    fixed = measured(case, comment("fix", FIX))
    assert measures(fixed)["net"] == measures(fixed)["repaired"] == measures(fixed)["tests"] == 1
    assert measures(fixed)["broken"] == measures(fixed)["broken_together"] == 0
    assert state(fixed, "fix")[0] is CommentState.MATCHED
    assert "tests/test_total.py::test_it passes now; it breaks nothing" in state(fixed, "fix")[1]

    inverse = measured(case, comment("inverse", suggestion="    for item in None:"))
    assert measures(inverse)["net"] == -1 and measures(inverse)["broken"] == 1
    assert state(inverse, "inverse")[0] is CommentState.FALSE
    assert "breaks tests/test_none.py::test_none" in state(inverse, "inverse")[1]

    for review in ((), (comment("words"),), (comment("same", suggestion="    for item in items[1:]:"),)):
        assert measures(measured(case, *review))["net"] == 0
    timed, seconds = usual_seconds()
    assert timed > 6 and seconds > 0
    for file in (own_cache / "contexts").glob("tests-*"):
        file.write_bytes(b"broken")
    assert usual_seconds() == (0, 0.0)
    assert measures(measured(case))["net"] == 0  # what cannot be read is run again


def test_a_suggestion_block_repairs_too_and_both_together_do_not_overlap(case: Case, own_cache: Path) -> None:
    both = measured(
        case,
        comment("a", suggestion="    for item in items:"),
        comment("b", "```suggestion\n    for item in list(items):\n```"),
        comment("c", suggestion="    amount = None", span=Span(path="shop/total.py", start=2)),
    )
    assert state(both, "a")[0] is CommentState.MATCHED and state(both, "b")[0] is CommentState.DUPLICATE
    assert both.parts["overlapping"] == 1 and both.parts["broken"] == 1
    assert measures(both)["net"] == 0 and measures(both)["broken_together"] == 1


@pytest.mark.parametrize(("fields", "reason"), [
    ({"span": Span(path="tests/test_none.py", start=1), "suggestion": "raise SystemExit(0)"}, "edits tests"),
    ({"span": Span(path="conftest.py", start=1), "suggestion": "x"}, "edits tests"),
    ({"body": FIX.replace("shop/total.py", "tests/test_total.py")}, "edits tests"),
    ({"body": FIX.replace("shop/total.py", ".github/workflows/ci.yml")}, "edits what runs the tests"),
    ({"body": FIX.replace("shop/total.py", "pyproject.toml")}, "edits what runs the tests"),
    ({"body": NEW.replace("NAME", "pytest.py")}, "edits the test command"),
    ({"body": NEW.replace("NAME", "pytest/__main__.py")}, "edits the test command"),
    ({"extra": {"edits": [{"path": "../../etc/x", "start": 1, "end": 1}]}}, "leaves the repository"),
    ({"extra": {"edits": [{"path": "/etc/passwd", "start": 1, "end": 1}]}}, "leaves the repository"),
    ({"extra": {"edits": [{"path": ".git/config", "start": 1, "end": 1}]}}, "leaves the repository"),
    ({"extra": {"edits": [{"start": 1}]}}, "cannot be read"),
    ({"suggestion": "x" * 1_000_000}, "too large"),
])  # fmt: skip
def test_what_may_not_be_edited_is_refused_and_never_run(case: Case, fields: dict[str, object], reason: str) -> None:
    found = measured(case, comment("bad", **fields))  # type: ignore[arg-type]
    assert f"was refused and not run: {reason}" in state(found, "bad")[1]
    assert (found.parts["refused"], found.parts["applied"], measures(found)["net"]) == (1, 0, 0)


@pytest.mark.parametrize(("fields", "reason"), [
    ({"span": Span(path="shop/total.py", start=3, side=Side.OLD), "suggestion": "x"}, "a deleted line"),
    ({"span": Span(path="shop/total.py", start=99), "suggestion": "x"}, "has 5 lines"),
    ({"span": Span(path="shop/none.py", start=1), "suggestion": "x"}, "is not in the change"),
    ({"span": None, "suggestion": "x"}, "names no lines"),
    ({"body": FIX.replace("items[1:]", "items[2:]")}, "its old lines are not in shop/total.py"),
])  # fmt: skip
def test_what_does_not_apply_is_counted(case: Case, fields: dict[str, object], reason: str) -> None:
    found = measured(case, comment("odd", **fields))  # type: ignore[arg-type]
    assert reason in state(found, "odd")[1]
    assert (found.parts["inapplicable"], found.parts["refused"], measures(found)["applicable"]) == (1, 0, 0)


def test_a_file_that_no_longer_parses_and_a_process_that_ends_early_are_harm(case: Case, own_cache: Path) -> None:
    found = measured(case, comment("broken", suggestion="    for item in items:::"))
    assert "shop/total.py no longer parses" in state(found, "broken")[1]
    ends = "    for item in items:\n        __import__('os')._exit(0)"
    found = measured(case, comment("ends", suggestion=ends))
    assert state(found, "ends")[0] is CommentState.FALSE and measures(found)["net"] == -1


def test_a_suggestion_beside_the_change_counts_and_says_so(case: Case, own_cache: Path) -> None:
    found = measured(case, comment("far", span=Span(path="shop/other.py", start=1), suggestion="A = 2"))
    assert found.parts["outside"] == 1 and "it edits shop/other.py beside the change" in state(found, "far")[1]


def test_fixes_of_tools_are_applied_where_they_say(case: Case, own_cache: Path) -> None:
    """The same edit as SARIF and as rdjson, with columns."""
    region = {"startLine": 3, "startColumn": 17, "endLine": 3, "endColumn": 26}
    where = {"artifactLocation": {"uri": "shop/total.py"}}
    edit = {"deletedRegion": region, "insertedContent": {"text": "items"}}
    result = {
        "message": {"text": "The first item is left out."},
        "locations": [{"physicalLocation": {**where, "region": region}}],
        "fixes": [{"artifactChanges": [{**where, "replacements": [edit]}]}],
    }
    sarif = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "t"}}, "results": [result]}]}
    span = {"start": {"line": 3, "column": 17}, "end": {"line": 3, "column": 26}}
    rdjson = {
        "message": "The first item is left out.",
        "location": {"path": "shop/total.py", "range": span},
        "suggestions": [{"range": span, "text": "items"}],
    }
    for name, text in (("sarif", sarif), ("rdjson", {"diagnostics": [rdjson]})):
        (parsed,) = load(Format, name).read(json.dumps(text).encode(), f"t.{name}")
        found = measured(case, anchor(parsed.comments[0], case.change))
        assert measures(found)["net"] == 1, name


def test_line_ends_stay_as_the_file_has_them() -> None:
    made = apply_edits(
        [TextEdit(path="a", start=2, end=2, text="B\n"), Block("a", ("c",), ("C", "D"), 3)], {"a": "a\r\nb\r\nc\r\n"}
    )
    assert made == {"a": "a\r\nB\r\nC\r\nD\r\n"}
    with pytest.raises(Refusal, match="overlaps itself"):
        apply_edits([TextEdit(path="a", start=1, end=2), TextEdit(path="a", start=2, end=3)], {"a": "a\nb\nc\n"})


def test_flaky_tests_are_left_out_and_counted(case: Case, own_cache: Path, tmp_path: Path) -> None:
    """A command whose tests fail now and then: nothing that differs on the untouched change is harm."""
    script = tmp_path / "flaky.py"
    script.write_text(
        "import os, sys\n"
        "[print(f'FAILED t.py::t{n} - assert') for n in range(100) if os.urandom(1)[0] % 2]\n"
        "print('FAILED t.py::always - assert'); sys.exit(1)\n"
    )
    metric = UsefulSuggestions(test=PYTEST, visible=(*ROOTS, str(script)), suite=f"{sys.executable} {script}")
    found = measured(case, comment("fix", FIX), metric=metric)
    assert found.parts["flaky"] > 0


def test_nothing_is_run_twice(case: Case, own_cache: Path, tmp_path: Path) -> None:
    """A later process runs only what was not run before: without its script nothing else can be."""
    script = tmp_path / "run.sh"
    script.write_text(f'exec {PYTEST.replace("{files}", "")} "$@"\n')
    made = [UsefulSuggestions(test=f"sh {script} {{files}}", visible=(*ROOTS, str(script))) for _ in range(3)]
    first = measured(case, comment("fix", FIX), metric=made[0])
    script.unlink()
    assert measured(case, comment("fix", FIX), metric=made[1]) == first
    with pytest.raises(UserError, match="could not be started"):
        measured(case, comment("other", suggestion="    for item in [*items]:"), metric=made[2])


def test_other_programs_and_packages_are_other_runs(case: Case, own_cache: Path, tmp_path: Path) -> None:
    script, packages = tmp_path / "bin" / "run", tmp_path / "lib" / "python3.99" / "site-packages"
    script.parent.mkdir()
    packages.mkdir(parents=True)
    script.write_text(f'#!/bin/sh\nexec {PYTEST.replace("{files}", "")} "$@"\n')
    script.chmod(0o755)
    counts = []
    for changed in (None, None, script, packages):
        if changed is not None:
            os.utime(changed, (1, 1))
        measured(case, metric=UsefulSuggestions(test=f"{script} {{files}}", visible=(*ROOTS, str(script))))
        counts.append(usual_seconds()[0])
    assert counts == [3, 3, 6, 9]


def test_there_is_no_way_around_the_sandbox() -> None:
    with pytest.raises(ValueError, match="code of others"):
        UsefulSuggestions(test="true", sandbox="off")
    with pytest.raises(ValueError, match="cannot be read"):
        UsefulSuggestions(test="'")


def test_without_a_command_it_says_how_to_name_one(case: Case) -> None:
    with pytest.raises(UserError, match="needs your test command"):
        UsefulSuggestions().parts(case, Review(case=case.id, system="s"))
