"""Our lexical metrics beside the libraries that people use for them: the same texts in, equal values out."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from timed.table import Row, Values, gap, race

from reviewgauge.metrics.bleu import Bleu
from reviewgauge.metrics.chrf import Chrf
from reviewgauge.metrics.edit import Edit
from reviewgauge.metrics.meteor import Meteor, find_wordnet
from reviewgauge.metrics.rouge import Rouge
from reviewgauge.metrics.texts.text_metric import TextMetric, TextPair
from reviewgauge.metrics.tfidf import Tfidf

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "toys"))
from nltk_wordnet import nltk_reader

EDIT_SAMPLE = 250  # pairs that NLTK's edit_distance is timed on: all of them take it minutes
Pairs = Sequence[TextPair]


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
