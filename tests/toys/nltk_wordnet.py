"""WordNet for NLTK's own reader, for tests and benchmarks that hold ours against it.

NLTK reads no links out of its data folder and wants a list of the lexicographer files, which Debian's package leaves
out: so the database is copied into a folder of NLTK's layout, with that list.
"""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path
from typing import Any

from reviewgauge.metrics.meteor import FILES, find_wordnet

# Number and name of each lexicographer file: WordNet's manual page lexnames(5WN).
_NAMES = """
    adj.all adj.pert adv.all noun.Tops noun.act noun.animal noun.artifact noun.attribute noun.body noun.cognition
    noun.communication noun.event noun.feeling noun.food noun.group noun.location noun.motive noun.object noun.person
    noun.phenomenon noun.plant noun.possession noun.process noun.quantity noun.relation noun.shape noun.state
    noun.substance noun.time verb.body verb.change verb.cognition verb.communication verb.competition
    verb.consumption verb.contact verb.creation verb.emotion verb.motion verb.perception verb.possession verb.social
    verb.stative verb.weather adj.ppl
    """
_PARTS = {"noun": 1, "verb": 2, "adj": 3, "adv": 4}


def nltk_reader(folder: Path) -> Any | None:
    """NLTK's reader of a copy of the WordNet at hand, made in `folder`; None where there is none, or one without
    the files that NLTK wants besides (`index.sense`, `cntlist.rev`).
    """
    found = find_wordnet()
    if found is None or not found.place.is_dir():
        return None
    copy = folder / "corpora" / "wordnet"
    copy.mkdir(parents=True)
    for name in (*FILES, "index.sense", "cntlist.rev"):
        if not (found.place / name).is_file():
            return None
        shutil.copy(found.place / name, copy)
    rows = (f"{i:02d}\t{name}\t{_PARTS[name.partition('.')[0]]}\n" for i, name in enumerate(_NAMES.split()))
    (copy / "lexnames").write_text("".join(rows), encoding="ascii")

    import nltk
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    nltk.data.path.insert(0, str(folder))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it misses the multilingual WordNet, which nothing here asks for
        return WordNetCorpusReader(str(copy), None)
