"""The options of verbs that ask models: what they open, what they refuse, and what is said of the bill."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from engine_small import make_cases
from reviewgauge.cli.options import model_options
from reviewgauge.core.errors import UserError
from reviewgauge.core.results import Failed
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.model_options import ModelOptions, Spending, spending
from reviewgauge.models.chat.client import ChatClient, chat_model
from reviewgauge.models.request.messages import Request, user
from reviewgauge.models.request.model_spec import ChatSettings

pytestmark = pytest.mark.usefixtures("own_cache")

PRICED = "fake:rules?max_tokens=100"


def open_run(folder: Path) -> RunFolder:
    return RunFolder.create(folder, dataset="small", dataset_path="", cases=make_cases(2))


def ask(count: int, spec: str = PRICED) -> None:
    for number in range(count):
        chat_model(spec).ask(Request(messages=(user(f"{'word ' * 40}{number}"),)))


def bill(client: ChatClient) -> Spending:
    return spending(client)


def test_a_verb_gets_one_argument() -> None:
    got: list[ModelOptions] = []

    @click.command()
    @model_options
    @click.option("--other", default=1)
    def verb(models: ModelOptions, other: int) -> None:
        got.append(models)

    run = CliRunner().invoke
    assert run(verb, []).exit_code == 0
    words = "--budget 2.5 --dry-run --no-cache --in-flight 64 --rpm 100 --tpm 5000 --prices p.json --replay runs/a"
    assert run(verb, words.split()).exit_code == 0
    assert got == [ModelOptions(), ModelOptions(2.5, True, False, 64, 100, 5000, "p.json", "runs/a")]
    for bad in ("--budget 0", "--budget -1", "--in-flight 0", "--rpm 0"):
        assert run(verb, bad.split()).exit_code == 2


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 0.0, -1.0])
def test_a_budget_must_be_positive(value: float) -> None:
    with pytest.raises(UserError, match="budget must be a positive number"):
        ModelOptions(budget=value)


def test_what_contradicts_itself_or_cannot_be_read_is_said_before_anything_is_done(tmp_path: Path) -> None:
    (tmp_path / "prices.json").write_text("{}")
    for models, said in (
        (ModelOptions(dry_run=True, replay=tmp_path), "choose one"),
        (ModelOptions(prices=tmp_path / "prices.json"), "field models: is missing"),
        (ModelOptions(replay=tmp_path), "holds no calls.jsonl"),
    ):
        with pytest.raises(UserError, match=said), models.client():
            pytest.fail("no client must open")


def test_bad_prices_of_the_environment_are_said_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVIEWGAUGE_PRICES", str(tmp_path / "nowhere.json"))
    with pytest.raises(UserError, match=r"nowhere\.json cannot be read"), ModelOptions().client():
        pytest.fail("no client must open")


def test_a_call_that_cannot_be_recorded_stops_the_run(tmp_path: Path) -> None:
    open_run(tmp_path / "run").close()
    run = RunFolder.open(tmp_path / "run")
    with ModelOptions().client(run), pytest.raises(Failed, match="open for reading only") as caught:
        ask(1)
    assert caught.value.stops


def test_calls_are_recorded_in_the_run_and_the_bill_adds_up(tmp_path: Path) -> None:
    with open_run(tmp_path / "run") as run, ModelOptions().client(run) as client:
        ask(3)
        ask(2)  # there already
        found = bill(client)
        recorded = list(run.calls())
    assert (found.calls, found.reused, len(recorded)) == (3, 2, 3)
    assert found.tokens_in == sum(call.answer.usage.tokens_in for call in recorded)
    assert found.dollars == pytest.approx(run.spent())
    assert found.worth is not None
    assert 0 < found.worth < (found.dollars or 0)
    assert found.sentence.startswith("3 calls paid; 2 from the cache (worth $0.000")


def test_a_budget_holds_for_the_run_folder_however_often_the_command_is_started(tmp_path: Path) -> None:
    budget, started = 0.001, 0
    with pytest.raises(Failed, match=r"of it before this command"):
        while started < 50:
            started += 1
            with open_run(tmp_path / "run") as run, ModelOptions(budget=budget, cache=False).client(run):
                ask(1)
    assert started > 2
    assert 0 < RunFolder.open(tmp_path / "run").spent() <= budget


def test_what_a_killed_run_paid_for_and_did_not_come_to_record_is_its_payment(tmp_path: Path) -> None:
    with open_run(tmp_path / "run") as run, ModelOptions().client(run):
        ask(2)
        cost = run.spent()
    path = tmp_path / "run" / "calls.jsonl"
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])  # committed in the cache, and then the kill
    with open_run(tmp_path / "run") as run, ModelOptions().client(run) as client:
        ask(2)
        assert (run.spent(), bill(client).calls) == (cost, 0)
    with open_run(tmp_path / "other") as run, ModelOptions().client(run):
        ask(2)
        assert run.spent() == 0


def test_a_dry_run_asks_nobody_keeps_nothing_and_names_the_range(tmp_path: Path, own_cache: Path) -> None:
    with open_run(tmp_path / "run") as run, ModelOptions(dry_run=True, budget=1e-9).client(run) as client:
        ask(3, "anthropic:claude-sonnet-4-5?max_tokens=1000")
        found = bill(client)
        assert list(run.calls()) == []
    assert not own_cache.exists()
    assert (found.estimated, found.calls, found.reused) == (True, 3, 0)
    assert found.dollars == pytest.approx(found.tokens_in * 3e-6 + found.tokens_out * 15e-6)
    assert found.worst is not None
    assert found.worst > 3 * 1000 * 15e-6 > (found.dollars or 0)
    assert "3 calls to pay for." in found.sentence
    assert "at most $0.04" in found.sentence
    assert "Prices of 2025-10-31." in found.sentence


def test_a_dry_run_knows_what_is_in_the_cache() -> None:
    with ModelOptions().client():
        ask(2)
    with ModelOptions(dry_run=True).client() as client:
        ask(5)
        found = bill(client)
    assert (found.calls, found.reused) == (3, 2)
    assert "3 calls to pay for. 2 more are in the cache" in found.sentence
    with ModelOptions(dry_run=True, cache=False).client() as client:
        ask(5)
        assert (bill(client).calls, bill(client).reused) == (5, 0)


def test_a_dry_run_goes_by_the_answers_of_the_same_model_where_there_are_some(own_cache: Path) -> None:
    spec = "fake:rules"
    with ModelOptions().client():
        ask(6, spec)
    with sqlite3.connect(own_cache / "chat.sqlite") as connection:
        connection.execute("UPDATE calls SET tokens_out = 2000")
    with ModelOptions(dry_run=True).client() as client:
        ask(10, spec)
        found = bill(client)
    assert (found.calls, found.reused, found.seen, found.tokens_out) == (4, 6, 6, 8000)
    assert found.dollars == pytest.approx(found.tokens_in * 1e-6 + 8000 * 4e-6)
    assert "8,000 out, going by 6 such answers in the cache: $0.03" in found.sentence


def test_a_model_without_a_price_is_named_and_never_free(tmp_path: Path) -> None:
    spec = "openai:qwen3@http://localhost:1/v1"
    with ModelOptions(dry_run=True).client() as client:
        ask(2, spec)
        found = bill(client)
    assert (found.dollars, found.unpriced) == (None, (spec,))
    assert f"no price is known for {spec} (--prices FILE gives one)" in found.sentence
    own = tmp_path / "prices.json"
    own.write_text(json.dumps({"models": {"qwen3": {"input": 1, "output": 2}}}))
    with ModelOptions(dry_run=True, prices=own).client() as client:
        ask(2, spec)
        assert (bill(client).dollars or 0) > 0


def test_a_replay_says_that_no_model_was_asked(tmp_path: Path) -> None:
    with open_run(tmp_path / "run") as run, ModelOptions().client(run):
        ask(3)
    with ModelOptions(replay=tmp_path / "run", cache=False).client() as client:
        ask(3)
        found = bill(client)
    assert (found.calls, found.reused, found.dollars) == (0, 3, 0.0)
    assert found.sentence.startswith("3 calls replayed (worth $0.000")
    assert found.sentence.endswith("no model was asked")


def test_the_price_of_a_fake_model_is_called_invented() -> None:
    paid = Spending(calls=1, dollars=0.5, known=0.5)
    assert "invented" not in paid.sentence
    assert paid.model_copy(update={"invented": True}).sentence.endswith("$0.50 (the fake model's price is invented)")
    with ChatClient(ChatSettings(cache=False)) as client:
        client.model("fake:rules").ask(Request(messages=(user("Hi."),)))
        assert spending(client).invented
