"""Run folders to look at, measured for real, and a viewer over them in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from annotation_client import Client, serving_pages
from reviewgauge.core.protocols import Metric
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Review, Severity, Span, Usage
from reviewgauge.core.results import Failure, FailureKind, Outcome
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.score import score
from reviewgauge.metrics.hits import Hits
from reviewgauge.metrics.twins import Twins
from reviewgauge.viewer.app import Viewer, open_viewer
from reviewgauge.viewer.runs import find_runs
from reviewgauge.viewer.selection import Selection, Shelf, read_selection
from twin_pairs import hosts, told
from waiting import HANGS

WRONG = (
    "Off by one: the loop stops before the last page, so its entries are never read.",
    "SQL injection: `order` goes into the query as text, and a caller can append any statement.",
    "Resource leak: the file stays open when `parse` raises, because nothing closes it.",
)
NOISE = "Consider a docstring for this function."
PATCH = "@@ -1,3 +1,5 @@\n def load(order):\n-    rows = one()\n+    rows = query(order)\n+    for page in range(last):\n+        read(page)\n     return rows\n"  # noqa: E501

Says = Callable[[Case], Sequence[Comment]]


def plain_cases() -> list[Case]:
    """Four changes: two findings, one finding, a clean one, and one without a title, a fact, a file or a finding."""
    file = ChangedFile(path="src/load.py", patch=PATCH)

    def of(number: int, *wrong: int, **more: object) -> Case:
        references = tuple(
            Comment(id=f"r{at}", body=WRONG[at], span=Span(path="src/load.py", start=2 + at), severity=Severity.HIGH)
            for at in wrong
        )
        change = Change(repo="acme/shop", title=f"Load orders {number}", files=(file,), description="As asked.")
        return Case(id=f"shop-{number}", change=change, references=references, **more)

    return [
        of(1, 0, 1, facts={"language": "Python", "size": 4}),
        of(2, 2, facts={"language": "Go", "size": 4}),
        of(3, verdict=True, facts={"language": "Go", "size": 4}),
        Case(id="bare", change=Change(repo="acme/tools")),
    ]


def comment(at: int, body: str, name: str = "c") -> Comment:
    """A comment on a line of the file."""
    return Comment(id=f"{name}{at}", body=body, span=Span(path="src/load.py", start=at))


def finds(case: Case) -> list[Comment]:
    """Every finding, in its words."""
    return [comment(one.span.start or 1, one.body) for one in case.references if one.span]


def misses(case: Case) -> list[Comment]:
    """The first finding of two, and a false comment."""
    return [*finds(case)[: len(case.references) - 1], comment(5, NOISE, "n")]


def nothing(case: Case) -> list[Comment]:
    return []


def write_run(
    folder: Path,
    systems: Mapping[str, Says],
    cases: Sequence[Case] | None = None,
    metrics: Sequence[Metric] = (Hits(),),
    *,
    broken: Sequence[tuple[str, str]] = (),
) -> Path:
    """A run of these systems; of those pairs of (case, system) the review failed."""
    cases = plain_cases() if cases is None else cases
    with RunFolder.create(folder, dataset="toy", dataset_path="", cases=cases) as run:
        for system, says in systems.items():
            run.add_systems({system: {}}, "silent()" if system == "silent" else "tool()")
            for case in cases:
                run.append_outcome(_outcome(case, system, says, failed=(case.id, system) in broken))
        for metric in metrics:
            score(run, metric)
    return folder


def _outcome(case: Case, system: str, says: Says, *, failed: bool) -> Outcome:
    if failed:
        failure = Failure(kind=FailureKind.TIMEOUT, message="no answer within 600 s")
        return Outcome(case=case.id, system=system, failure=failure)
    usage = Usage(calls=1, dollars=0.25)
    return Outcome(
        case=case.id, system=system, review=Review(case=case.id, system=system, comments=tuple(says(case)), usage=usage)
    )


def twin_run(folder: Path) -> Path:
    """A run on injected defects and their twins: one system tells them apart, one says the same of both."""
    keen = {"keen": lambda case: told(case, ["defect"]), "blind": lambda case: told(case, ["defect", "twin"])}
    return write_run(folder, keen, hosts(1), (Twins(),))


def selected(*folders: Path) -> Selection:
    """What is shown of these runs together."""
    found = {run.path: run for run in find_runs(folders).values()}
    return read_selection([found[folder] for folder in folders], 50, 0)


@contextmanager
def viewed(*folders: Path) -> Iterator[tuple[Client, str]]:
    """(somebody who came by the link, the link) of a viewer over these folders."""
    service = open_viewer(Viewer(folders, Shelf(50, 0)))
    with patch("reviewgauge.viewer.app.PATIENCE", HANGS), serving_pages(service):
        client = Client(service.link.partition("/enter/")[0])
        yield client, service.link


def slug_of(folder: Path) -> str:
    """A run's part of an address."""
    return next(iter(find_runs([folder])))
