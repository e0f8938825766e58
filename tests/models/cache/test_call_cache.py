"""The cache of answers: real files, real threads, real processes that are killed; what is wrong with it is said."""

from __future__ import annotations

import asyncio
import hashlib
import os
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from reviewgauge.core.records import Usage
from reviewgauge.core.results import Failed
from reviewgauge.models.cache.call_cache import CallCache, cache_file, open_store
from reviewgauge.models.cache.stores import Memory
from reviewgauge.models.request.messages import Answer, Call, Request, user

WRITER = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_call_cache import made
from reviewgauge.models.cache.call_cache import CallCache
cache = CallCache(Path(sys.argv[1]))
name, first, count = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
async def main():
    async def one(n):
        await cache.put(made(f"{{name}} {{n}}"))
        print(n, flush=True)
    for start in range(first, first + count, 8):
        await asyncio.gather(*(one(n) for n in range(start, min(start + 8, first + count))))
asyncio.run(main())
cache.close()
"""


def key_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def made(text: str, dollars: float | None = 0.25, model: str = "openai:fake") -> Call:
    usage = Usage(calls=1, tokens_in=10, tokens_out=2, dollars=dollars)
    answer = Answer(text=f"answer to {text}", usage=usage)
    return Call(key=key_of(text), model=model, request=Request(messages=(user(text),)), answer=answer)


def put(cache: CallCache, *calls: Call) -> None:
    async def all_of() -> None:
        await asyncio.gather(*(cache.put(call) for call in calls))

    asyncio.run(all_of())


def start_writer(file: Path, name: str, first: int, count: int) -> subprocess.Popen[str]:
    script = WRITER.format(tests=str(Path(__file__).parent))
    command = [sys.executable, "-c", script, str(file), name, str(first), str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_what_was_put_is_found_again_by_another_process_and_nothing_else(tmp_path: Path) -> None:
    cache = CallCache(tmp_path / "home" / "chat.sqlite")
    assert cache.get(key_of("a")) is None
    put(cache, made("a"), made("b", dollars=None))
    assert cache.get(key_of("a")) == made("a")
    assert cache.get(key_of("c")) is None
    cache.close()
    again = CallCache(cache.file)
    assert again.get(key_of("b")) == made("b", dollars=None)
    again.close()


def test_an_unreadable_answer_is_forgotten_at_once_and_can_be_put_anew(tmp_path: Path) -> None:
    cache = CallCache(tmp_path / "chat.sqlite")
    put(cache, made("a"), made("b"))
    cache.forget([key_of("a")])
    assert cache.get(key_of("a")) is None
    cache.close()
    again = CallCache(cache.file)
    assert again.get(key_of("a")) is None
    assert again.get(key_of("b")) is not None
    again.forget([key_of("b")])
    put(again, made("b"))
    assert again.get(key_of("b")) is not None
    again.close()


@pytest.mark.drill
def test_many_processes_may_begin_and_write_one_cache(tmp_path: Path) -> None:
    file = tmp_path / "chat.sqlite"
    writers = [start_writer(file, f"w{n}", 0, 20) for n in range(3)]
    for writer in writers:
        said = writer.communicate()
        assert writer.returncode == 0, said
    cache = CallCache(file)
    assert all(cache.get(key_of(f"w{w} {n}")) for w in range(3) for n in range(20))
    cache.close()


def test_a_fork_uses_connections_of_its_own(tmp_path: Path) -> None:
    cache = CallCache(tmp_path / "chat.sqlite")
    put(cache, made("a"))
    assert cache.get(key_of("a"))
    child = os.fork()
    if child == 0:
        found = cache.get(key_of("a")) is not None
        put(cache, made("from the child"))
        os._exit(0 if found else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert cache.get(key_of("from the child"))
    cache.close()


def test_a_payer_knows_what_it_has_paid_for_and_others_do_not(tmp_path: Path) -> None:
    first, second = CallCache(tmp_path / "chat.sqlite"), CallCache(tmp_path / "chat.sqlite")
    first.payer, second.payer = "one", "two"
    put(first, made("a"))
    for cache, ours in ((first, True), (second, False)):
        assert cache.get(key_of("a"))
        assert cache.ours(key_of("a")) is ours
        cache.close()


# --- trouble -------------------------------------------------------------------------------------------------------


def refused(cache: CallCache) -> str:
    with pytest.raises(Failed) as caught:
        cache.get(key_of("a"))
    assert caught.value.stops
    with pytest.raises(Failed) as caught:
        put(cache, made("a"))
    assert caught.value.stops  # or each further answer would be paid for and lost
    return str(caught.value)


def test_a_broken_file_is_named_and_neither_replaced_nor_paid_around(tmp_path: Path) -> None:
    file = tmp_path / "chat.sqlite"
    file.write_bytes(b"this is not a database at all" * 100)
    said = refused(CallCache(file))
    assert "is broken" in said
    assert "move it away" in said
    assert "--no-cache" in said
    assert file.read_bytes().startswith(b"this is not a database")


def test_a_broken_row_is_named(tmp_path: Path) -> None:
    cache = CallCache(tmp_path / "chat.sqlite")
    put(cache, made("a"))
    cache.close()
    with sqlite3.connect(cache.file) as other:
        other.execute("UPDATE calls SET call = x'00'")
    with pytest.raises(Failed, match=r"holds a call that cannot be read.*cache clear"):
        cache.get(key_of("a"))
    cache.close()


def test_a_file_of_another_version_or_of_something_else_is_refused(tmp_path: Path) -> None:
    for table in ("songs (name TEXT)", "calls (key BLOB)"):
        file = tmp_path / f"{table[:5]}.sqlite"
        with sqlite3.connect(file) as other:
            other.execute(f"CREATE TABLE {table}")
        assert f"holds the table {table[:5]!r}, which is not ours" in refused(CallCache(file))


def test_a_lock_that_stays_is_said_and_no_answer_is_lost_in_silence(tmp_path: Path) -> None:
    cache = CallCache(tmp_path / "chat.sqlite", wait=0.05)
    put(cache, made("a"))
    other = sqlite3.connect(cache.file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Failed, match="is locked by another process") as caught:
        put(cache, made("b"))
    assert caught.value.stops
    with pytest.raises(Failed, match="is locked by another process"):  # so no call is made whose answer would be lost
        cache.get(key_of("b"))
    other.execute("ROLLBACK")
    put(cache, made("c"))  # the writer lives on
    assert cache.get(key_of("c"))
    other.close()
    cache.close()


def test_a_folder_that_cannot_be_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "REVIEWGAUGE_CACHE" in refused(CallCache(tmp_path / "file" / "chat.sqlite"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_said(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert "cannot be used" in refused(CallCache(tmp_path / "chat.sqlite"))


def test_an_answer_that_no_file_can_carry_is_a_failure_and_its_neighbours_are_kept(tmp_path: Path) -> None:
    cache = CallCache(tmp_path / "chat.sqlite")
    broken = made("b")
    broken = broken.model_copy(update={"answer": broken.answer.model_copy(update={"text": "half \ud83d"})})

    async def main() -> BaseException | None:
        return (await asyncio.gather(cache.put(made("a")), cache.put(broken), return_exceptions=True))[1]

    second = asyncio.run(main())
    assert isinstance(second, Failed)
    assert second.raw == "half ?"
    assert cache.get(key_of("a"))
    cache.close()


# --- what a client asks for ------------------------------------------------------------------------------------------


def test_the_cache_lies_in_the_cache_home_and_nothing_is_opened_before_it_is_used(own_cache: Path) -> None:
    store = open_store(cache=True, replay=None, dry_run=False)
    assert isinstance(store, CallCache)
    assert store.file == own_cache / "chat.sqlite" == cache_file()
    store.close()
    assert not own_cache.exists()


def test_without_a_cache_answers_live_as_long_as_the_process(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stores = [open_store(cache=False, replay=None, dry_run=False)]
    monkeypatch.setenv("REVIEWGAUGE_CACHE", "off")
    stores.append(open_store(cache=True, replay=None, dry_run=False))
    for store in stores:
        assert isinstance(store, Memory)
        work: Callable[[Call], Awaitable[None]] = store.put
        asyncio.run(work(made("a")))  # type: ignore[arg-type]  # a coroutine
        assert store.get(key_of("a")) == made("a")
        store.forget([key_of("a")])
        assert store.get(key_of("a")) is None
    assert not own_cache.exists()


def test_a_dry_run_finds_what_the_cache_holds_and_keeps_nothing(own_cache: Path) -> None:
    empty = open_store(cache=True, replay=None, dry_run=True)
    assert empty.get(key_of("a")) is None
    assert not own_cache.exists()
    cache = CallCache(own_cache / "chat.sqlite")
    put(cache, made("a"))
    cache.close()
    store = open_store(cache=True, replay=None, dry_run=True)
    assert store.get(key_of("a")) == made("a")
    asyncio.run(store.put(made("b")))
    assert store.get(key_of("b")) == made("b")  # the same call twice is one call, as it will be
    store.close()
    again = CallCache(own_cache / "chat.sqlite")
    assert again.get(key_of("b")) is None
    again.close()
