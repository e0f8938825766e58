from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from reviewgauge.core.errors import BadInput, MissingExtra, UserError
from reviewgauge.models.seq2seq.checkpoint import STATE, Settings, TrainingState, load_torch, read_state, read_weights
from reviewgauge.models.seq2seq.training import _fill

SETTINGS = Settings(
    words=100, hidden=8, dropout=0, source=10, target=10, batch=4, rate=0.01, epochs=3, patience=2, seed=0
)
STATE_OF_NONE = TrainingState(settings=SETTINGS, examples="0", pairs=20, pieces=("a",))


def test_no_training() -> None:
    assert read_state(Path("nowhere")) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "not valid JSON"),
        ('{"format": 2}', "another version"),
        (STATE_OF_NONE.model_dump_json().replace('"hidden":8', '"hidden":99999999'), "hidden"),
        (STATE_OF_NONE.model_dump_json().replace('"best":""', '"best":"../../elsewhere"'), "best"),
        (STATE_OF_NONE.model_dump_json().replace('"best":""', f'"best":"{"a" * 64}"'), "does not have"),
        (STATE_OF_NONE.model_dump_json().replace('"last":""', f'"last":"{"a" * 64}"'), "does not have"),
        (STATE_OF_NONE.model_dump_json().replace('"best_epoch":0', '"best_epoch":7'), "7 is not among its 0"),
        (STATE_OF_NONE.model_dump_json().replace('"best_epoch":0', '"best_epoch":-1'), "-1 is not among its 0"),
        ("[" * 100_000, "nested too deeply|not valid JSON"),
        ("[]", "should be an object"),
        ('{"format": 1, "format": 1}', "settings|twice|format"),
    ],
    ids=[
        "no JSON",
        "another version",
        "huge",
        "another folder",
        "best of no epoch",
        "last of no epoch",
        "best is beyond",
        "best is before",
        "deep",
        "a list",
        "a field twice",
    ],
)
def test_a_state_that_is_none_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / STATE).write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=problem):
        read_state(tmp_path)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text(STATE_OF_NONE.model_dump_json(), encoding="utf-8")
    (tmp_path / STATE).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="is a link"):
        read_state(tmp_path)


def test_weights_are_those_of_the_hash(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    with pytest.raises(BadInput, match="cannot be read"):
        read_weights(tmp_path, "a" * 64)
    (tmp_path / f"{'a' * 64}.pt").write_bytes(b"other")
    with pytest.raises(BadInput, match="is not the file that"):
        read_weights(tmp_path, "a" * 64)


@pytest.mark.parametrize("weights", [{}, {"network": 1}, {"network": {}}], ids=["none", "a number", "others"])
def test_weights_of_another_shape_are_one_clear_line(weights: dict[str, Any]) -> None:
    class Part:
        def load_state_dict(self, values: dict[str, Any]) -> None:
            raise ValueError(values["state"]["step"])

    with pytest.raises(BadInput, match="holds weights of another network"):
        _fill(Part(), weights, "network", Path("trained"))


def test_weights_run_no_code(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    import hashlib
    import pickle

    class Hostile:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (Path.touch, (str(tmp_path / "ran"),))

    raw = pickle.dumps(Hostile(), protocol=2)
    name = hashlib.sha256(raw).hexdigest()
    (tmp_path / f"{name}.pt").write_bytes(raw)
    with pytest.raises(BadInput, match="holds no weights"):
        read_weights(tmp_path, name)
    assert not (tmp_path / "ran").exists()


def test_the_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"reviewgauge\[train\]"):
        load_torch()


def test_a_training_ends_by_its_epochs_or_when_nothing_gets_better() -> None:
    epoch = {"train": 1.0, "validation": 1.0, "seconds": 0.1}

    def after(epochs: int, best: int) -> TrainingState:
        update = {"history": [epoch] * epochs, "best_epoch": best}
        return TrainingState.model_validate({**STATE_OF_NONE.model_dump(), **update})

    assert [after(*at).finished for at in [(0, 0), (1, 1), (2, 1), (3, 1), (3, 3)]] == [False, False, False, True, True]
