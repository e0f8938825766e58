"""Sequences of records that stay on the disk."""

from __future__ import annotations

import gc
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from engine_small import Echo, make_case, make_cases
from reviewgauge.core.records import Case, Usage
from reviewgauge.core.stored import ByKey, Lazy, ReplayableStream, StoredRecords, Unstorable, chained, replayable
from reviewgauge.engine.review import review
from reviewgauge.engine.run.executors import Serial
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.score import score
from reviewgauge.metrics.hits import Hits


def test_a_lazy_sequence_is_like_a_list() -> None:
    made: list[int] = []

    def square(at: int) -> int:
        made.append(at)
        return at * at

    lazy = Lazy(6, square)
    assert made == [] and len(lazy) == 6 and lazy
    assert lazy[-1] == 25 and made == [5]
    assert lazy[1:4] == [1, 4, 9] and lazy[::-2] == [25, 9, 1]
    assert lazy == [0, 1, 4, 9, 16, 25] and lazy not in ([0, 1], 7)
    assert 16 in lazy and lazy.index(9) == 3 and list(reversed(lazy)) == [25, 16, 9, 4, 1, 0]
    with pytest.raises(IndexError):
        lazy[6]
    assert not Lazy(0, square)


def test_sequences_in_a_row() -> None:
    assert chained([[1, 2], [], [3]]) == [1, 2, 3]
    assert chained([[1]]) == [1]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files as Linux shows them")
def test_a_stream_is_read_again_and_gone_with_its_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    cases = replayable(Case, (make_case(n) for n in range(30)))
    assert cases == make_cases(30)
    assert cases[7] == make_case(7) and cases[-2:] == make_cases(30)[-2:]
    held: Sequence[Case] = make_cases(2)
    assert replayable(Case, held) is held
    assert open_files(tmp_path) == 1
    del cases
    assert open_files(tmp_path) == 0


def test_what_no_line_can_hold_is_refused_and_the_rest_stays() -> None:
    stream = ReplayableStream(Usage)
    stream.add(Usage(calls=1))
    with pytest.raises(Unstorable):
        stream.add(Usage.model_construct(calls=-1))
    stream.add(Usage(calls=2))
    assert [one.calls for one in stream] == [1, 2]


def test_a_file_that_is_replaced_is_read_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    lines = [case.to_line() for case in make_cases(3)]
    file.write_bytes(b"".join(lines))
    stored = StoredRecords(os.open(file, os.O_RDONLY), str(file), Case)
    for number, line in enumerate(lines):
        stored.places.add(sum(map(len, lines[:number])), len(line))
    by_key = ByKey({case.id: at for at, case in enumerate(make_cases(3))}, stored)
    (tmp_path / "other").write_bytes(b"nothing")
    (tmp_path / "other").replace(file)
    assert stored == make_cases(3)
    assert by_key["case-001"] == make_case(1) and "x" not in by_key and len(by_key) == 3
    assert list(by_key) == ["case-000", "case-001", "case-002"]


def open_files(folder: Path) -> int:
    """Of this process, below `folder`: what others hold or close meanwhile does not count."""
    found = 0
    for link in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            found += str(link.readlink()).startswith(str(folder))
    return found


def live_cases() -> int:
    gc.collect()
    return sum(isinstance(one, Case) for one in gc.get_objects())


@pytest.fixture
def what_is_there_stands_still() -> Iterator[None]:
    """Only what comes after is looked through for garbage: all that earlier tests imported takes half a second."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("what_is_there_stands_still")
def test_a_run_holds_a_few_cases_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever their number: reviewed one by one, and scored in batches."""
    monkeypatch.setattr("reviewgauge.engine.score._LARGEST_BATCH", 40)
    before, most = live_cases(), 0

    def watch(done: int, total: int, what: str) -> None:
        nonlocal most
        most = max(most, live_cases() - before)

    cases = (make_case(n) for n in range(200))
    with RunFolder.create(tmp_path / "run", dataset="d", dataset_path="", cases=cases) as run:
        review(run, Echo(), executor=Serial(), progress=watch)
        assert most < 10
        score(run, Hits(), progress=watch)
        assert most < 50, "one batch"
