"""What `hits` says of comments that an expert wrote, having seen the fix, on labelled defects of real histories.

    reviewgauge build CLONE -o bench-NAME --set horizon=365 --set certainty=0 --set strict=false --set min_days=0
    python benchmarks/experts.py benchmarks/experts/held.jsonl bench-black bench-httpx [--fit]

The data names the repositories. Labels are left out since that were in when the experts wrote; these settings keep
most. Each comment is scored alone on its case: as it stands; the comments swapped between cases, at their own places
and on the labelled lines; empty words on the labelled lines; and words that quote the line and say nothing. Printed:
how many are credited (a probability of a half or more), the mean probability, and the bounds if all that is unsure is
wrong or right. The truth is all for the first row, none for the others. `--fit` fits the weights of a fix's message
and of the words that it brought (`FIX` in judges/pairs/lexical_model.py); the wrong ones are swapped and quoting
comments, and templates that restate the change, with its title and a line of it, on the labelled lines and without a
place.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from offline.logistic_fit import fit_logistic

from reviewgauge.core.records import Case, Comment, Review, Side, Span
from reviewgauge.core.results import CommentState
from reviewgauge.judges.pairs.fixes import added_words, fix_text
from reviewgauge.judges.pairs.lexical_model import LexicalModel, load_weights, logit_of
from reviewgauge.metrics.hits import Hits
from reviewgauge.repo.diff.diffs import parse_patch

EMPTY = "Please double check this line."
QUOTES = (
    "`{}` is hard to read, please rename the variables here.",
    "`{}`: possible bug, this may raise an exception or return a wrong value; add error handling and a test.",
    "Nit: add a docstring and type annotations for `{}`",
    "Is `{}` covered by a test? I do not see one for this branch.",
)
DECOYS = (
    "fix: fixed {0} {1}",
    "The handling of {0} is wrong: {1}",
    "{0} {1} is wrong: the behaviour differs from what callers expect, and nobody will notice until production.",
)
QUOTING, RESTATING = 0.1, 0.3  # the shares of the wrong comments' weight that such ones have in the fit
LIMIT = 0.005  # as in the model
HITS = Hits()


class Expert(NamedTuple):
    """A comment on a case, and the finding that it is about."""

    case: Case
    reference: Comment
    body: str
    span: Span


def read(file: Path, benches: Sequence[Path]) -> Iterator[Expert]:
    """The comments of `file` whose case is in one of the benchmarks, with the finding that they are about."""
    cases = {}
    for bench in benches:
        for line in (bench / "cases.jsonl").read_text(encoding="utf-8").splitlines():
            case = Case.model_validate_json(line)
            cases[case.id.rpartition("/")[2]] = case
    for line in file.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        if (found := cases.get(one["case"])) is None:
            continue
        span = Span(path=one["path"], start=one["line"], end=one["end"])
        known = (reference for reference in found.references if reference.id == one["reference"])
        yield from (Expert(found, reference, one["body"], span) for reference in known)


def quoted(expert: Expert) -> str:
    """The first labelled line."""
    place = expert.reference.span
    for file in expert.case.change.files:
        if place is not None and file.path == place.path and place.side is Side.NEW:
            for line in (line for hunk in parse_patch(file.patch or "") for line in hunk.lines):
                if line.new == place.start:
                    return line.text.strip()
    return ""


def row(name: str, said: Sequence[tuple[Case, str, Span | None]]) -> str:
    """The outcomes of these comments, each alone on its case, as a row of a table."""
    credit, least, most = [], 0, 0
    for case, body, span in said:
        comment = Comment(id="comment", body=body, span=span)
        found = HITS.parts(case, Review(case=case.id, system="expert", comments=(comment,)))
        assert not isinstance(found, str) and found.matching is not None
        outcome = found.matching.comments[0]
        credit.append(outcome.credit)
        least += outcome.state is CommentState.MATCHED and not outcome.unsure
        most += outcome.state in (CommentState.MATCHED, CommentState.UNSURE)
    n, half = len(said), sum(value >= 0.5 for value in credit)
    return f"| {name} | {half} of {n} | {np.mean(credit):.2f} [{least / n:.2f}, {most / n:.2f}] |"


def table(experts: Sequence[Expert]) -> Iterator[str]:
    """The rows: the comments, and comments that are wrong in one way each."""
    yield "| comments | credited | mean, and if all that is unsure is wrong or right |\n|---|---|---|"
    yield row("the expert", [(one.case, one.body, one.span) for one in experts])
    for step in (1, 7, 13):
        pairs = [(one, experts[(at + step) % len(experts)]) for at, one in enumerate(experts)]
        yield row(f"swapped by {step}, at their places", [(one.case, other.body, other.span) for one, other in pairs])
        on_lines = [(one.case, other.body, one.reference.span) for one, other in pairs]
        yield row(f"swapped by {step}, on the labelled lines", on_lines)
    yield row("empty words on the labelled lines", [(one.case, EMPTY, one.reference.span) for one in experts])
    quoting = [(one.case, QUOTES[0].format(quoted(one)), one.reference.span) for one in experts]
    yield row("quoting the labelled line", quoting)
    yield row("the expert, without a place", [(one.case, one.body, None) for one in experts])
    yield row("empty words without a place", [(one.case, EMPTY, None) for one in experts])


def fit(experts: Sequence[Expert]) -> tuple[float, ...]:
    """(constant, weight of the message, weight of the words that the fix brought), at the judge's base rate."""
    model, weights = LexicalModel(load_weights("")[0]), load_weights("")[0]

    def evidence(body: str, about: Expert, span: Span | None) -> list[float]:
        fix = fix_text(about.reference)
        assert fix is not None
        body = added_words(Comment(id="comment", body=body, span=span), about.reference, about.case.change)
        found = model.pair(body, fix.said), model.pair(body, fix.brought) if fix.brought else 0.0
        return [logit_of(min(max(p, LIMIT), 1 - LIMIT)) for p in found]

    swapped = [(one, other) for one in experts for other in experts if one is not other]
    places = [(one, place) for one in experts for place in (one.reference.span, None)]
    kinds = [
        (1.0, [evidence(one.body, one, one.span) for one in experts]),
        (1 - QUOTING - RESTATING, [evidence(one.body, other, other.reference.span) for one, other in swapped]),
        (QUOTING, [evidence(text.format(quoted(one)), one, one.reference.span) for one in experts for text in QUOTES]),
        (
            RESTATING,
            [
                evidence(text.format(one.case.change.title, quoted(one)), one, at)
                for one, at in places
                for text in DECOYS
            ],
        ),
    ]
    x = np.array([row for _, rows in kinds for row in rows])
    y = np.arange(len(x)) < len(experts)
    shares = np.concatenate([np.full(len(rows), share * len(experts) / len(rows)) for share, rows in kinds])
    found = fit_logistic(x, y, c=2.0, weights=shares)
    slopes = [c / s for c, s in zip(found.coefficients, found.scales, strict=True)]
    constant = found.intercept - sum(s * m for s, m in zip(slopes, found.means, strict=True))
    return (constant + logit_of(weights.base_rate or 0.5), *slopes)


def main() -> None:
    """Print the table, and the fit where it is asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("benches", type=Path, nargs="+")
    parser.add_argument("--fit", action="store_true")
    options = parser.parse_args()
    experts = list(read(options.file, options.benches))
    print("\n".join(table(experts)))
    if options.fit:
        print("FIX =", tuple(round(value, 2) for value in fit(experts)))


if __name__ == "__main__":
    main()
