"""The cache of vectors: several processes, broken files, places that cannot be written to."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from reviewgauge.models.cache.vector_cache import VectorCache, open_cache

MODEL, OTHER = "ab" * 32, "cd" * 32


def vector(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.array(values, dtype=np.float32)


def test_what_was_put_comes_back_to_the_bit(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "deep" / "vectors.sqlite")
    texts = ["one", "two", "", "\ud83d", "ünï" * 1000]
    assert cache.get(MODEL, texts) == {}
    written = {text: vector(n, 1 / 3, -0.0) for n, text in enumerate(texts)}
    cache.put(MODEL, written)
    found = VectorCache(cache.file).get(MODEL, [*texts, "unknown"])
    assert found.keys() == written.keys()
    assert all(found[text].tobytes() == written[text].tobytes() for text in texts)
    assert VectorCache(cache.file).get(OTHER, texts) == {}
    cache.put(MODEL, {"one": vector(9, 9, 9)})
    assert cache.get(MODEL, ["one"])["one"][0] == 0, "what is there stays"


def test_no_text_is_in_the_file(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "vectors.sqlite")
    cache.put(MODEL, {"a confidential comment": vector(1)})
    assert b"confidential" not in b"".join(file.read_bytes() for file in tmp_path.iterdir())


@pytest.mark.slow
def test_several_processes_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "vectors.sqlite"
    program = (
        "import sys, numpy as np\n"
        "from pathlib import Path\n"
        "from reviewgauge.models.cache.vector_cache import VectorCache\n"
        "cache, me = VectorCache(Path(sys.argv[1])), int(sys.argv[2])\n"
        "for n in range(25):\n"
        f"    cache.put('{MODEL}', {{f'{{me}}-{{n}}-{{k}}': np.full(8, n, dtype=np.float32) for k in range(4)}})\n"
    )
    command = [sys.executable, "-W", "error", "-c", program, str(file)]
    writers = [subprocess.Popen([*command, str(me)], stderr=subprocess.PIPE) for me in range(4)]
    for writer in writers:
        _, said = writer.communicate()
        assert writer.returncode == 0, said.decode()
    wanted = [f"{me}-{n}-{k}" for me in range(4) for n in range(25) for k in range(4)]
    assert VectorCache(file).get(MODEL, wanted).keys() == set(wanted)


def test_a_file_that_is_broken_or_of_another_program_costs_a_warning_and_is_left_alone(tmp_path: Path) -> None:
    broken, foreign = tmp_path / "broken.sqlite", tmp_path / "foreign.sqlite"
    broken.write_bytes(b"no database at all, but long enough to look like one" * 40)
    with closing(sqlite3.connect(foreign)) as connection:
        connection.execute("CREATE TABLE vectors (something TEXT)")
    for file in (broken, foreign):
        before, cache = file.read_bytes(), VectorCache(file)
        with pytest.warns(RuntimeWarning, match="is not used"):
            assert cache.get(MODEL, ["a"]) == {}
        cache.put(MODEL, {"a": vector(1, 2)})  # said once
        assert file.read_bytes() == before


def test_the_oldest_quarter_goes_when_the_file_is_full(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "vectors.sqlite", largest=400_000)
    for n in range(60):
        cache.put(MODEL, {f"{n}-{k}": np.full(256, n, dtype=np.float32) for k in range(10)})
    assert cache.file.stat().st_size < 600_000
    assert cache.get(MODEL, ["0-0"]) == {}
    assert len(cache.get(MODEL, [f"59-{k}" for k in range(10)])) == 10


def test_where_it_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def place(**variables: str) -> str:
        for name in ("REVIEWGAUGE_CACHE", "XDG_CACHE_HOME"):
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        cache = open_cache()
        return str(cache.file if cache else None)

    home = str(tmp_path)
    assert place(REVIEWGAUGE_CACHE=f"{home}/own", XDG_CACHE_HOME="/x") == f"{home}/own/vectors.sqlite"
    assert place(XDG_CACHE_HOME=f"{home}/xdg") == f"{home}/xdg/reviewgauge/vectors.sqlite"
    assert place(XDG_CACHE_HOME="relative", HOME=home) == f"{home}/.cache/reviewgauge/vectors.sqlite"
    assert place(REVIEWGAUGE_CACHE="off") == place(REVIEWGAUGE_CACHE="") == "None"
    assert list(tmp_path.iterdir()) == [], "asking creates nothing"
