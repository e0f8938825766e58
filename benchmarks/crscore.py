"""How fast CRScore is with words, beside scikit-learn: equal values first, then the ratio and the sets a minute.

    python benchmarks/crscore.py [--data ../shared/data/crscore] [--repeats 3]

A set is a review with the claims of its change, of the CRScore study. Both take the same sentences, words and weights
and pair sentences with claims by SciPy. Ours measures the sets as a run is scored, in batches; the peer turns the texts
of one set after another into vectors (TfidfVectorizer, fitted before the clock starts) and takes cosine_similarity.
Exit code 1 where fewer than 10,000 sets a minute are measured, or values differ.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path

import numpy as np
from metrics import Row, Values, gap, race, table

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Measured
from reviewgauge.core.records import Case, Review
from reviewgauge.datasets.crscore_study import CrscoreStudy
from reviewgauge.metrics.coverage.sentences import sentences
from reviewgauge.metrics.crscore import REL, Crscore
from reviewgauge.models.text.idf import Grams, table_of

AIM = 10_000  # sets a minute
LIBRARIES = ("numpy", "scipy", "scikit-learn")
Sets = Sequence[tuple[Case, Review]]


def study_sets(folder: Path) -> Sets:
    """The reviews with a sentence, each with its case."""
    data = CrscoreStudy(path=str(folder))
    cases = {case.id: case for case in data.cases()}
    found = [(cases[review.case], review) for review in data.recorded()[0]]
    return [(case, review) for case, review in found if case.claims and _spoken(review)]


def _spoken(review: Review) -> tuple[str, ...]:
    return sentences("\n".join(comment.body for comment in review.comments))


def ours(sets: Sets) -> Values:
    """`rel` of each set."""
    return [found.parts[REL] for found in Crscore(model="words").parts_many(sets) if isinstance(found, Measured)]


def peer(sets: Sets) -> Callable[[], Values]:
    """The same by scikit-learn and SciPy, one set at a time."""
    from scipy.optimize import linear_sum_assignment
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.metrics.pairwise import cosine_similarity

    grams = Grams("words", 1, 1)
    claims = {case.id: [claim.body for claim in case.claims] for case, _ in sets}
    vectorizer = TfidfVectorizer(analyzer=lambda text: list(grams.strings(text)), sublinear_tf=True)
    vectorizer.fit([text for case, review in sets for text in (*claims[case.id], *_spoken(review))])
    vectorizer.idf_ = table_of(grams).of(grams.keys(list(vectorizer.get_feature_names_out())))

    def run() -> Values:
        found = []
        for case, review in sets:
            said = vectorizer.transform(_spoken(review))
            cosines = cosine_similarity(vectorizer.transform(claims[case.id]), said).clip(0, 1)
            total = float(cosines[linear_sum_assignment(cosines, maximize=True)].sum())
            found.append(2 * total / np.sum(cosines.shape))
        return found

    return run


def compare(folder: Path, repeats: int) -> int:
    """Print the row; 1 where values differ or the aim is missed."""
    sets = study_sets(folder)
    versions = " ".join(f"{name} {metadata.version(name)}" for name in LIBRARIES)
    print(
        f"{len(sets):,} sets, best of {repeats}; Python {platform.python_version()}, {versions}, {os.cpu_count()} cores"
    )
    mine, theirs, values, expected = race(lambda: ours(sets), peer(sets), repeats)
    row = Row("CRScore, words", "scikit-learn", len(sets), mine, theirs, gap(values, expected))
    print(table([row]))
    rate = 60 * len(sets) / mine
    print(f"{rate:,.0f} sets a minute in one process, aim {AIM:,}; the peer {60 * len(sets) / theirs:,.0f}")
    return int(row.gap > row.allowed or rate < AIM)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = Path(__file__).resolve().parents[1]
    parser.add_argument("--data", type=Path, default=root.parent / "shared/data/crscore")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    try:
        return compare(options.data, options.repeats)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
