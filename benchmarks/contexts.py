"""How fast code is found for a hunk: the index of a commit, queries beside rank-bm25, and whole contexts.

    python benchmarks/contexts.py PATH [--commits 50] [--hunks 200] [--peer-queries 20]

PATH is a git repository, of which HEAD is indexed, in a cache of its own. The queries are hunks of its last commits.
rank-bm25 (benchmarks/peers.txt) gets the same chunks and the same words. Its idf differs from that of Lucene, so the
nearest chunk may: how often it is the same is printed too.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from reviewgauge.contexts import bm25 as word_module
from reviewgauge.contexts.bm25 import WordIndex, code_words, word_index
from reviewgauge.contexts.code import index as code_module
from reviewgauge.contexts.code.nearest import query_of
from reviewgauge.contexts.code.once_cache import OnceCache
from reviewgauge.core.records import Change
from reviewgauge.repo.git.repository import Repository
from reviewgauge.reviewers.reading.change_text import pieces_of
from reviewgauge.reviewers.reading.context_text import context_text, load_contexts

CONTEXTS = ("function", "file", "definitions", "bm25", "bm25(k=10)")


def hunks(repository: Repository, git: str, commits: int, most: int) -> tuple[Change, list[Change]]:
    """The last commits as one change, and its hunks, spread evenly."""
    lines = repository.run("rev-list", "--first-parent", f"--max-count={commits + 1}", "HEAD").decode().split()
    base, head = lines[-1], lines[0]
    files = repository.changed_files(base, head)
    change = Change(repo="o/r", base=base, head=head, git=git, files=files)
    found = [piece.change for piece in pieces_of(change, "hunk").pieces if query_of(piece.change).strip()]
    return change, found[:: max(1, len(found) // most)][:most]


def seconds(run: Callable[[], object]) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def said(taken: Sequence[float]) -> str:
    high = sorted(taken)[int(0.95 * len(taken))]
    middle = 1000 * statistics.median(taken)
    return f"{len(taken)}, median {middle:.2f} ms, 95% under {1000 * high:.2f} ms, {1 / statistics.mean(taken):,.1f}/s"


def opened(git: str, commit: str) -> tuple[float, WordIndex]:
    """(seconds, the index) as a new process would open it."""
    code_module._INDEXES = OnceCache(4)
    word_module._INDEXES = OnceCache(4)
    begin = time.perf_counter()
    index = word_index(git, commit)
    return time.perf_counter() - begin, index


def peer(documents: Sequence[Sequence[str]]) -> Any | None:
    """rank-bm25 on the same documents; None where it is not installed."""
    try:
        from rank_bm25 import BM25Okapi
    except ImportError:
        return None
    return BM25Okapi(documents, k1=1.5, b=0.75)


def race(index: WordIndex, texts: Sequence[str], pieces: Sequence[Change], queries: int) -> None:
    """Scores of every chunk for the same queries, ours and rank-bm25's."""
    asked = [query_of(piece) for piece in pieces]
    ours = [seconds(partial(index.scores, query)) for query in asked]
    print(f"query, ours: {said(ours)}")
    theirs = peer([code_words(text) for text in texts])
    if theirs is None:
        print("rank-bm25 is not installed: pip install -r benchmarks/peers.txt")
        return
    some, slow, same = asked[:: max(1, len(asked) // queries)][:queries], [], 0
    for query in some:
        begin = time.perf_counter()
        found = theirs.get_scores(list(dict.fromkeys(code_words(query))))
        slow.append(time.perf_counter() - begin)
        same += int(np.argmax(found)) == int(np.argmax(index.scores(query)))
    quick = [seconds(partial(index.scores, query)) for query in some]
    print(f"query, rank-bm25: {said(slow)}")
    print(f"ratio on these {len(some)}: {sum(slow) / sum(quick):,.0f}x; the same nearest chunk in {same}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--commits", type=int, default=50)
    parser.add_argument("--hunks", type=int, default=200)
    parser.add_argument("--peer-queries", type=int, default=20)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["REVIEWGAUGE_CACHE"] = cache
        repository = Repository(asked.path)
        git = str(asked.path)
        change, pieces = hunks(repository, git, asked.commits, asked.hunks)
        first, index = opened(git, change.head or "")
        again, index = opened(git, change.head or "")
        rows = index.code.chunk_rows
        print(f"{len(index.code.paths):,} files, {len(rows):,} chunks, {len(index.code.names):,} definitions")
        print(f"index: made in {first:.1f} s, from the cache in {1000 * again:.0f} ms")
        race(index, list(index.code.chunk_texts()), pieces, asked.peer_queries)
        for spec in CONTEXTS:
            contexts = load_contexts(spec)
            print(f"context {spec}: {said([seconds(partial(context_text, contexts, change, one)) for one in pieces])}")


if __name__ == "__main__":
    main()
