"""A log that inspect_ai wrote about agents of others: what each sample said, or why it said nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from formats.conftest import FIXTURES, Shop, read

from reviewgauge.core.errors import BadInput
from reviewgauge.core.results import Failed, Failure, Outcome
from reviewgauge.formats.inspect import Inspect, carried
from reviewgauge.models.chat.client import track_usage
from reviewgauge.reviewers.replay import Replay

LOG = "inspect-0.3.285.json"
PULL = "https://github.com/acme/shop/pull/7"


def test_outputs_are_read_in_any_format_and_failures_keep_their_kind() -> None:
    found = {(one.key, one.attempt): one for one in read(Inspect(), LOG)}
    assert {one.system for one in found.values()} == {"mockllm/model"}
    assert [c.body for c in found[PULL, 1].comments] == ["eval runs whatever the file holds"]
    assert len(found[PULL, 2].comments) == 2 and found["silent", 1].comments == ()
    assert found["silent", 1].answer is None
    failures = {key: one.answer for (key, _), one in found.items() if isinstance(one.answer, Failure)}
    assert {key: str(one.kind) for key, one in failures.items()} == {
        "prose": "unreadable", "empty": "unreadable", "broken": "crash", "filtered": "refusal", "slow": "timeout",
    }  # fmt: skip
    assert failures["prose"].raw == "It looks fine to me." and "the agent died" in failures["broken"].message


def test_replay_takes_the_epoch_of_the_attempt(shop: Shop) -> None:
    replay = Replay(path=str(FIXTURES / LOG))
    replay.prepare([shop.change])
    lines = []
    for attempt in (1, 2):
        with track_usage(attempt):
            lines.append([c.span.start for c in replay.review(shop.change).comments if c.span])
    assert lines == [[7], [12, 5]]
    with pytest.raises(Failed, match="the agent died"):
        replay.review(shop.change.model_copy(update={"id": "broken", "url": None}))


def _outcome(**changes: object) -> dict[str, Any]:
    whole = {"case": "silent", "system": "s", "review": {"case": "silent", "system": "s"}}
    return carried(Outcome.model_validate(whole)) | changes


@pytest.mark.parametrize(("change", "message"), [
    (lambda log: log.update(version=3), "field version: .*is an inspect log of version 3, and 2 is read"),
    (lambda log: log.pop("version"), "field version: is missing"),
    (lambda log: log.update(samples=[]), "holds no samples"),
    (lambda log: log.pop("samples"), "holds no samples"),
    (lambda log: log["samples"].append(log["samples"][0]), r"samples\[8\].*second one of sample"),
    (lambda log: log["samples"][0].pop("epoch"), r"samples\[0\], field epoch: is missing"),
    (lambda log: log["samples"][0].update(metadata={"reviewgauge": {}}), "field metadata.reviewgauge.layout"),
    (lambda log: log["samples"][0].update(metadata={"reviewgauge": _outcome(layout=2)}), "of another reviewgauge"),
    (lambda log: log["samples"][0].update(metadata={"reviewgauge": _outcome()}), "is about silent, .*was edited"),
    (lambda log: log["samples"][0].update(metadata={"reviewgauge": _outcome(outcome={"case": "a", "stars": 5})}),
        "metadata.reviewgauge.outcome"),
])  # fmt: skip
def test_another_version_and_an_edited_log_are_refused(
    change: Callable[[dict[str, Any]], object], message: str
) -> None:
    log = json.loads((FIXTURES / LOG).read_bytes())
    change(log)
    with pytest.raises(BadInput, match=message):
        Inspect().read(json.dumps(log).encode(), "log.json")


def test_a_score_that_is_no_number_and_an_invalid_sample_lose_nothing_else() -> None:
    log = json.loads((FIXTURES / LOG).read_bytes())
    log["samples"][0]["scores"] = {"hits": {"value": float("nan")}}
    silent = next(sample for sample in log["samples"] if sample["id"] == "silent")
    silent["invalidation"] = {"author": "me", "reason": "a broken sandbox"}
    found = Inspect().read(json.dumps(log).encode(), "log.json")
    assert len(found) == len(log["samples"])
    (one,) = (one for one in found if one.key == "silent")
    assert isinstance(one.answer, Failure) and "declared invalid" in one.answer.message


def test_an_archive_needs_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "inspect_ai.log", None)
    with pytest.raises(BadInput, match="inspect log convert --to json"):
        Inspect().read(b"PK\x03\x04header.json", "log.eval")


def test_a_broken_archive_is_refused_by_name() -> None:
    pytest.importorskip("inspect_ai", reason="inspect_ai is not installed: pip install inspect_ai")
    with pytest.raises(BadInput, match=r"log\.eval: cannot be read by inspect_ai"):
        Inspect().read(b"PK\x03\x04header.json", "log.eval")
