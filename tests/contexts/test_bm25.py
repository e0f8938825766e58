"""`bm25` on a planted repository: the chunk that shares the rare words, never the hunk's own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from git_project import make_change
from reviewgauge.contexts import bm25 as word_module
from reviewgauge.contexts.bm25 import word_index
from reviewgauge.contexts.code import index as index_module
from reviewgauge.contexts.code.index import code_index
from reviewgauge.core.errors import NeedsCode, UserError
from reviewgauge.core.protocols import Context, Excerpt
from reviewgauge.core.records import Change
from reviewgauge.core.specs import load
from reviewgauge.repo.processes import RecentlyUsed
from reviewgauge.reviewers.reading.change_text import pieces_of

TARIFF = "def tariff(parcel):\n    weight = parcel.weightGrams\n    return weight // 1000 * price_per_kilo\n"
OTHER = "def greet(name):\n    message = 'hello ' + name\n    return message\n"
CALL = "from tariff import tariff\n\n\ndef invoice(parcel):\n    return {}\n"


@pytest.fixture(autouse=True)
def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_all(monkeypatch)


def planted(folder: Path) -> Change:
    files = {f"noise/{n}.py": f"def noise_{n}(a):\n    return a + {n}\n" for n in range(30)}
    before = {**files, "tariff.py": TARIFF, "greet.py": OTHER, "alone.rb": "puts 1\n", "invoice.py": CALL.format("0")}
    return make_change(folder, before, {"invoice.py": CALL.format("tariff(parcel) + price_per_kilo")})


def said(spec: str, change: Change, piece: Change | None = None) -> list[Excerpt]:
    return list(load(Context, spec).excerpts(change, piece or change))


def test_the_nearest_chunk_is_the_one_with_the_rare_words(tmp_path: Path) -> None:
    change = planted(tmp_path / "r")
    (piece,) = pieces_of(change, "hunk").pieces
    first, *rest = said("bm25(k=5)", change, piece.change)
    assert (first.name, first.text) == ("tariff.py, lines 1 to 3", TARIFF.rstrip("\n"))
    assert all(not one.name.startswith("invoice.py") for one in rest)
    assert said("bm25(k=1)", change, piece.change) == [first]
    everything = {one.name.partition(",")[0] for one in said("bm25(k=999)", change)}
    assert "greet.py" in everything
    assert "alone.rb" not in everything  # it shares no word


def test_the_hunks_own_chunk_is_never_among_the_hits(tmp_path: Path) -> None:
    change = planted(tmp_path / "r")
    index = word_index(str(tmp_path / "r"), change.head or "")
    scores = index.scores("invoice parcel tariff price_per_kilo")
    assert index.code.chunk(int(np.argmax(scores))).path == "invoice.py"  # it would be the nearest
    assert "invoice.py" not in " ".join(one.name for one in said("bm25", change))


def test_the_index_is_made_once_and_read_again_from_the_cache(
    tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = planted(tmp_path / "r")
    first = said("bm25", change)
    kept = sorted(own_cache.rglob("*.npz"))
    assert len(kept) == 2
    forget_all(monkeypatch)
    monkeypatch.setattr(index_module, "chunks", None)  # nothing is cut again
    monkeypatch.setattr(word_module, "make_word_index", None)  # and no word is counted again
    assert said("bm25", change) == first


def forget_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_module, "_INDEXES", RecentlyUsed(4))
    monkeypatch.setattr(word_module, "_INDEXES", RecentlyUsed(4))


def test_a_damaged_cache_costs_time_alone(tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change = planted(tmp_path / "r")
    first = said("bm25", change)
    for damage in (lambda raw: b"", lambda raw: raw[:-9], lambda raw: raw[:99] + b"?" + raw[100:]):
        for file in own_cache.rglob("*.npz"):
            file.write_bytes(damage(file.read_bytes()))
        forget_all(monkeypatch)
        assert said("bm25", change) == first
    words, code = sorted(own_cache.rglob("*.npz"), key=lambda file: "words" not in file.name)
    words.write_bytes(code.read_bytes())  # arrays, and not those of words
    forget_all(monkeypatch)
    assert said("bm25", change) == first


def test_a_word_of_the_query_counts_once() -> None:
    index = word_module.make_word_index(None, ["lock lock open", "close", "read"])  # type: ignore[arg-type]
    assert index.scores("lock lock lock close").tolist() == index.scores("close lock").tolist()


def test_without_a_cache_nothing_is_written(tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVIEWGAUGE_CACHE", "off")
    assert said("bm25", planted(tmp_path / "r"))
    assert not own_cache.exists()


def test_hostile_files_are_left_out(tmp_path: Path) -> None:
    files: dict[str, str | bytes | None] = {
        "big.py": "def tariff(): pass\n" * 100_000, "binary.py": b"tariff\x00tariff", "vendor/tariff.py": TARIFF,
        "data.json": '{"tariff": 1}', "min.js": "function tariff(parcel){return parcel.weightGrams};" * 100,
        "bad \xe9\udcff.py".encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape"): TARIFF,
    }  # fmt: skip
    change = make_change(tmp_path / "r", {**files, "a.py": "x = 1\n"}, {"a.py": "x = tariff(parcel)\n"})
    (tmp_path / "r" / "link.py").symlink_to("/etc/passwd")
    found = said("bm25(k=99)", change)
    assert [one.text for one in found] == [TARIFF.rstrip("\n")]
    index = code_index(str(tmp_path / "r"), change.head or "")
    assert len(index.paths) == 2


def test_a_repository_without_code_has_no_hits(tmp_path: Path) -> None:
    change = make_change(tmp_path / "r", {"a.txt": "one\n"}, {"a.txt": "two\n"})
    assert said("bm25", change) == []


def test_an_index_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_cache: Path) -> None:
    monkeypatch.setattr(index_module, "_AT_ONCE", 4)
    monkeypatch.setattr(index_module, "MOST_FILES", 8)
    change = planted(tmp_path / "r")
    with pytest.warns(UserWarning, match="only the first 8 files are searched for context"):
        said("bm25", change)
    assert not [file for file in own_cache.rglob("*.npz") if "words" not in file.name]


def test_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = Change.model_validate({"repo": "r", "files": [{"path": "a.py", "patch": "@@ -1 +1 @@\n-b\n+c"}]})
    with pytest.raises(NeedsCode, match="the context bm25 needs the code"):
        said("bm25", bare)
    with pytest.raises(UserError, match="k=0 must be 1 or more"):
        load(Context, "bm25(k=0)")
    gone = planted(tmp_path / "r").model_copy(update={"head": "0" * 40})
    with pytest.raises(UserError, match="git rev-parse failed"):
        said("bm25", gone)
