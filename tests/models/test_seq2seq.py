"""Trains on a made-up language in which each word of the source has one sentence; and folders that are none."""

from __future__ import annotations

import hashlib
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

from reviewgauge.core.errors import BadInput, MissingExtra, UserError
from reviewgauge.models.seq2seq import (
    END,
    FIRST,
    PAD,
    STATE,
    UNKNOWN,
    Network,
    Settings,
    Training,
    Vocabulary,
    Writer,
    chosen_device,
    load_torch,
    pieces,
    read_training,
    split,
    train,
)


@pytest.mark.parametrize(
    "text", ["Why not `getValue(x_1)`?", "+    return self.HTTPServer\n-x", "día, 日本語: naïve", "", "a\n\nb"]
)
def test_pieces_join_to_the_text_but_for_runs_of_blanks(text: str) -> None:
    joined = "".join(pieces(text))
    assert joined.split() == text.split()
    assert joined.replace(" ", "") == text.replace(" ", "")


def test_identifiers_are_cut_at_capitals_and_underscores() -> None:
    assert pieces(" getValue(max_size)") == [" get", "Value", "(", "max", "_", "size", ")"]


def test_the_commonest_pieces_are_known_and_rare_ones_are_not() -> None:
    words = Vocabulary.learn(["the cat", "the dog", "the dog once"], 3)
    assert words.pieces == ("the", " dog")
    assert len(words) == FIRST + 2
    assert words.encode("the cat dog", 10) == [FIRST, UNKNOWN, FIRST + 1]
    assert words.encode("the dog dog", 2) == [FIRST, FIRST + 1]
    assert words.decode([FIRST, UNKNOWN, FIRST + 1, 0, 2]) == "the dog"
    assert Vocabulary.learn(["b a", "a b", "a b"], 1).pieces == (" b",)
    assert Vocabulary(words.pieces).encode("the dog", 9) == words.encode("the dog", 9)


STORED = Settings(words=100, hidden=8, dropout=0, source=10, target=10, batch=4, rate=0.01, epochs=3, seed=0)
TRAINING = Training(settings=STORED, examples="0", pairs=20, pieces=("a",), losses=(1.0,), best="a" * 64)
TEXT = TRAINING.model_dump_json()


def test_no_training() -> None:
    assert read_training(Path("nowhere")) is None


@pytest.mark.parametrize(("text", "problem"), [
    ("{", "not valid JSON"),
    (TEXT.replace('"format":3', '"format":1'), "format"),
    (TEXT.replace('"hidden":8', '"hidden":99999999'), "hidden"),
    (TEXT.replace("a" * 64, "../../elsewhere"), "best"),
    (TEXT.replace("[1.0]", "[]"), "losses"),
], ids=["no JSON", "another version", "huge", "another folder", "no epoch"])  # fmt: skip
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


@pytest.fixture(scope="module")
def torch() -> Any:
    torch = pytest.importorskip("torch", reason="the extra reviewgauge[train] is not installed")
    torch.set_num_threads(1)
    return torch


SAYINGS = {
    "socket": "Close the socket afterwards.",
    "cursor": "Bind the values, do not join them.",
    "lock": "Take the lock before you read.",
}
PAIRS = [(f"+    self.{word}.call{n}(x)", text) for n in range(20) for word, text in SAYINGS.items()]
SMALL: dict[str, Any] = {
    "words": 100, "hidden": 24, "dropout": 0.1, "source": 20, "target": 20, "batch": 4, "rate": 0.05, "epochs": 8,
    "seed": 1,
}  # fmt: skip
SETTINGS = Settings(**SMALL)


@pytest.fixture(scope="module")
def folder(torch: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("seq2seq") / "made"
    train(PAIRS, SETTINGS, folder, "cpu")
    return folder


def test_the_loss_falls_and_the_network_writes_what_it_learnt(folder: Path) -> None:
    state = read_training(folder)
    assert state is not None
    assert min(state.losses) < 0.2 * state.losses[0]
    writer = Writer(folder, state, "cpu")
    for word, text in SAYINGS.items():
        written, likely = writer.write(f"+    self.{word}.call99(y)")
        assert written == text
        assert -0.5 < likely < 0
    assert isinstance(writer.write("")[0], str)
    assert sorted(file.name for file in folder.iterdir()) == sorted([f"{state.best}.pt", STATE])


class Stopped(Exception):
    pass


def test_what_is_trained_is_not_trained_again(folder: Path) -> None:
    def never(done: int, total: int, what: str) -> None:
        raise Stopped

    assert train(PAIRS, SETTINGS, folder, "cpu", never) == read_training(folder)


def test_another_training_is_not_overwritten(folder: Path) -> None:
    with pytest.raises(UserError, match="other examples"):
        train(PAIRS[1:], SETTINGS, folder, "cpu")
    with pytest.raises(UserError, match="other parameters"):
        train(PAIRS, Settings(**{**SMALL, "hidden": 23}), folder, "cpu")


def test_too_little_to_learn_from(torch: Any, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="3 examples with a comment are too few"):
        train(PAIRS[:3], SETTINGS, tmp_path / "few", "cpu")
    with pytest.raises(UserError, match="the same code"):
        train([("x", str(n)) for n in range(30)], SETTINGS, tmp_path / "one", "cpu")


def test_pairs_of_one_source_are_held_out_together() -> None:
    learnt, aside = split([*PAIRS, *PAIRS])
    assert len(aside) == 12
    assert {source for source, _ in learnt}.isdisjoint(source for source, _ in aside)
    assert (learnt, aside) == split([*PAIRS, *PAIRS])


def test_padding_changes_nothing(torch: Any) -> None:
    torch.manual_seed(0)
    network = Network(30, STORED)
    network.layers.eval()
    sources = torch.tensor([[5, 6, 7, 8, 9], [10, 11, PAD, PAD, PAD]])
    targets = torch.tensor([[20, END, PAD], [21, 22, END]])
    together = network.loss(sources, targets).item()
    alone = network.loss(sources[:1], targets[:1, :2]).item() + network.loss(sources[1:, :2], targets[1:]).item()
    assert together == pytest.approx(alone, rel=1e-5)


def test_the_attention_is_bahdanaus(torch: Any) -> None:
    """One step by the formulas of the paper: e = v tanh(W s + U h), a = softmax(e), c = sum of a h."""
    torch.manual_seed(0)
    network = Network(30, STORED)
    network.layers.eval()
    read = network.read(torch.tensor([[5, 6, 7]]))
    before = torch.tensor([9])
    layers, memory = network.layers, read.memory
    energies = [layers.energy(torch.tanh(layers.query(memory[0]) + layers.key(read.states[:, at]))) for at in range(3)]
    weights = torch.softmax(torch.cat(energies, dim=1), dim=1)
    context = sum(weights[:, at : at + 1] * read.states[:, at] for at in range(3))
    wanted = network.layers.decoder(torch.cat([network.layers.embedding(before), context], dim=1), read.memory)
    for mine, theirs in zip(network.step(before, read, read.memory), wanted, strict=True):
        assert torch.allclose(mine, theirs, atol=1e-6)


def test_devices(torch: Any) -> None:
    assert chosen_device("cpu") == "cpu"
    assert chosen_device("auto") == ("cuda" if torch.cuda.is_available() else "cpu")
    with pytest.raises(UserError, match="torch has no device 'abacus' here"):
        chosen_device("abacus")


def test_weights_of_another_network_are_refused(torch: Any, tmp_path: Path) -> None:
    other = train(PAIRS, Settings(**{**SMALL, "hidden": 4, "epochs": 1}), tmp_path, "cpu")
    with pytest.raises(BadInput, match="holds no weights of this network"):
        Writer(tmp_path, other.model_copy(update={"settings": SETTINGS}), "cpu")
