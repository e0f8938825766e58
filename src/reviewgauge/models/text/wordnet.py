"""Synonyms out of WordNet's own database files, read when they are asked for.

Source: G. A. Miller, "WordNet: a lexical database for English", CACM 38(11), 1995; the files are described in its
manual pages wndb(5WN) and morphy(7WN). The base forms are looked for as NLTK's `WordNetCorpusReader` does (one round
of the suffix rules, or the exception list), so that METEOR's synonyms are NLTK's. Reads `index.*`, `data.*` and `*.exc`
of noun, verb, adj and adv from a folder, or from the zip file that `nltk.download("wordnet")` leaves.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

from reviewgauge.core.errors import BadInput, UserError

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
    """One copy of the database. `place` is its folder or zip file."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._contents: dict[str, bytes | mmap.mmap] = {}
        self._archive = zipfile.ZipFile(place) if place.is_file() else None
        self._prefix = (_prefix(self._archive) or "") if self._archive else ""
        self.synonyms = lru_cache(maxsize=16_384)(self._synonyms)

    @cached_property
    def version(self) -> str:
        """The version that the files give themselves, such as `3.0`."""
        found = _VERSION.search(self._content("data.adj")[:4096])
        return found[1].decode() if found else "of unknown version"

    @cached_property
    def digest(self) -> str:
        """The first 16 hex digits of the SHA-256 of the twelve files, each after its name."""
        hashed = hashlib.sha256()
        for name in FILES:
            hashed.update(f"{name}\n".encode())
            hashed.update(self._content(name))
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
                if form in index:
                    for offset in self._offsets(form, part):
                        names.update(name for name in self._names(part, offset) if "_" not in name)
        return frozenset(names) or _NOTHING

    def _offsets(self, form: str, part: str) -> Sequence[int]:
        fields = self._index[part][form].split()
        try:
            return [int(field) for field in fields[-int(fields[1]) :]]
        except (IndexError, ValueError):
            raise BadInput(self._path(f"index.{part}"), f"the line of {form!r} is damaged", remedy=REMEDY) from None

    def _names(self, part: str, offset: int) -> Iterator[str]:
        content = self._content(f"data.{part}")
        end = content.find(b"\n", offset)
        fields = content[offset : end if end >= 0 else len(content)].split(b" ")
        try:
            if int(fields[0]) != offset:
                raise ValueError
            names = [fields[4 + 2 * i].decode() for i in range(int(fields[3], 16))]
        except (IndexError, ValueError):
            problem = f"there is no synset at byte {offset}, where the index says"
            raise BadInput(self._path(f"data.{part}"), problem, remedy=REMEDY) from None
        for name in names:
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
        found = {}
        for part in PARTS_OF_SPEECH:
            rows = [line.split() for line in self._text(f"{part}.exc").splitlines()]
            found[part] = {row[0]: row[1:] for row in rows if row}
        return found

    def _text(self, name: str) -> str:
        return bytes(self._content(name)).decode("utf-8", "replace")

    def _content(self, name: str) -> bytes | mmap.mmap:
        if name not in self._contents:
            try:
                self._contents[name] = self._read(name)
            except (OSError, KeyError, ValueError, zipfile.BadZipFile):
                raise BadInput(self._path(name), "cannot be read", remedy=REMEDY) from None
        return self._contents[name]

    def _read(self, name: str) -> bytes | mmap.mmap:
        if self._archive is not None:
            return self._archive.read(self._prefix + name)
        with (self.place / name).open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def _path(self, name: str) -> str:
        return str(self.place / name)


def _prefix(archive: zipfile.ZipFile) -> str | None:
    """The folder inside the zip file that holds the database."""
    found = (name.removesuffix("data.noun") for name in archive.namelist() if name.endswith("data.noun"))
    return next(found, None)


@lru_cache(maxsize=4)
def _opened(place: Path) -> WordNet:
    return WordNet(place)


def find_wordnet(where: str = "auto") -> WordNet | None:
    """The WordNet at `where` (a folder or zip file); `auto` takes the first at a usual place, None if there is none.

    Raises UserError when a named place holds no WordNet.
    """
    if where != "auto":
        place = Path(where).expanduser()
        if not _holds_wordnet(place):
            raise UserError(f"{where} does not contain WordNet (it needs {', '.join(FILES[:3])} ...)", remedy=REMEDY)
        return _opened(place.resolve())
    place_found = next((place for place in usual_places() if _holds_wordnet(place)), None)
    return _opened(place_found.resolve()) if place_found else None


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


def _holds_wordnet(place: Path) -> bool:
    if not place.is_file():
        return all((place / name).is_file() for name in FILES)
    try:
        with zipfile.ZipFile(place) as archive:
            return _prefix(archive) is not None
    except (OSError, zipfile.BadZipFile):
        return False
