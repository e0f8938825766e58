"""METEOR: words of the reference that the review says too, as they are, by stem or by synonym, in few chunks.

Source: Lavie and Agarwal, "METEOR: an automatic metric for MT evaluation with high levels of correlation with human
judgments", WMT 2007 (with its weights), with the alignment of NLTK's `meteor_score`: greedy from the last
word to the first, where METEOR's own program looks for the fewest crossings. Synonyms are WordNet's (G. A. Miller,
"WordNet: a lexical database for English", CACM 38(11), 1995), out of its own database files as its manual pages
wndb(5WN) and morphy(7WN) describe them: `index.*`, `data.*` and `*.exc` of noun, verb, adj and adv in a folder, or in
the zip file that `nltk.download("wordnet")` leaves. Base forms are looked for as NLTK's `WordNetCorpusReader` does (one
round of the suffix rules, or the exception list), so that the synonyms are NLTK's.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.protocols import Aggregate
from reviewgauge.core.results import Parts
from reviewgauge.core.trust import FilePath
from reviewgauge.metrics.texts.text_metric import VALUE, TextMetric, TextPair
from reviewgauge.metrics.texts.tokens import Tokens, treebank, treebank_unicode
from reviewgauge.models.text.porter import stem

if TYPE_CHECKING:
    from reviewgauge.core.protocols import Numbers


ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5  # of recall in the mean, of fragmentation, and how much that takes off
COUNTS = ("matches", "chunks", "length", "reference_length")  # all in words, but for the chunks
Synonyms = Callable[[str], frozenset[str]]


@dataclass(frozen=True)
class Meteor(TextMetric):
    """`mean` of the texts, and `corpus`: the same formula on their summed counts, as METEOR's own program reports.

    `wordnet` is "auto" (the first one found at a usual place, see `usual_places`; none is fine), "none", or a
    folder or zip file. The pins name its version and hash, so that scores made with and without never mix. Words are
    Treebank words, lower-cased, and kana, Han and Hangul characters each. The variant "nltk" is NLTK 3.10 to the last
    bit: it looks up synonyms of stems, which finds none for `happi`, and leaves Chinese and Japanese runs whole. Of
    several references the best counts. A blank review gets 0.
    """

    wordnet: FilePath = "auto"
    variant: Literal["meteor", "nltk"] = "meteor"

    def pins(self) -> Mapping[str, str]:
        """Which WordNet was used: its version and the hash of its files, or none."""
        found = self._wordnet()
        return {"wordnet": f"{found.version} ({found.digest})" if found else "none"}

    def segments(self, pairs: Sequence[TextPair]) -> Sequence[Parts]:
        """The value of each pair, and the counts behind it."""
        tokens = treebank if self.variant == "nltk" else treebank_unicode
        found = self._wordnet()
        synonyms = found.synonyms if found else None
        best = []
        for pair in pairs:
            hypothesis = tokens(pair.hypothesis)
            best.append(
                max((self._compare(hypothesis, tokens(text), synonyms) for text in pair.references), key=_value)
            )
        return best

    def combine(self, aggregate: Aggregate) -> Mapping[str, Numbers]:
        """`mean` and `corpus`."""
        matches, chunks, length, reference = (aggregate.total(name) for name in COUNTS)
        below = ALPHA * reference + (1 - ALPHA) * length
        fragmented = np.where(matches > 0, aggregate.ratio(chunks, matches), 0.0)
        corpus = aggregate.ratio(matches, below) * (1 - GAMMA * fragmented**BETA)
        return {"mean": aggregate.ratio(aggregate.total(VALUE), aggregate.count), "corpus": corpus}

    def _wordnet(self) -> WordNet | None:
        return None if self.wordnet == "none" else find_wordnet(self.wordnet)

    def _compare(self, hypothesis: Tokens, reference: Tokens, synonyms: Synonyms | None) -> dict[str, float]:
        matches, chunks = align(hypothesis, reference, synonyms, of_stems=self.variant == "nltk")
        value = 0.0
        if matches:
            precision, recall = matches / len(hypothesis), matches / len(reference)
            mean = (precision * recall) / (ALPHA * precision + (1 - ALPHA) * recall)
            value = (1 - GAMMA * (chunks / matches) ** BETA) * mean
        counts = (matches, chunks, len(hypothesis), len(reference))
        return {VALUE: value} | dict(zip(COUNTS, map(float, counts), strict=True))


def _value(parts: Mapping[str, float]) -> float:
    return parts[VALUE]


def align(hypothesis: Tokens, reference: Tokens, synonyms: Synonyms | None, *, of_stems: bool) -> tuple[int, int]:
    """(matched words, chunks of them that are adjacent in both texts).

    Three rounds: equal words, then equal stems, then synonyms (of the words, or of their stems). Each takes the words
    of the review from the last to the first and gives them the last free word of the reference. One look-up a word:
    linear in both lengths.
    """
    partner = [-1] * len(hypothesis)
    left: Sequence[int] = range(len(hypothesis) - 1, -1, -1)
    free = _places(reference, range(len(reference)))
    left = _match(hypothesis, left, free, partner)
    over = _left_over(free)
    if left and over:
        stems = {i: stem(hypothesis[i]) for i in left}
        reference_stems = {place: stem(reference[place]) for place in over}
        free = _places(reference_stems, over)
        left = _match(stems, left, free, partner)
        if synonyms is not None and of_stems:
            _match_synonyms(stems, left, free, partner, synonyms)
        elif synonyms is not None:
            _match_synonyms(hypothesis, left, _places(reference, _left_over(free)), partner, synonyms)
    return _count(partner)


def _left_over(free: Mapping[str, list[int]]) -> list[int]:
    return sorted(place for places in free.values() for place in places)


def _places(words: Sequence[str] | Mapping[int, str], places: Iterable[int]) -> dict[str, list[int]]:
    """The places of each word, in ascending order."""
    found: dict[str, list[int]] = {}
    for place in places:
        found.setdefault(words[place], []).append(place)
    return found


def _match(
    words: Sequence[str] | Mapping[int, str], left: Iterable[int], free: Mapping[str, list[int]], partner: list[int]
) -> Sequence[int]:
    """Pair each word of the review with its last free equal; returns the unpaired words, last first."""
    unmatched = []
    for i in left:
        places = free.get(words[i])
        if places:
            partner[i] = places.pop()
        else:
            unmatched.append(i)
    return unmatched


def _match_synonyms(
    words: Sequence[str] | Mapping[int, str],
    left: Iterable[int],
    free: Mapping[str, list[int]],
    partner: list[int],
    synonyms: Synonyms,
) -> None:
    remaining = sum(map(len, free.values()))
    for i in left:
        if not remaining:
            return
        best: list[int] = []
        for word in synonyms(words[i]):
            places = free.get(word)
            if places and (not best or places[-1] > best[-1]):
                best = places
        if best:
            partner[i] = best.pop()
            remaining -= 1


def _count(partner: Sequence[int]) -> tuple[int, int]:
    matches = chunks = 0
    last = -1  # the partner of the word before, which a chunk goes on from
    for place in partner:
        if place >= 0:
            matches += 1
            chunks += last < 0 or place != last + 1
        last = place
    return matches, chunks


PARTS_OF_SPEECH = ("noun", "verb", "adj", "adv")
FILES = tuple(name for part in PARTS_OF_SPEECH for name in (f"index.{part}", f"data.{part}", f"{part}.exc"))
REMEDY = "install Debian's wordnet-base, or set WNHOME or NLTK_DATA to where WordNet's files are"

_ENDINGS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "noun": (
        ("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"),
        ("men", "man"), ("ies", "y"),
    ),
    "verb": (
        ("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""),
    ),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}  # fmt: skip
_VERSION = re.compile(rb"Word[nN]et (\d+(?:\.\d+)?\+?) Copyright")
_NOTHING: frozenset[str] = frozenset()


class WordNet:
    """One copy of the database: the content of its files, out of the folder or zip file `place`."""

    def __init__(self, place: Path, files: Mapping[str, bytes]) -> None:
        self.place, self._files = place, files
        self.synonyms = lru_cache(maxsize=16_384)(self._synonyms)

    @cached_property
    def version(self) -> str:
        """The version that the files give themselves, such as `3.0`."""
        found = _VERSION.search(self._files["data.adj"][:4096])
        return found[1].decode() if found else "of unknown version"

    @cached_property
    def digest(self) -> str:
        """The first 16 hex digits of the SHA-256 of the twelve files, each after its name."""
        hashed = hashlib.sha256()
        for name in FILES:
            hashed.update(f"{name}\n".encode())
            hashed.update(self._files[name])
        return hashed.hexdigest()[:16]

    def _synonyms(self, word: str) -> frozenset[str]:
        """The one-word names in every synset of every base form of `word` (lower case), as the files spell them."""
        names: set[str] = set()
        for part in PARTS_OF_SPEECH:
            index = self._index[part]
            forms = self._exceptions[part].get(word)
            if forms is None:
                forms = [word[: -len(end)] + new for end, new in _ENDINGS[part] if word.endswith(end)]
            for form in (word, *forms):
                try:
                    for offset in _offsets(index[form]) if form in index else ():
                        names.update(name for name in self._names(part, offset) if "_" not in name)
                except (IndexError, ValueError):
                    raise BadInput(str(self.place), f"the {part} {form!r} is damaged", remedy=REMEDY) from None
        return frozenset(names) or _NOTHING

    def _names(self, part: str, offset: int) -> Iterator[str]:
        content = self._files[f"data.{part}"]
        end = content.find(b"\n", offset)
        fields = content[offset : end if end >= 0 else len(content)].split(b" ")
        if int(fields[0]) != offset:
            raise ValueError
        for name in [fields[4 + 2 * i].decode() for i in range(int(fields[3], 16))]:
            yield name.rpartition("(")[0] if name.endswith(")") else name  # without `(a)`, `(p)` or `(ip)`

    @cached_property
    def _index(self) -> Mapping[str, Mapping[str, str]]:
        """The rest of the line by lemma, for each part of speech; it is taken apart when the lemma is asked for."""
        found = {}
        for part in PARTS_OF_SPEECH:
            lines = self._text(f"index.{part}").split("\n")
            found[part] = {line[: (at := line.find(" "))]: line[at + 1 :] for line in lines if line[:1] > " "}
        return found

    @cached_property
    def _exceptions(self) -> Mapping[str, Mapping[str, Sequence[str]]]:
        rows = {part: map(str.split, self._text(f"{part}.exc").splitlines()) for part in PARTS_OF_SPEECH}
        return {part: {row[0]: row[1:] for row in own if row} for part, own in rows.items()}

    def _text(self, name: str) -> str:
        return self._files[name].decode("utf-8", "replace")


def _offsets(line: str) -> list[int]:
    fields = line.split()
    return [int(field) for field in fields[-int(fields[1]) :]]


@lru_cache(maxsize=32)
def open_wordnet(place: Path) -> WordNet | None:
    """The WordNet in a folder or zip file; None where it holds none."""
    try:
        if not place.is_file():
            return WordNet(place, {name: (place / name).read_bytes() for name in FILES})
        with zipfile.ZipFile(place) as archive:
            folder = next(name for name in archive.namelist() if name.endswith("data.noun")).removesuffix("data.noun")
            return WordNet(place, {name: archive.read(folder + name) for name in FILES})
    except (OSError, KeyError, StopIteration, zipfile.BadZipFile):
        return None


def find_wordnet(where: str = "auto") -> WordNet | None:
    """The WordNet at `where` (a folder or zip file); `auto` takes the first at a usual place, None if there is none.

    Raises UserError when a named place holds no WordNet.
    """
    places = usual_places() if where == "auto" else [Path(where).expanduser()]
    found = next((found for place in places if (found := open_wordnet(place.resolve())) is not None), None)
    if found is None and where != "auto":
        raise UserError(f"{where} does not contain WordNet (it needs {', '.join(FILES[:3])} ...)", remedy=REMEDY)
    return found


def usual_places() -> Iterator[Path]:
    """Where WordNet may lie: `$WNHOME`, `$NLTK_DATA`, the folders that NLTK looks in, Debian's package."""
    home = os.environ.get("WNHOME")
    if home:
        yield from (Path(home) / "dict", Path(home))
    folders = [Path(folder) for folder in os.environ.get("NLTK_DATA", "").split(os.pathsep) if folder]
    folders += [Path(sys.prefix) / inner for inner in ("nltk_data", "share/nltk_data", "lib/nltk_data")]
    folders += [Path("~/nltk_data").expanduser()]
    folders += [Path(root) / "nltk_data" for root in ("/usr/share", "/usr/local/share", "/usr/lib", "/usr/local/lib")]
    for folder in folders:
        yield from (folder / "corpora" / "wordnet", folder / "corpora" / "wordnet.zip")
    yield Path("/usr/share/wordnet")
