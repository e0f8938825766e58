"""What two texts share, in 24 numbers: the lexical features of a (comment, reference) pair.

The generic inverse document frequencies (`idf.json`) come from public review comments and are shipped as a table of
about 1,000 stems; the file's own header says which texts were counted. A stem that is not in the table is rare and
gets the largest idf; a stop word weighs `STOP_WEIGHT`.

The features follow the usual measures of information retrieval (cosine of TF-IDF vectors, Salton & Buckley 1988;
Dice 1945), on words, word pairs and character 4-grams.
"""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import pairwise

from reviewgauge.models.text import words
from reviewgauge.models.text.idf import load_idf
from reviewgauge.models.text.words import stem

GROUPS: dict[str, str] = tomllib.loads(
    resources.files("reviewgauge.models.text").joinpath("concepts.toml").read_text(encoding="utf-8")
)


def _membership() -> dict[str, frozenset[str]]:
    groups: dict[str, set[str]] = {}
    for group, members in GROUPS.items():
        for word in members.split():
            groups.setdefault(stem(word), set()).add(group)
    return {word: frozenset(found) for word, found in groups.items()}


_GROUPS_OF = _membership()


def concepts(stems: Iterable[str]) -> frozenset[str]:
    """The groups that any of the stemmed words belongs to."""
    found: set[str] = set()
    for word in stems:
        found |= _GROUPS_OF.get(word, frozenset())
    return frozenset(found)


FEATURES = (
    "word_cosine", "bigram_cosine", "char_cosine", "coverage_of_reference", "coverage_of_comment", "idf_dice",
    "largest_shared_idf", "shared_words", "top_of_reference", "top_of_comment", "shared_identifiers",
    "identifiers_of_reference", "identifiers_of_comment", "conflicting_identifiers", "sides_with_identifiers",
    "shared_numbers", "conflicting_numbers", "negation_difference", "shared_concepts", "concept_overlap",
    "conflicting_concepts", "log_length_of_reference", "log_length_of_comment", "log_length_ratio",
)  # fmt: skip
SWAPPED = {
    "coverage_of_reference": "coverage_of_comment",
    "top_of_reference": "top_of_comment",
    "identifiers_of_reference": "identifiers_of_comment",
    "log_length_of_reference": "log_length_of_comment",
}  # a feature of one side, and the same of the other side; every other feature is symmetric
TOP_WORDS = 5
CHARACTERS = 4
SHORTEST = 6  # content words; shorter texts count as this long, as hardly any shorter one was ever judged


@dataclass(frozen=True, slots=True)
class Profile:
    """What the features need of one text. The three vectors have length 1 (or are empty)."""

    text: str
    words: Mapping[str, float]
    bigrams: Mapping[str, float]
    characters: Mapping[str, float]
    idf: Mapping[str, float]  # of each distinct word, stop words included
    idf_sum: float
    content: frozenset[str]
    top: frozenset[str]
    identifiers: frozenset[str]
    numbers: frozenset[str]
    negations: int
    concepts: frozenset[str]
    length: int  # in content words


def _unit(vector: Mapping[str, float]) -> dict[str, float]:
    norm = math.sqrt(sum(value * value for value in vector.values()))
    return {key: value / norm for key, value in vector.items()} if norm else {}


def _dot(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    if len(one) > len(other):
        one, other = other, one
    return min(1.0, sum(value * other[key] for key, value in one.items() if key in other))


@lru_cache(maxsize=8192)
def profile(text: str) -> Profile:
    """The profile of `text`; cached, because each comment meets many references."""
    table, _ = load_idf("words")
    found = words.tokens(text)
    counts = Counter(found)
    idf = {w: words.STOP_WEIGHT if w in words.STOP_WORDS else table.idf.get(w, table.unseen) for w in counts}
    content = [word for word in found if word not in words.STOP_WORDS]
    bigrams = Counter(pairwise(content))
    characters: dict[str, float] = {}
    for word, count in counts.items():
        padded = f" {word} "
        weight = idf[word] * (1 + math.log(count))
        for start in range(max(1, len(padded) - CHARACTERS + 1)):
            gram = padded[start : start + CHARACTERS]
            characters[gram] = characters.get(gram, 0.0) + weight
    distinct = frozenset(content)
    ranked = sorted(distinct, key=lambda word: (-idf[word], content.index(word)))
    return Profile(
        text=text,
        words=_unit({word: (1 + math.log(count)) * idf[word] for word, count in counts.items()}),
        bigrams=_unit({f"{a} {b}": n * (idf[a] + idf[b]) for (a, b), n in bigrams.items()}),
        characters=_unit(characters),
        idf=idf,
        idf_sum=sum(idf.values()),
        content=distinct,
        top=frozenset(ranked[:TOP_WORDS]),
        identifiers=words.identifiers(text),
        numbers=words.numbers(text),
        negations=words.negations(text),
        concepts=concepts(distinct),
        length=len(content),
    )


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def features(comment: Profile, reference: Profile) -> list[float]:
    """The 24 features of a pair, in the order of FEATURES. All are finite; two empty texts give zeros."""
    shared = comment.idf.keys() & reference.idf.keys()
    shared_idf = sum(sorted(comment.idf[word] for word in shared))
    shared_content = comment.content & reference.content
    names = comment.identifiers & reference.identifiers
    both_named = bool(comment.identifiers) and bool(reference.identifiers)
    figures = comment.numbers & reference.numbers
    groups = comment.concepts & reference.concepts
    all_groups = comment.concepts | reference.concepts
    log_comment = math.log1p(max(comment.length, SHORTEST))
    log_reference = math.log1p(max(reference.length, SHORTEST))
    return [
        _dot(comment.words, reference.words),
        _dot(comment.bigrams, reference.bigrams),
        _dot(comment.characters, reference.characters),
        _share(shared_idf, reference.idf_sum),
        _share(shared_idf, comment.idf_sum),
        _share(2 * shared_idf, comment.idf_sum + reference.idf_sum),
        max((comment.idf[word] for word in shared), default=0.0),
        math.log1p(len(shared_content)),
        _share(len(reference.top & comment.content), len(reference.top)),
        _share(len(comment.top & reference.content), len(comment.top)),
        math.log1p(len(names)),
        _share(len(names), len(reference.identifiers)),
        _share(len(names), len(comment.identifiers)),
        float(both_named and not names),
        float(bool(comment.identifiers)) + float(bool(reference.identifiers)),
        math.log1p(len(figures)),
        float(bool(comment.numbers) and bool(reference.numbers) and not figures),
        math.log1p(abs(comment.negations - reference.negations)),
        math.log1p(len(groups)),
        _share(len(groups), len(all_groups)),
        float(bool(comment.concepts) and bool(reference.concepts) and not groups),
        log_reference,
        log_comment,
        abs(log_comment - log_reference),
    ]


def dice(one: str, other: str) -> float:
    """Dice coefficient of the distinct stemmed words of two texts without stop words; 0 where one has none."""
    a, b = profile(one).content, profile(other).content
    return _share(2 * len(a & b), len(a) + len(b))


def shared_words(comment: Profile, reference: Profile, most: int = 4) -> list[str]:
    """The rarest content words that both texts hold, rarest first."""
    shared = comment.content & reference.content
    return sorted(shared, key=lambda word: (-comment.idf[word], word))[:most]
