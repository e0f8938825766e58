"""What a cascade after the offline judge asks, saves and loses, with Martian's stored verdicts as the second judge.

    python benchmarks/cascade.py --from ../shared/data/martian [--json]

Rows are (change, tool, golden comment) of one model judge: was the golden comment found? `lexical` judges each
repository by weights that have not seen it. It decides outside its band; inside, the model judge's stored verdict is
taken. Stored are verdicts on the best candidate of a golden comment only. A candidate that was passed over for it was
judged too, but is not stored: "no" takes it for a no, which loses nothing that the row shows; "lexical" leaves the
offline judge's own word. Intervals: 95%, percentile bootstrap over changes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reviewgauge.analysis.stats.agreement import COHEN, Resampling, agree
from reviewgauge.analysis.stats.bootstrap import Resampler
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case, Review
from reviewgauge.core.results import Verdict
from reviewgauge.datasets.martian import Martian, judges
from reviewgauge.judges.cascade import Cascade
from reviewgauge.judges.lexical import Lexical
from reviewgauge.judges.recorded import Recorded
from reviewgauge.metrics.matching.match import Rules, match

BANDS = ((0.1, 0.9), (0.05, 0.95), (0.2, 0.8))
Table = Sequence[Sequence[Verdict | None]]


def rules(threshold: float) -> Rules:
    """The default policy of `hits`."""
    return Rules(
        policy="optimal", variant="", location="hint", tolerance=1, threshold=threshold, sure=0.5, penalty=0.15
    )


def found(case: Case, review: Review, table: Table, threshold: float) -> list[bool]:
    """Whether each golden comment was hit."""
    hit = {group.group: group.hit for group in match(case, review, table, rules(threshold)).groups}
    return [hit[reference.id] for reference in case.references]


def gaps_as_no(before: Table, after: Table, cascade: Cascade) -> Table:
    """The cascade's table where an unsure pair without a stored verdict is a no."""
    no = Verdict(probability=0.0, same=False, reason="not stored")
    return [
        [
            no if old and new and old.unsure and not cascade.was_asked(new) else new
            for old, new in zip(a, b, strict=True)
        ]
        for a, b in zip(before, after, strict=True)
    ]


def study(folder: Path, low: float, high: float, resamples: int) -> list[dict[str, Any]]:
    """One record a model judge."""
    data = Martian(path=str(folder))
    plain = {case.id: case for case in data.cases()}
    first = Lexical(low=low, high=high)
    records = []
    for rater in judges(folder):
        reviews, labels = data.recorded(extractor=rater)
        cases = {
            name: case.model_copy(update={"labels": tuple(x for x in labels if x.subject.case == name)})
            for name, case in plain.items()
        }
        judged = {(x.subject.case, x.subject.system) for x in labels}
        then = Recorded(rater=rater)
        cascade = Cascade(first=f"lexical(low={low}, high={high})", then=f"recorded(rater={rater!r})")
        rows: dict[str, list[bool]] = {name: [] for name in ("model", "lexical", "cascade, no", "cascade, lexical")}
        changes: list[str] = []
        pairs = asked = 0
        for review in reviews:
            case = cases[review.case]
            if (case.id, review.system) not in judged:
                continue
            one = first.judge(case, review.comments, case.references, review)
            both = cascade.judge(case, review.comments, case.references, review)
            tables = (
                then.judge(case, review.comments, case.references, review),
                one,
                gaps_as_no(one, both, cascade),
                both,
            )
            for name, table in zip(rows, tables, strict=True):
                rows[name] += found(case, review, table, first.threshold)
            changes += [case.id] * len(case.references)
            pairs += len(review.comments) * len(case.references)
            asked += sum(verdict.unsure for row in one for verdict in row if verdict is not None)
        cluster = np.unique(changes, return_inverse=True)[1]
        resampling = Resampling(cluster, Resampler(int(cluster.max()) + 1, resamples, 0))
        record: dict[str, Any] = {"judge": rater, "rows": len(changes), "pairs": pairs, "asked": asked}
        for name in list(rows)[1:]:
            both_rows = np.array([rows["model"], rows[name]], dtype=float)
            figure = agree(both_rows, COHEN, resampling=resampling)
            record[name] = {
                "kappa": figure.value, "low": figure.low, "high": figure.high,
                "differs": float((both_rows[0] != both_rows[1]).mean()),
            }  # fmt: skip
        records.append(record)
    return records


def render(low: float, high: float, records: Sequence[dict[str, Any]]) -> str:
    """One line a model judge and way."""
    lines = [f"lexical decides up to {low} and from {high} on"]
    for record in records:
        share = record["asked"] / record["pairs"]
        lines.append(
            f"  {record['judge']}: {record['rows']} rows; asked about {record['asked']} of {record['pairs']} pairs"
            f" ({share:.1%}), {1 - share:.1%} saved"
        )
        for name in ("lexical", "cascade, no", "cascade, lexical"):
            cell = record[name]
            lines.append(
                f"    {name:<18} kappa with the model {cell['kappa']:.3f} [{cell['low']:.3f}, {cell['high']:.3f}],"
                f" {cell['differs']:.1%} of the rows differ"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="martian", type=Path, required=True, help="Martian's folder")
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        found_all = {band: study(options.martian, *band, options.resamples) for band in BANDS}
    except UserError as error:
        raise SystemExit(str(error)) from None
    if options.json:
        print(json.dumps([{"low": low, "high": high, "judges": r} for (low, high), r in found_all.items()], indent=1))
        return
    print("\n".join(render(low, high, records) for (low, high), records in found_all.items()))


if __name__ == "__main__":
    main()
