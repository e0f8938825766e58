"""How fast the text metrics are, beside the libraries that people use: equal values first, then the ratios.

    python benchmarks/metrics.py [--data ../shared/data/graded-reviews] [--repeats 3]

Each run of ours and of a peer on the 5,164 pairs of GradedReviews is in a process of its own, in turns, from texts to
values, and the best of the repeats counts. Exit code 1 where an aim is missed.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from reviewgauge.core.errors import UserError
from reviewgauge.datasets.graded_reviews import GradedReviews
from reviewgauge.metrics.bleu import Bleu
from reviewgauge.metrics.chrf import Chrf
from reviewgauge.metrics.edit import Edit
from reviewgauge.metrics.meteor import Meteor, find_wordnet
from reviewgauge.metrics.rouge import Rouge
from reviewgauge.metrics.texts.text_metric import TextMetric, TextPair, text_pair
from reviewgauge.metrics.tfidf import Tfidf

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "toys"))
from nltk_wordnet import nltk_reader

LIBRARIES = ("rapidfuzz", "numpy", "scipy", "rouge-score", "nltk", "sacrebleu", "scikit-learn")
EDIT_SAMPLE = 250  # pairs that NLTK's edit_distance is timed on: all of them take it minutes
Values = Sequence[float]
Pairs = Sequence[TextPair]


def graded_pairs(folder: Path) -> list[TextPair]:
    """The texts of GradedReviews that have something to compare."""
    data = GradedReviews(path=str(folder))
    cases = {case.id: case for case in data.cases()}
    found = (text_pair(cases[review.case], review) for review in data.recorded()[0])
    return [pair for pair in found if isinstance(pair, TextPair)]


@dataclass(frozen=True)
class Row:
    """Best seconds of ours and of the peer on `n` pairs; `gap` is the largest difference of two values.

    `aim` is the ratio to reach (None: no aim), `allowed` the gap that still counts as equal.
    """

    name: str
    peer: str
    n: int
    ours: float
    theirs: float
    gap: float
    aim: float | None = None
    allowed: float = 1e-9
    note: str = ""

    @property
    def ratio(self) -> float:
        """How many times as fast ours is."""
        return self.theirs / self.ours

    @property
    def reached(self) -> bool:
        """Whether the ratio is what it should be."""
        return self.aim is None or self.ratio >= self.aim


def once(run: Callable[[], Values]) -> tuple[float, Values]:
    """(seconds, values) of one run in a forked process: imports are done, every cache is as it was before."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(run, theirs))
    process.start()
    theirs.close()
    try:
        found: tuple[float, Values] = ours.recv()
    except EOFError:
        raise RuntimeError("a timed run ended without an answer") from None
    finally:
        process.join()
    return found


def _child(run: Callable[[], Values], answer: Connection) -> None:
    gc.collect()
    start = time.perf_counter()
    values = run()
    answer.send((time.perf_counter() - start, list(values)))


def race(ours: Callable[[], Values], theirs: Callable[[], Values], repeats: int) -> tuple[float, float, Values, Values]:
    """Best seconds of both over `repeats` runs each, taken in turns, and what they said."""
    mine, peers = [], []
    values: tuple[Values, Values] = ((), ())
    for _ in range(repeats):
        first, second = once(ours), once(theirs)
        mine.append(first[0])
        peers.append(second[0])
        values = (first[1], second[1])
    return min(mine), min(peers), *values


def gap(ours: Values, theirs: Values) -> float:
    """The largest difference between two values of one pair."""
    return max((abs(a - b) for a, b in zip(ours, theirs, strict=True)), default=0.0)


def table(rows: Sequence[Row]) -> str:
    """The rows as text, ratios last."""
    lines = [f"{'metric':<34}{'peer':<30}{'pairs':>7}{'ours':>10}{'peer':>10}{'largest gap':>13}{'ratio':>9}{'aim':>8}"]
    for row in rows:
        aim = f"{row.aim:,.1f}x" if row.aim is not None else ""
        lines.append(
            f"{row.name:<34}{row.peer:<30}{row.n:>7,}{row.ours:>8.3f} s{row.theirs:>8.2f} s{row.gap:>13.1e}"
            f"{row.ratio:>8,.1f}x{aim:>8}{'' if row.reached else '   below the aim'}"
        )
        if row.note:
            lines.append(f"  {row.note}")
    return "\n".join(lines)


def of_ours(metric: TextMetric, measure: str, pairs: Pairs) -> Values:
    return [parts[measure] for parts in metric.segments(pairs)]


def one_by_one(score: Callable[[str, str], float], pairs: Pairs) -> Values:
    return [score(pair.hypothesis, pair.references[0]) for pair in pairs]


def rows(pairs: Pairs, repeats: int) -> Iterator[Row]:
    """One row a metric; raises where values differ."""
    timed = partial(_row, pairs=pairs, repeats=repeats)
    yield timed("ROUGE-L, stemmed, F", Rouge(), "rouge-score", _rouge_score(), measure="f", aim=10)
    with tempfile.TemporaryDirectory() as folder:
        yield from _meteor(Path(folder), pairs, repeats)
    yield timed("BLEU of sentences", Bleu(), "sacrebleu BLEU", _sacrebleu("BLEU"), aim=2.5)
    yield timed("chrF", Chrf(), "sacrebleu CHRF", _sacrebleu("CHRF"), aim=2)
    yield timed("chrF++", Chrf(word_order=2), "sacrebleu CHRF", _sacrebleu("CHRF", 2))
    yield _edit(pairs, repeats)
    yield _tfidf(pairs, repeats)


def _row(
    name: str,
    metric: TextMetric,
    peer: str,
    score: Callable[[str, str], float],
    *,
    pairs: Pairs,
    repeats: int,
    measure: str = "value",
    aim: float | None = None,
    note: str = "",
) -> Row:
    mine, theirs, ours, expected = race(
        partial(of_ours, metric, measure, pairs), partial(one_by_one, score, pairs), repeats
    )
    return _checked(Row(name, peer, len(pairs), mine, theirs, gap(ours, expected), aim, note=note))


def _checked(row: Row) -> Row:
    if row.gap > row.allowed:
        raise AssertionError(f"{row.name}: ours and {row.peer} differ by {row.gap}")
    return row


def _rouge_score() -> Callable[[str, str], float]:
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    return lambda said, wanted: float(scorer.score(wanted, said)["rougeL"].fmeasure)


def _sacrebleu(name: str, word_order: int = 0) -> Callable[[str, str], float]:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    scorer = BLEU(effective_order=True) if name == "BLEU" else CHRF(word_order=word_order)
    return lambda said, wanted: float(scorer.sentence_score(said, [wanted]).score)


def _meteor(folder: Path, pairs: Pairs, repeats: int) -> Iterator[Row]:
    from nltk.tokenize.destructive import NLTKWordTokenizer
    from nltk.translate.meteor_score import meteor_score

    tokenize = NLTKWordTokenizer().tokenize

    def score(wordnet: Any, said: str, wanted: str) -> float:
        return float(meteor_score([tokenize(wanted.lower())], tokenize(said.lower()), wordnet=wordnet))

    class NoSynonyms:
        def synsets(self, _: str) -> Sequence[Any]:
            return []

    timed = partial(_row, peer="nltk meteor_score", pairs=pairs, repeats=repeats, aim=5)
    found, reader = find_wordnet(), nltk_reader(folder)
    note = "METEOR with WordNet was not timed: Debian's wordnet-base and wordnet-sense-index hold it"
    if found is not None and reader is not None:
        found.synonyms("dogs")  # both have read their indexes before the clock starts, and no word of the texts
        reader.synsets("dogs")
        note = ""
        yield timed(f"METEOR, WordNet {found.version}", Meteor(variant="nltk"), score=partial(score, reader))
    plain = Meteor(wordnet="none", variant="nltk")
    yield timed("METEOR, no WordNet", plain, score=partial(score, NoSynonyms()), note=note)


def _edit(pairs: Pairs, repeats: int) -> Row:
    from nltk.metrics.distance import edit_distance

    step = max(1, len(pairs) // EDIT_SAMPLE)
    sample = pairs[::step]

    def score(said: str, wanted: str) -> float:
        return 1 - float(edit_distance(said, wanted)) / max(len(said), len(wanted), 1)

    mine, theirs, ours, expected = race(
        partial(of_ours, Edit(), "similarity", pairs), partial(one_by_one, score, sample), repeats
    )
    scale = _products(pairs) / max(1, _products(sample))
    note = f"nltk ran on {len(sample)} of the pairs, its seconds times {scale:.1f}: the characters that it compares"
    apart = gap(ours[::step], expected)
    return _checked(
        Row("edit similarity", "nltk edit_distance", len(pairs), mine, theirs * scale, apart, aim=1000, note=note)
    )


def _products(pairs: Pairs) -> int:
    return sum(len(pair.hypothesis) * len(pair.references[0]) for pair in pairs)


def _tfidf(pairs: Pairs, repeats: int) -> Row:
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer

    def theirs() -> Values:
        vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True)
        said, wanted = [pair.hypothesis for pair in pairs], [pair.references[0] for pair in pairs]
        vectorizer.fit(dict.fromkeys([*said, *wanted]))
        product = vectorizer.transform(said).multiply(vectorizer.transform(wanted))
        found: list[float] = np.asarray(product.sum(axis=1)).ravel().tolist()
        return found

    metric = Tfidf(idf="batch")
    mine, others, ours, expected = race(partial(of_ours, metric, "value", pairs), theirs, repeats)
    row = Row("TF-IDF, 3 to 5 characters", "scikit-learn", len(pairs), mine, others, gap(ours, expected))
    return _checked(row)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = Path(__file__).resolve().parents[1]
    parser.add_argument("--data", type=Path, default=root.parent / "shared/data/graded-reviews")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    try:
        pairs = graded_pairs(options.data)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    versions = " ".join(f"{name} {metadata.version(name)}" for name in LIBRARIES)
    print(f"{len(pairs):,} pairs, best of {options.repeats}; Python {platform.python_version()}, {versions}")
    found = list(rows(pairs, options.repeats))
    print(table(found))
    return 0 if all(row.reached for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
