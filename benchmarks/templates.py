"""How far a template gets that restates the change: the best of 320 against an honest reviewer.

    reviewgauge build CLONE -o BENCH
    python benchmarks/templates.py BENCH [--reviews FILE] [--experts benchmarks/experts/held.jsonl] [--top 5]

A template is an opening, what it says of the change (title, description, names in the diff, hunk header ...), and
where it stands: one comment a change without a place, one on its largest hunk, one a hunk, one a line. None looks at
what is wrong. Honest are the reviews of a file (`reviews.jsonl`) or the experts' comments; all are scored by `hits` on
the cases that were honestly reviewed. Printed: F1, clean changes left alone, comments a change.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

from experts import read

from reviewgauge.analysis.doctor.trials import Trial
from reviewgauge.core.records import Anchoring, Case, Change, Comment, Review, Span
from reviewgauge.metrics.hits import Hits
from reviewgauge.repo.diff.diffs import parse_patch

OPENINGS = (
    "fix({file}): fixed {}", "Fix {}", "The handling of {} is wrong.", "This breaks {}.", "Bug: {} fails.",
    "Missing check: {} is not handled and can be null, empty or wrong.", 'Revert "{}"', "{} no longer works as before.",
    "{} is wrong: the behaviour differs from what callers expect, and nobody will notice until production.",
    "{}: possible race, leak, injection, crash, wrong type, off by one; errors are ignored and tests are missing.",
)  # fmt: skip
MOST, SHORT = 40, 3  # comments a change; the lines of a hunk that a comment stands on
_NAME = re.compile(r"[A-Za-z_]\w{2,}")


class Spot(NamedTuple):
    """Where a comment may stand, and the text there."""

    path: str
    span: Span | None
    heading: str
    added: str


def spots(change: Change, *, lines: bool = False) -> list[Spot]:
    """The hunks of a change that added something, or its added lines."""
    found = []
    for file in change.files:
        for hunk in parse_patch(file.patch or ""):
            added = [line for line in hunk.lines if line.kind == "+"]
            for part in [[line] for line in added] if lines else [added] if added else []:
                last = part[:SHORT][-1].new
                span = Span(path=file.path, start=part[0].new, end=last)
                found.append(Spot(file.path, span, hunk.heading, "\n".join(line.text for line in part)))
    return found[:MOST]


def _names(text: str, count: int) -> str:
    return " ".join(name for name, _ in Counter(_NAME.findall(text)).most_common(count))


CONTENTS: dict[str, Callable[[Change, Spot], str]] = {
    "title": lambda change, spot: change.title,
    "title and 6 names": lambda change, spot: f"{change.title} {_names(spot.added, 6)}",
    "title and 24 names": lambda change, spot: f"{change.title} {_names(spot.added, 24)}",
    "title and description": lambda change, spot: f"{change.title} {change.description}",
    "path and 12 names": lambda change, spot: f"{spot.path} {_names(spot.added, 12)}",
    "hunk header": lambda change, spot: f"{spot.path} {spot.heading}",
    "added text": lambda change, spot: spot.added[:300],
    "path": lambda change, spot: spot.path,
}


def _whole(change: Change) -> list[Spot]:
    files = spots(change)
    path = Counter(spot.path for spot in files).most_common(1)[0][0] if files else ""
    return [Spot(path, None, "", "\n".join(spot.added for spot in files))]


PLACES: dict[str, Callable[[Change], list[Spot]]] = {
    "a change": _whole,
    "the largest hunk": lambda change: sorted(spots(change), key=lambda spot: -len(spot.added))[:1],
    "a hunk": spots,
    "a line": lambda change: spots(change, lines=True),
}


def review(case: Case, opening: str, content: str, place: str) -> Review:
    """What one template says of a case."""
    comments = []
    for at, spot in enumerate(PLACES[place](case.change)):
        body = opening.replace("{file}", Path(spot.path).stem).replace("{}", CONTENTS[content](case.change, spot))
        anchoring = Anchoring.AS_GIVEN if spot.span else Anchoring.NONE
        comments.append(Comment(id=f"t{at}", body=body, span=spot.span, anchoring=anchoring))
    return Review(case=case.id, system="template", comments=tuple(comments))


def honest_reviews(cases: Sequence[Case], options: argparse.Namespace) -> Iterator[Review]:
    """The reviews of a file, or each expert's comments as one review, and silence on what is clean."""
    if options.reviews:
        known = {case.id for case in cases}
        for line in options.reviews.read_text(encoding="utf-8").splitlines():
            one = Review.model_validate_json(line)
            if one.case in known and one.system == (options.system or one.system):
                yield one
        return
    if not options.experts:
        return
    said: dict[str, list[Comment]] = defaultdict(list)
    for expert in (found for file in options.experts for found in read(file, [options.bench])):
        own = said[expert.case.id]
        own.append(Comment(id=f"e{len(own)}", body=expert.body, span=expert.span))
    for case in cases:
        if case.id in said or case.clean:
            yield Review(case=case.id, system="expert", comments=tuple(said[case.id]))


def figures(items: Sequence[tuple[Case, Review]]) -> tuple[float, float, float]:
    """F1, the share of the clean changes left alone, comments a change."""
    trial = Trial(Hits(), items)
    return tuple(trial.value(name) or 0.0 for name in ("f1", "clean_left_alone", "comments_per_change"))  # type: ignore[return-value]


def main() -> None:
    """Print the honest reviewer and the best templates."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", type=Path)
    parser.add_argument("--reviews", type=Path)
    parser.add_argument("--system")
    parser.add_argument("--experts", type=Path, action="append", default=[])
    parser.add_argument("--top", type=int, default=5)
    options = parser.parse_args()
    lines = (options.bench / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = {case.id: case for case in map(Case.model_validate_json, lines)}
    honest = [(cases[one.case], one) for one in honest_reviews(list(cases.values()), options)]
    reviewed = [case for case, _ in honest] or list(cases.values())
    print(f"{len(reviewed)} changes, {sum(case.clean for case in reviewed)} of them clean")
    print("honest     F1 {:.2f}, clean left alone {:.2f}, {:.1f} a change".format(*figures(honest)))
    found = []
    for name in product(OPENINGS, CONTENTS, PLACES):
        found.append((figures([(case, review(case, *name)) for case in reviewed]), name))
    found.sort(key=lambda one: (-one[0][0], one[1]))
    print(f"{len(found)} templates")
    for shown, name in found[: options.top]:
        print("template   F1 {:.2f}, clean left alone {:.2f}, {:.1f} a change: ".format(*shown) + " | ".join(name))


if __name__ == "__main__":
    main()
