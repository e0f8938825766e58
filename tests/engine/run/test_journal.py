"""The calls of a run: written from many threads, read again after a kill, added up, and replayed through a door."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from engine_small import make_cases
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.records import Usage
from reviewgauge.core.results import Failed
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.models.cache.stores import RecordedCalls, calls_file
from reviewgauge.models.chat.client import ChatClient, track_usage
from reviewgauge.models.request.messages import Answer, Call, Request, user
from reviewgauge.models.request.model_spec import ChatSettings

pytestmark = pytest.mark.usefixtures("own_cache")


def open_run(folder: Path) -> RunFolder:
    return RunFolder.create(folder, dataset="small", dataset_path="", cases=make_cases(2))


def made(text: str, said: str = "yes", dollars: float | None = 0.25, paid: bool = True) -> Call:
    answer = Answer(text=said, usage=Usage(calls=1, tokens_in=3, tokens_out=1, dollars=dollars))
    key = hashlib.sha256(text.encode()).hexdigest()
    return Call(key=key, model="openai:fake", request=Request(messages=(user(text),)), answer=answer, paid=paid)


def test_a_run_that_asks_no_model_has_no_file_of_calls(tmp_path: Path) -> None:
    with open_run(tmp_path / "run") as run:
        run.sync()
        assert (list(run.calls()), run.spent()) == ([], 0.0)
    assert not (tmp_path / "run" / "calls.jsonl").exists()


def test_calls_are_read_as_they_were_written_and_what_was_paid_is_added_up(tmp_path: Path) -> None:
    calls = [made("a"), made("b", dollars=None), made("c", paid=False), made("d", dollars=0.5)]
    with open_run(tmp_path / "run") as run:
        for call in calls:
            run.append_call(call)
        run.sync()
    run = RunFolder.open(tmp_path / "run")
    assert list(run.calls()) == calls
    assert run.spent() == 0.75
    with pytest.raises(UserError, match="open for reading only"):
        run.append_call(made("e"))


def test_an_answer_from_a_cache_is_recorded_once_and_again_only_when_it_is_another_one(tmp_path: Path) -> None:
    with open_run(tmp_path / "run") as run:
        run.append_call(made("a"))
        run.append_call(made("a", paid=False))
        run.append_call(made("b", paid=False))
    with open_run(tmp_path / "run") as run:  # the same command again
        for text in ("a", "b"):
            run.append_call(made(text, paid=False))
        run.append_call(made("b", said="no", paid=False))
        run.append_call(made("b", said="no", paid=False))
        run.append_call(made("a"))  # paid for a second time: that is money, and counts
        assert [(call.request.messages[0].text, call.paid) for call in run.calls()] == [
            ("a", True), ("b", False), ("b", False), ("a", True),
        ]  # fmt: skip
        assert run.spent() == 0.5


def test_a_torn_last_line_is_left_out_and_moved_aside_and_any_other_is_an_error(tmp_path: Path) -> None:
    with open_run(tmp_path / "run") as run:
        run.append_call(made("a"))
        run.append_call(made("b"))
    path = tmp_path / "run" / "calls.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    assert list(RunFolder.open(tmp_path / "run").calls()) == [made("a")]
    with open_run(tmp_path / "run") as run:
        run.append_call(made("c"))
        assert list(run.calls()) == [made("a"), made("c")]
    assert (tmp_path / "run" / "calls.jsonl.torn").exists()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0][:40] + b"\n" + lines[1])
    with pytest.raises(BadInput, match=r"calls\.jsonl, line 1"):
        list(RunFolder.open(tmp_path / "run").calls())


@pytest.mark.parametrize("name", ["calls.jsonl", "calls.jsonl.gz"])
def test_of_several_calls_under_one_key_the_last_counts(tmp_path: Path, name: str) -> None:
    lines = [made("a").to_line(), b"\n", made("b").to_line(), made("a", said="no").to_line(), made("c").to_line()[:-9]]
    path = tmp_path / name
    (gzip.open if name.endswith(".gz") else Path.open)(path, "wb").write(b"".join(lines))
    recorded = RecordedCalls(calls_file(tmp_path))
    assert len(recorded) == 2
    assert recorded.get(made("a").key) == made("a", said="no")
    assert recorded.get(made("b").key) == made("b")
    assert made("c").key not in recorded
    recorded.close()


# --- through a door ------------------------------------------------------------------------------------------------


def ask(door: ChatClient, texts: Sequence[str]) -> tuple[list[Answer], Usage]:
    with track_usage() as tracker:
        model = door.model("fake:rules")
        found = [model.ask(Request(messages=(user(text),)), trial=trial) for text in texts for trial in (1, 2)]
    return found, tracker.usage


def test_a_replay_gives_the_same_answers_and_the_same_bill_and_asks_nobody(tmp_path: Path, own_cache: Path) -> None:
    with open_run(tmp_path / "run") as run, ChatClient(record=run.append_call) as door:
        first = ask(door, ["one", "two"])
    assert first[1].dollars
    assert len(list(run.calls())) == 4
    for file in own_cache.iterdir():
        file.unlink()
    with ChatClient(ChatSettings(replay=tmp_path / "run")) as door:
        assert ask(door, ["one", "two"]) == first
        with pytest.raises(Failed, match="not in the record") as caught:
            ask(door, ["three"])
        assert not caught.value.stops
        assert door.reused.added == 4
        assert door.budget.totals.calls == 0
    assert not list(own_cache.iterdir())


def test_what_is_in_the_cache_costs_nothing_and_is_recorded_as_not_paid(tmp_path: Path) -> None:
    with open_run(tmp_path / "first") as run, ChatClient(record=run.append_call) as door:
        first = ask(door, ["one"])
        assert run.spent() == pytest.approx(door.budget.spent) == pytest.approx(first[1].dollars)
    with open_run(tmp_path / "second") as run, ChatClient(record=run.append_call) as door:
        assert ask(door, ["one"]) == first
        assert (run.spent(), door.budget.spent) == (0.0, 0.0)
        assert [call.paid for call in run.calls()] == [False, False]
