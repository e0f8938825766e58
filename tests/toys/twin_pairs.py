"""A small benchmark of injected defects: hosts of two planted places, their twins, and safe edits."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from reviewgauge.core.protocols import Measured
from reviewgauge.core.records import (
    Anchoring,
    Case,
    Change,
    ChangedFile,
    Comment,
    Origin,
    RequiredContext,
    Resolution,
    Review,
    Severity,
    Span,
)
from reviewgauge.core.results import Outcome, Score
from reviewgauge.core.specs import signature
from reviewgauge.engine.run.scored_run import ScoredRun
from reviewgauge.metrics.twins import Twins, planted

SOUND = {4: "    if count < len(items):", 8: "        for row in rows:"}
DEFECT = {4: "    if count <= len(items):", 8: "        for row in items:"}
BODY = {
    4: "Off by one: `count <= len(items)` also holds when `count` equals `len(items)`, so the bound is wrong by one.",
    8: "Wrong variable: the loop goes through `items` where it needs `rows`, so every row is read twice.",
}
OPERATOR = {4: "boundary_moved", 8: "wrong_variable"}
_LINES = {
    1: "def load(items, rows):",
    2: '    """Read what the shelf holds."""',
    3: "    count = start(items)", **SOUND, 5: "        count = grow(count)", 6: "    found = []", 7: "    if rows:",
    9: "            found.append(read(row))",
    10: "    return found, count",
}  # fmt: skip


def hosts(count: int, *, safe: bool = True) -> list[Case]:
    """The cases of so many hosts: two defects, the twin, and with `safe` the twin with a harmless edit."""
    found: list[Case] = []
    for host in range(count):
        found += [_case(host, "defect", at, {at: DEFECT[at]}) for at in (4, 8)]
        found.append(_case(host, "twin", 0, {}))
        if safe:
            found.append(_case(host, "safe", 4, {4: "    if len(items) > count:"}))
    return found


def defect(host: int = 0, at: int = 4) -> Case:
    return _case(host, "defect", at, {at: DEFECT[at]})


def twin(host: int = 0) -> Case:
    return _case(host, "twin", 0, {})


def reviews(cases: Sequence[Case], system: str, says: Callable[[Case], Sequence[Comment]]) -> list[Review]:
    """The reviews of one system."""
    return [Review(case=case.id, system=system, comments=tuple(says(case))) for case in cases]


def say(at: int, body: str, host: str, name: str = "s") -> Comment:
    """A comment on a line of a host's file."""
    span = Span(path=host, start=at)
    return Comment(id=f"{name}{at}", body=body, span=span, anchoring=Anchoring.AS_GIVEN)


def told(case: Case, arms: Sequence[str], at: Sequence[int] = (4, 8)) -> list[Comment]:
    """The words of the findings at these lines, on the arms named."""
    known = [one for place in planted(case) for one in place] if case.facts["arm"] in arms else []
    lines = [(one, one.span.start) for one in known if one.span and one.span.start in at]
    return [say(line, one.body, path_of(case)) for one, line in lines if line]


def path_of(case: Case) -> str:
    return case.change.files[0].path


def _finding(host: int, at: int) -> Comment:
    """What is wrong at a line, whichever arm it is told of."""
    diff = f"@@ -{at},1 +{at},1 @@\n-{DEFECT[at]}\n+{SOUND[at]}\n"
    return Comment(
        id=f"f{at}",
        body=BODY[at],
        span=Span(path=f"src/shelf{host}.py", start=at),
        category="defect",
        severity=Severity.HIGH if at == 4 else Severity.MEDIUM,
        needs=RequiredContext.DIFF if at == 4 else RequiredContext.FILE,
        origin=Origin.INJECTED,
        resolution=Resolution(diff=diff, snippet=SOUND[at]),
        extra={"operator": OPERATOR[at], "made": "planted"},
    )


def _case(host: int, arm: str, at: int, lines: dict[int, str]) -> Case:
    text = _LINES | lines
    patch = "\n".join([f"@@ -0,0 +1,{len(text)} @@", *(f"+{text[n]}" for n in sorted(text))]) + "\n"
    change = Change(
        repo="example/shelf", title=f"Load shelf {host}", files=(ChangedFile(path=f"src/shelf{host}.py", patch=patch),)
    )
    known = {"defect": (at,), "twin": (4, 8), "safe": (at,)}[arm]
    told = tuple(_finding(host, at) for at in known)
    name = hashlib.sha256(f"{host} {arm} {at}".encode()).hexdigest()[:10]
    facts = {"arm": arm, "pair": f"host{host}", "language": "Python"}
    if arm == "defect":
        return Case(id=name, change=change, references=told, verdict=False, facts=facts)
    return Case(id=name, change=change, rejected=told, facts=facts)


def scored_run(cases: Sequence[Case], systems: dict[str, Callable[[Case], Sequence[Comment]]]) -> ScoredRun:
    """The reviews of these systems, measured with `twins`."""
    metric, outcomes, scores = Twins(), [], []
    for system, says in systems.items():
        for case, review in zip(cases, reviews(cases, system, says), strict=True):
            found = metric.parts(case, review)
            assert isinstance(found, Measured), found
            outcomes.append(Outcome(case=case.id, system=system, review=review))
            scores.append(
                Score(
                    case=case.id,
                    system=system,
                    metric=signature(metric),
                    benchmark="b" * 64,
                    parts=found.parts,
                    facets=found.facets,
                    matching=found.matching,
                )
            )
    return ScoredRun(metric, list(cases), scores, dataset="twins", benchmark="b" * 64, outcomes=outcomes)
