from __future__ import annotations

import hashlib
import pickle
import sys
from pathlib import Path

import pytest

from reviewgauge.core.errors import BadInput, MissingExtra, UserError
from reviewgauge.models.seq2seq.training import STATE, Epoch, Settings, Training, Writer, load_torch, read_training

SETTINGS = Settings(
    words=100, hidden=8, dropout=0, source=10, target=10, batch=4, rate=0.01, epochs=3, patience=2, seed=0
)
EPOCH = Epoch(train=1, validation=1, seconds=0.1)
TRAINING = Training(settings=SETTINGS, examples="0", pairs=20, pieces=("a",), history=(EPOCH,), best="a" * 64)
TEXT = TRAINING.model_dump_json()


def test_no_training() -> None:
    assert read_training(Path("nowhere")) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "not valid JSON"),
        (TEXT.replace('"format":2', '"format":1'), "format"),
        (TEXT.replace('"hidden":8', '"hidden":99999999'), "hidden"),
        (TEXT.replace("a" * 64, "../../elsewhere"), "best"),
        (TEXT.replace(EPOCH.model_dump_json(), ""), "history"),
    ],
    ids=["no JSON", "another version", "huge", "another folder", "no epoch"],
)
def test_a_training_that_is_none_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / STATE).write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=problem):
        read_training(tmp_path)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text(TEXT, encoding="utf-8")
    (tmp_path / STATE).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="is a link"):
        read_training(tmp_path)


def test_weights_are_those_of_the_hash_and_run_no_code(tmp_path: Path) -> None:
    pytest.importorskip("torch")

    class Hostile:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (Path.touch, (str(tmp_path / "ran"),))

    raw = pickle.dumps(Hostile(), protocol=2)
    hostile = TRAINING.model_copy(update={"best": hashlib.sha256(raw).hexdigest()})
    (tmp_path / f"{hostile.best}.pt").write_bytes(raw)
    with pytest.raises(BadInput, match="holds no weights"):
        Writer(tmp_path, hostile, "cpu")
    assert not (tmp_path / "ran").exists()
    with pytest.raises(BadInput, match="cannot be read"):
        Writer(tmp_path, TRAINING, "cpu")
    (tmp_path / f"{TRAINING.best}.pt").write_bytes(raw)
    with pytest.raises(BadInput, match="is not the file that"):
        Writer(tmp_path, TRAINING, "cpu")


def test_the_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"reviewgauge\[train\]"):
        load_torch()
