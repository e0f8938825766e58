"""How fast the text metrics are, beside the libraries that people use: equal values first, then the ratios.

    python benchmarks/metrics.py [--data ../shared/data/graded-reviews] [--repeats 3]
    python benchmarks/metrics.py --stream [1000000]

The first measures the 5,164 pairs of GradedReviews. Each run of ours and of a peer is in a process of its own, in
turns, from texts to values, and the best of the repeats counts. The second streams made-up pairs through the metrics,
window by window, and prints the most memory that the process held. Exit code 1 where an aim is missed.
"""

from __future__ import annotations

import argparse
import platform
import random
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from importlib import metadata
from itertools import islice
from pathlib import Path

from timed.measure_stream import measure_stream
from timed.table import Row, graded_pairs, table

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Measured, Metric
from reviewgauge.core.records import Case, Change, Comment, Review
from reviewgauge.core.specs import load, short_spec
from reviewgauge.metrics.texts.text_metric import TextPair

LIBRARIES = ("rapidfuzz", "numpy", "scipy", "rouge-score", "nltk", "sacrebleu", "scikit-learn")
STREAMED = ("rouge", "meteor", "bleu", "chrf", "edit", "jaccard", "tfidf")
WINDOW = 1024  # pairs
MOST = 500  # MB that streaming may hold


def embedding_rows(pairs: Sequence[TextPair], repeats: int, peers: Path | None) -> tuple[list[Row], str]:
    """(the rows of `timed/embeddings.py`, why there are none)."""
    from timed import embeddings

    try:
        return list(embeddings.rows(pairs, repeats, peers)), ""
    except UserError as error:
        return [], f"BERTScore and embeddings: no rows, {error}"


def compare(folder: Path, repeats: int, peers: Path | None) -> int:
    """Print the table; 1 where an aim is missed."""
    from timed import lexical_metrics

    pairs = graded_pairs(folder)
    versions = " ".join(f"{name} {metadata.version(name)}" for name in LIBRARIES)
    print(f"{len(pairs):,} pairs of GradedReviews, best of {repeats}; Python {platform.python_version()}, {versions}")
    rows = list(lexical_metrics.rows(pairs, repeats))
    more, missing = embedding_rows(pairs, repeats, peers)
    print(table([*rows, *more]))
    if missing:
        print(missing)
    return 0 if all(row.reached for row in (*rows, *more)) else 1


def made_up(count: int, seed: int = 0) -> Iterator[tuple[Case, Review]]:
    """Pairs of comments of 5 to 40 words out of 20,000, a third of them shared; no two pairs are the same."""
    draw = random.Random(seed)
    syllables = [a + b for a in "bcdfglmnprst" for b in ("a", "e", "i", "on", "er")]
    words = ["".join(draw.choices(syllables, k=draw.randint(1, 4))) for _ in range(20_000)]
    change = Change(repo="made/up")
    for i in range(count):
        wanted = draw.choices(words, k=draw.randint(5, 40))
        said = [word for word in wanted if draw.random() < 1 / 3] + draw.choices(words, k=draw.randint(3, 25))
        reference = Comment(id="r", body=" ".join(wanted) + f" in line {i}.")
        case = Case(id=f"case-{i}", change=change, references=(reference,))
        yield case, Review(case=case.id, system="made-up", comments=(Comment(id="c", body=" ".join(said)),))


def peak() -> float:
    """The most memory that this process has held, in MB."""
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return held / (1024 * 1024 if sys.platform == "darwin" else 1024)


def stream(count: int) -> int:
    """Print rates and memory; 1 where it held too much."""
    metrics = [load(Metric, spec) for spec in STREAMED]
    seconds, sums = dict.fromkeys(metrics, 0.0), dict.fromkeys(metrics, 0)
    start, source, done = time.perf_counter(), made_up(count), 0
    print(f"{'pairs':>10}{'seconds':>10}{'peak':>10}")
    while window := list(islice(source, WINDOW)):
        for metric in metrics:
            began = time.perf_counter()
            answers = measure_stream(metric, window, batch=WINDOW)
            sums[metric] += sum(isinstance(answer, Measured) for answer in answers)
            seconds[metric] += time.perf_counter() - began
        done += len(window)
        if done * 10 // count > (done - len(window)) * 10 // count:
            print(f"{done:>10,}{time.perf_counter() - start:>8.0f} s{peak():>7.0f} MB", flush=True)
    for metric in metrics:
        assert sums[metric] == count, f"{short_spec(metric)} measured {sums[metric]} of {count}"
        print(f"{short_spec(metric):<10}{count / seconds[metric]:>10,.0f} pairs/s")
    held = peak()
    print(f"peak {held:.0f} MB, {MOST} MB allowed; {count / sum(seconds.values()):,.0f} pairs/s through all of them")
    return 0 if held <= MOST else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = Path(__file__).resolve().parents[1]
    parser.add_argument("--data", type=Path, default=root.parent / "shared/data/graded-reviews")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peers", type=Path, help="a Python with benchmarks/peers.txt (default: $REVIEWGAUGE_PEERS)")
    parser.add_argument("--stream", type=int, nargs="?", const=1_000_000, metavar="PAIRS")
    options = parser.parse_args()
    try:
        return stream(options.stream) if options.stream else compare(options.data, options.repeats, options.peers)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
