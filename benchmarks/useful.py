"""Reviews whose usefulness is known, for `useful_suggestions`: `python benchmarks/useful.py BENCH`, then score them.

Of each change with a verified finding: `oracle` suggests the fix's own patch without its tests (of a
defect that was put in, the lines before it), `inverse` a line that
ends every import of the file, `untouched` the lines as they are, `empty` nothing. They are written to
BENCH/reviews.jsonl: `reviewgauge review BENCH recorded analyser -o RUN`, `reviewgauge score RUN useful_suggestions`.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import reviewgauge
from reviewgauge.core.records import Case, Comment, Origin, Review, Span
from reviewgauge.datasets.jsonl import Jsonl
from reviewgauge.metrics.execution.allowed import check_path
from reviewgauge.metrics.execution.worth import tests_worth
from reviewgauge.repo.diff.edits import Refusal
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.syntax.languages import language


def fix_patch(case: Case, fix: str) -> str:
    """The fix as a diff of the code that a suggestion may edit: a changelog's old lines are long gone."""
    assert case.change.git is not None
    files = Repository(Path(case.change.git)).changed_files(f"{fix}^", fix)
    kept = []
    for file in files:
        try:
            check_path(file.path, (), "true", creates=False)
        except Refusal:
            continue
        if file.patch and language(file.path):
            kept.append(f"--- a/{file.path}\n+++ b/{file.path}\n{file.patch}")
    return "\n".join(kept)


def reviews(case: Case) -> Iterator[Review]:
    """One review an arm."""
    found = [one for one in case.references if one.id in tests_worth(case) and one.span and one.resolution]
    arms: dict[str, list[Comment]] = {"oracle": [], "inverse": [], "untouched": [], "empty": []}
    for n, one in enumerate(found):
        assert one.span is not None and one.resolution is not None
        place, said = Span(path=one.span.path, start=1), {"id": f"c{n}", "body": one.body}
        if one.origin is Origin.INJECTED:
            arms["oracle"].append(Comment(**said, span=one.span, suggestion=one.resolution.snippet))
        else:
            patch = fix_patch(case, one.resolution.commit or "")
            arms["oracle"].append(Comment(id=f"c{n}", body=f"{one.body}\n\n```diff\n{patch}\n```", span=one.span))
        arms["inverse"].append(Comment(**said, span=place, suggestion="raise ImportError('inverse')"))
        assert case.change.git is not None and case.change.head is not None
        first = (Repository(Path(case.change.git)).blob(case.change.head, one.span.path) or b"").split(b"\n")[0]
        arms["untouched"].append(Comment(**said, span=place, suggestion=first.decode()))
    for name, comments in arms.items():
        yield Review(case=case.id, system=name, comments=tuple(comments))


def used() -> tuple[float, float]:
    """Seconds by the clock, and of the processors for this process and all that it started."""
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return time.monotonic(), sum(one.ru_utime + one.ru_stime for one in spent)


def time_arms(bench: Path, lines: Mapping[str, bytes], test: str) -> None:
    """Score one arm after the other, and say what each took; what an earlier one ran is not run again."""
    spec = f"useful_suggestions(test={test!r}, visible={(sys.prefix, sys.base_prefix)!r})"
    print("| arm | changes | net | repaired | broken | wall s | CPU s |\n|---|---|---|---|---|---|---|")
    for arm in ("empty", "oracle", "inverse", "untouched", "analyser"):
        run, before = bench / "arms" / arm, used()
        (bench / "reviews.jsonl").write_bytes(lines.get(arm, b""))
        only = [f"case={json.loads(line)['case']}" for line in lines["oracle"].splitlines()]
        reviewgauge.review(str(bench), "analyser" if arm == "analyser" else "recorded", run=run, only=only)
        (row,) = reviewgauge.score(run, spec).leaderboards[0].systems
        found = [row.estimate(name) for name in ("net", "repaired", "broken")]
        shown = [f"{one.value:.2f}" if one is not None and one.value is not None else "–" for one in found]
        took = [f"{now - then:.0f}" for now, then in zip(used(), before, strict=True)]
        print(f"| {' | '.join([arm, str(row.scored), *shown, *took])} |", flush=True)


def main(name: str, test: str = "") -> None:
    """Write the reviews beside the cases; with the command of the tests also score each arm."""
    bench, lines = Path(name), defaultdict[str, bytes](bytes)
    for case in Jsonl(path=str(bench.resolve())).cases():
        for review in reviews(case) if tests_worth(case) else ():
            lines[review.system] += review.to_line()
    if test:
        time_arms(bench, lines, test)
    (bench / "reviews.jsonl").write_bytes(b"".join(lines.values()))


if __name__ == "__main__":
    main(*sys.argv[1:])
