"""Asking until the answer can be read: how often, with what said, what it costs, and what is forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.models.answers.readers import whole_number, yes_no
from reviewgauge.models.chat.ask import Reading, ask_for, ask_for_each
from reviewgauge.models.chat.client import ChatClient, chat_model, track_usage
from reviewgauge.models.request.messages import Call, system, user
from scripted_models import Messages, scripted

QUESTION = (system("You judge."), user("The same?"))


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Call]]:
    """The answers that a client under test was given, cache and key being those of the test."""
    monkeypatch.setenv("REVIEWGAUGE_CACHE", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-test")
    told: list[Call] = []
    with ChatClient(record=told.append):
        yield told


def roles(messages: Messages) -> list[str]:
    return [message["role"] for message in messages]


def test_a_readable_answer_is_asked_for_once(calls: list[Call]) -> None:
    with scripted(["Yes."]) as model, track_usage() as tracker:
        found = ask_for(chat_model(model.spec), QUESTION, yes_no)
    assert found.value is True
    assert found.raw == "Yes."
    assert len(model.asked) == len(calls) == len(found.answers) == tracker.usage.calls == 1
    assert roles(model.asked[0]) == ["system", "user"]


def test_the_model_is_told_what_was_wrong(calls: list[Call]) -> None:
    with scripted(["They are similar.", "Yes and no", "no"]) as model, track_usage() as tracker:
        found = ask_for(chat_model(model.spec), QUESTION, yes_no)
    assert found.value is False
    assert [answer.text for answer in found.answers] == ["They are similar.", "Yes and no", "no"]
    assert tracker.usage.calls == 3
    first, second, third = model.asked
    assert second[:2] == third[:2] == first
    assert roles(second) == roles(third) == ["system", "user", "assistant", "user"]
    assert second[2]["content"] == "They are similar."
    assert third[2]["content"] == "Yes and no", "only the last answer is shown"
    assert "yes or no, and nothing else" in second[3]["content"]
    assert [call.ask for call in calls] == [1, 2, 3]


def test_without_a_reminder_the_same_words_are_asked_again(calls: list[Call]) -> None:
    with scripted(["7", "Grade=0", "Grade=2"]) as model:
        found = ask_for(chat_model(model.spec), QUESTION, lambda text: whole_number(text, 1, 5), remind=False)
    assert found.value == 2
    assert model.asked[0] == model.asked[1] == model.asked[2]
    assert len({call.key for call in calls}) == 3, "three calls, not one from the cache"


@pytest.mark.parametrize("asks", [1, 2, 3, 5])
def test_then_it_fails_with_the_last_raw_answer(calls: list[Call], asks: int) -> None:
    script = [f"perhaps {number}" for number in range(asks)]
    with scripted(script) as model:
        with pytest.raises(Failed) as error:
            ask_for(chat_model(model.spec), QUESTION, yes_no, asks=asks)
        assert len(model.asked) == asks
    failure = error.value.failure
    assert failure.kind is FailureKind.UNREADABLE
    assert failure.raw == script[-1]
    assert f"in {asks} asks" in failure.message
    assert "yes or no" in failure.message
    assert not error.value.stops, "the next item may well be readable"


def test_what_could_not_be_read_is_forgotten_and_asked_anew(calls: list[Call]) -> None:
    with scripted(["hm", "hm", "hm", "yes"]) as model:
        chat = chat_model(model.spec)
        with pytest.raises(Failed):
            ask_for(chat, QUESTION, yes_no)
        assert ask_for(chat, QUESTION, yes_no).value is True
        assert len(model.asked) == 4
        assert ask_for(chat, QUESTION, yes_no).value is True
        assert len(model.asked) == 4, "what could be read is remembered"


def test_an_answer_that_was_read_in_the_end_is_remembered_with_those_before_it(calls: list[Call]) -> None:
    with scripted(["hm", "no"]) as model:
        chat = chat_model(model.spec)
        first = ask_for(chat, QUESTION, yes_no)
        second = ask_for(chat, QUESTION, yes_no)
    assert [answer.text for answer in first.answers] == [answer.text for answer in second.answers] == ["hm", "no"]
    assert len(model.asked) == 2


def test_many_at_once_in_order_and_one_that_fails_holds_up_no_other(calls: list[Call]) -> None:
    def say(messages: Messages) -> str:
        number = int(messages[0]["content"].split()[-1])
        return "never" if number == 3 else str(number % 5 + 1)

    with scripted(say) as model, track_usage() as tracker:
        found = ask_for_each(
            chat_model(model.spec), [[user(f"Item {n}")] for n in range(8)], lambda text: whole_number(text, 1, 5)
        )
    assert [reading.value if isinstance(reading, Reading) else None for reading in found] == [1, 2, 3, None, 5, 1, 2, 3]
    assert isinstance(found[3], Failed)
    assert found[3].raw == "never"
    assert tracker.usage.calls == len(model.asked) == 7 + 3
    assert ask_for_each(chat_model(model.spec), [], yes_no) == []


def test_trials_and_conversations_must_be_as_many(calls: list[Call]) -> None:
    with pytest.raises(ValueError, match="1 trials for 2 conversations"):
        ask_for_each(chat_model("fake:rules"), [QUESTION, QUESTION], yes_no, trials=[1])


def test_a_reader_that_breaks_is_no_unreadable_answer(calls: list[Call]) -> None:
    def broken(text: str) -> bool:
        raise ZeroDivisionError(text)

    with scripted(["yes"]) as model:
        with pytest.raises(ZeroDivisionError):
            ask_for(chat_model(model.spec), QUESTION, broken)
        assert len(model.asked) == 1, "a bug is not asked again"


def test_an_answer_with_odd_characters_fails_with_a_storable_raw_text(calls: list[Call]) -> None:
    with scripted(["a\x00b \U0001f468 \ufffd"]) as model, pytest.raises(Failed) as error:
        ask_for(chat_model(model.spec), QUESTION, yes_no)
    assert error.value.failure.to_line()
    raw = error.value.failure.raw
    assert raw is not None
    assert "\x00" not in raw
