"""The chunks of the repository, as it is after the change, that are nearest to the hunk by BM25.

Source: AACR-Bench (arXiv:2601.19494), 4.1: BM25 (Robertson and Zaragoza 2009, https://doi.org/10.1561/1500000019) over
the code of the reviewed version, three chunks. The paper does not print its chunks, words or parameters.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from reviewgauge.contexts.code.index import CodeIndex, code_index, nearest, query_of
from reviewgauge.contexts.code.readers import code_of
from reviewgauge.contexts.code.store import Arrays, as_bytes, as_texts, keep_arrays, read_arrays
from reviewgauge.core.parameters import Positive
from reviewgauge.core.protocols import Context, Excerpt
from reviewgauge.core.records import Change
from reviewgauge.repo.processes import RecentlyUsed

# BM25 over the chunks of a commit, by bm25s: made once, and kept by the tree of the commit.
#
# Source: github.com/xhluca/bm25s (arXiv:2407.03618), its method "lucene" with k1 1.5 and b .75. Documents are chunks,
# words those of `code_words`: names as a whole, and the parts of names in camelCase or snake_case.


VERSION = 2  # of the words and of what is kept
LONGEST_QUERY = 100_000  # characters of a query that are read
Floats = npt.NDArray[np.float32]
_NAME = re.compile(r"[^\W\d]\w*")
_BREAK = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_")
_LONGEST = 100  # characters of a name; what is longer is data
_SCORES = ("data", "indices", "indptr")  # what bm25s holds


def code_words(text: str) -> list[str]:
    """Every word of `text` in order, in lower case; a name of several parts is followed by them. Numbers are none."""
    return [word for name in _NAME.findall(text) for word in words_of(name)]


@lru_cache(maxsize=200_000)
def words_of(name: str) -> tuple[str, ...]:
    """`getUserId` is `getuserid`, `get`, `user`, `id`."""
    if len(name) > _LONGEST:
        return ()
    return tuple(dict.fromkeys([name.lower(), *(part.lower() for part in _BREAK.split(name) if part)]))


@dataclass(frozen=True)
class WordIndex:
    """The BM25 weights of every word in every chunk."""

    code: CodeIndex
    numbers: dict[str, int]
    engine: Any

    def scores(self, query: str) -> Floats:
        """The score of each chunk. A word counts once, however often the query holds it."""
        words = dict.fromkeys(code_words(query[:LONGEST_QUERY]))
        known = [self.numbers[word] for word in words if word in self.numbers]
        if not known:
            return np.zeros(len(self.code.chunk_rows), dtype=np.float32)
        found: Floats = self.engine.get_scores_from_ids(known)
        return found


_INDEXES: RecentlyUsed[str, WordIndex] = RecentlyUsed(4, at_once=1)


def word_index(git: str, commit: str) -> WordIndex:
    """The index of a commit. Raises UserError for a commit that is not there."""
    code = code_index(git, commit)
    return _INDEXES.of(code.key, lambda: _open(code))


def _open(code: CodeIndex) -> WordIndex:
    key = f"{code.key}-words-{VERSION}-{importlib.metadata.version('bm25s').replace('.', '-')}"
    kept = read_arrays(key)
    if kept is not None:
        return _from_arrays(kept, code)
    made = make_word_index(code, code.chunk_texts())
    keep_arrays(key, _to_arrays(made))
    return made


def make_word_index(code: CodeIndex, texts: Iterable[str]) -> WordIndex:
    """The index of the chunks with these texts."""
    numbers: dict[str, int] = {}
    documents = [[numbers.setdefault(word, len(numbers)) for word in code_words(text)] for text in texts]
    engine = _engine()
    if numbers:
        engine.index((documents, numbers), create_empty_token=False, show_progress=False)
    return WordIndex(code, numbers, engine)


def _engine() -> Any:
    import bm25s

    return bm25s.BM25(method="lucene", k1=1.5, b=0.75, backend="numpy")


def _to_arrays(index: WordIndex) -> Arrays:
    scores = index.engine.scores if index.numbers else {}
    return {"words": as_bytes(index.numbers), **{name: scores[name] for name in _SCORES if name in scores}}


def _from_arrays(kept: Arrays, code: CodeIndex) -> WordIndex:
    words = as_texts(kept["words"])
    engine = _engine()
    if words:
        engine.scores = {**{name: kept[name] for name in _SCORES}, "num_docs": len(code.chunk_rows)}
        engine.nonoccurrence_array = None
    return WordIndex(code, {word: number for number, word in enumerate(words)}, engine)


@dataclass(frozen=True)
class Bm25(Context):
    """`k` chunks: functions, methods and small classes, or up to 60 lines. Never one that the hunk is in."""

    needs_code: ClassVar[bool] = True

    k: Positive = 3

    def pins(self) -> Mapping[str, str]:
        """The version of bm25s."""
        return {"bm25s": importlib.metadata.version("bm25s")}

    def excerpts(self, change: Change, piece: Change) -> Iterator[Excerpt]:
        """The nearest chunks, the nearest first."""
        code = code_of(change, "bm25")
        index = word_index(code.git, code.head)
        yield from nearest(index.code, index.scores(query_of(piece)), piece, self.k)
