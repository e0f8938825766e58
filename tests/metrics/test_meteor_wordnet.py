"""WordNet's files are read as NLTK reads them; small ones of our own are damaged on purpose."""

from __future__ import annotations

import os
import random
import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from nltk_wordnet import nltk_reader
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.metrics.meteor import FILES, PARTS_OF_SPEECH, WordNet, find_wordnet, open_wordnet, usual_places

HEADER = "  1 Made for a test.  \n  2 WordNet 3.0 Copyright 2006 by Princeton University.  \n"
SYNSETS: Mapping[str, Sequence[Sequence[str]]] = {
    "noun": [["bug", "glitch"], ["bug", "microphone"], ["mouse"], ["Bug_report", "ticket"], ["fox", "slyboots"]],
    "verb": [["fix", "repair", "mend"], ["glitch", "fail"]],
    "adj": [["quick(p)", "fast(a)", "speedy"]],
    "adv": [["fast"]],
}
LETTER = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}


def write_wordnet(folder: Path) -> Path:
    """A database in WordNet's format with the synsets above."""
    folder.mkdir(parents=True)
    for part, synsets in SYNSETS.items():
        data, index = HEADER, dict[str, list[int]]()
        for names in synsets:
            offset = len(data.encode())
            words = " ".join(f"{name} 0" for name in names)
            data += f"{offset:08d} 00 {LETTER[part]} {len(names):02x} {words} 000 | what it means  \n"
            for name in names:
                index.setdefault(name.partition("(")[0].lower(), []).append(offset)
        (folder / f"data.{part}").write_text(data)
        lines = [
            f"{lemma} {LETTER[part]} {len(at)} 0 {len(at)} 0 {' '.join(f'{offset:08d}' for offset in at)}  \n"
            for lemma, at in sorted(index.items())
        ]
        (folder / f"index.{part}").write_text(HEADER + "".join(lines))
        (folder / f"{part}.exc").write_text("mice mouse\nfoxes fox\n" if part == "noun" else "none none\n")
    return folder


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return write_wordnet(tmp_path / "wordnet")


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path) -> Iterator[None]:
    """The variables that say where WordNet lies, put back after each test."""
    kept = {name: os.environ.pop(name, None) for name in ("WNHOME", "NLTK_DATA")}
    yield
    for name, value in kept.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value


def opened(place: Path) -> WordNet:
    open_wordnet.cache_clear()
    found = open_wordnet(place)
    assert found is not None
    return found


@pytest.mark.parametrize(("word", "expected"), [
    ("bug", {"bug", "glitch", "microphone"}),
    ("bugs", {"bug", "glitch", "microphone"}),
    ("mice", {"mouse"}),
    ("glitches", {"bug", "glitch", "fail"}),
    ("fixing", {"fix", "repair", "mend"}),
    ("quicker", {"quick", "fast", "speedy"}),
    ("ticket", {"ticket"}),
    ("fast", {"quick", "fast", "speedy"}),
    ("foxes", {"fox", "slyboots"}), ("xyz", set()), ("", set()), ("修", set()), ("\ud800", set()),
])  # fmt: skip
def test_synonyms_are_the_one_word_names_of_every_synset_of_every_base_form(
    small: Path, word: str, expected: set[str]
) -> None:
    assert opened(small).synonyms(word) == expected


def test_version_and_digest_tell_copies_apart(small: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(small, other)
    (other / "noun.exc").write_text("mice mouse\nfoxes fox\nlice louse\n")
    assert (opened(small).version, len(opened(small).digest)) == ("3.0", 16)
    assert opened(small).digest == opened(small).digest != opened(other).digest


def test_a_zip_file_is_the_same_database(small: Path, tmp_path: Path) -> None:
    """As `nltk.download("wordnet")` leaves it."""
    archive = tmp_path / "nltk_data" / "corpora" / "wordnet.zip"
    archive.parent.mkdir(parents=True)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for name in FILES:
            file.write(small / name, f"wordnet/{name}")
    assert opened(archive).synonyms("bugs") == opened(small).synonyms("bugs")
    assert opened(archive).digest == opened(small).digest
    os.environ["NLTK_DATA"] = os.pathsep.join([str(tmp_path / "none"), str(tmp_path / "nltk_data")])
    found = find_wordnet()
    assert found is not None
    assert found.place == archive.resolve()


def test_wnhome_comes_first(small: Path) -> None:
    os.environ["WNHOME"] = str(small)
    found = find_wordnet()
    assert found is not None
    assert found.place == small.resolve()
    assert next(iter(usual_places())) == small / "dict"


def test_a_named_place_without_wordnet_is_refused(tmp_path: Path, small: Path) -> None:
    (tmp_path / "notes.zip").write_bytes(b"no zip")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as file:
        file.writestr("readme", "nothing here")
    (small / "verb.exc").unlink()
    for place in (tmp_path, tmp_path / "none", tmp_path / "notes.zip", tmp_path / "other.zip", small):
        with pytest.raises(UserError, match="does not contain WordNet"):
            find_wordnet(str(place))


def test_damaged_files_are_named(small: Path) -> None:
    data, index = (small / "data.noun").read_text(), (small / "index.noun").read_text()
    for change, name in (("x" + data, "data.noun"), ("bug n many\n", "index.noun")):
        (small / name).write_text(change)
        with pytest.raises(BadInput, match=r"the noun 'bug' is damaged"):
            opened(small).synonyms("bug")
        (small / "index.noun").write_text(index)


@pytest.mark.drill
def test_synonyms_are_nltks(tmp_path: Path) -> None:
    theirs, ours = nltk_reader(tmp_path / "nltk_data"), find_wordnet()
    if theirs is None or ours is None:
        pytest.skip("WordNet is not installed: Debian's wordnet-base and wordnet-sense-index hold it")
    draw = random.Random(7)
    lemmas = [
        line.split()[0]
        for part in PARTS_OF_SPEECH
        for line in (ours.place / f"index.{part}").read_text().splitlines()
        if not line.startswith(" ")
    ]
    words = draw.sample(lemmas, 1500)
    words += [word + ending for word in draw.sample(lemmas, 1500) for ending in ("s", "es", "ing", "er", "ies")]
    words += [line.split()[0] for line in (ours.place / "verb.exc").read_text().splitlines()[::5]]
    for word in words:
        expected = {lemma.name() for synset in theirs.synsets(word) for lemma in synset.lemmas()}
        assert ours.synonyms(word) == {name for name in expected if "_" not in name}, word
