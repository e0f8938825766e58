"""Trains on a made-up language in which each word of the source has one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.models.seq2seq.training import STATE, Settings, Writer, chosen_device, read_training, split, train
from reviewgauge.models.seq2seq.vocabulary import END, PAD

torch = pytest.importorskip("torch", reason="the extra reviewgauge[train] is not installed")
torch.set_num_threads(1)

SAYINGS = {
    "socket": "Close the socket afterwards.",
    "cursor": "Bind the values, do not join them.",
    "lock": "Take the lock before you read.",
}
PAIRS = [(f"+    self.{word}.call{n}(x)", text) for n in range(20) for word, text in SAYINGS.items()]
SMALL: dict[str, Any] = {
    "words": 100,
    "hidden": 24,
    "dropout": 0.1,
    "source": 20,
    "target": 20,
    "batch": 4,
    "rate": 0.05,
    "epochs": 8,
    "patience": 3,
    "seed": 1,
}
SETTINGS = Settings(**SMALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("seq2seq") / "made"
    train(PAIRS, SETTINGS, folder, "cpu")
    return folder


def test_the_loss_falls_and_the_network_writes_what_it_learnt(folder: Path) -> None:
    state = read_training(folder)
    assert state is not None
    first, best = state.history[0], state.history[state.best_epoch - 1]
    assert best.validation < 0.2 * first.validation
    assert best.train < 0.2 * first.train
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


def test_too_little_to_learn_from(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="3 examples with a comment are too few"):
        train(PAIRS[:3], SETTINGS, tmp_path / "few", "cpu")
    with pytest.raises(UserError, match="the same code"):
        train([("x", str(n)) for n in range(30)], SETTINGS, tmp_path / "one", "cpu")


def test_pairs_of_one_source_are_held_out_together() -> None:
    learnt, aside = split([*PAIRS, *PAIRS])
    assert len(aside) == 12
    assert {source for source, _ in learnt}.isdisjoint(source for source, _ in aside)
    assert (learnt, aside) == split([*PAIRS, *PAIRS])


def test_padding_changes_nothing() -> None:
    from reviewgauge.models.seq2seq.network import Network

    torch.manual_seed(0)
    network = Network(30, 8, 0.0).eval()
    sources = torch.tensor([[5, 6, 7, 8, 9], [10, 11, PAD, PAD, PAD]])
    targets = torch.tensor([[20, END, PAD], [21, 22, END]])
    together = network(sources, targets).item()
    alone = network(sources[:1], targets[:1, :2]).item() + network(sources[1:, :2], targets[1:]).item()
    assert together == pytest.approx(alone, rel=1e-5)


def test_the_attention_is_bahdanaus() -> None:
    """One step by the formulas of the paper: e = v tanh(W s + U h), a = softmax(e), c = sum of a h."""
    from reviewgauge.models.seq2seq.network import Network

    torch.manual_seed(0)
    network = Network(30, 8, 0.0).eval()
    read = network.read(torch.tensor([[5, 6, 7]]))
    before = torch.tensor([9])
    energies = [
        network.energy(torch.tanh(network.query(read.memory[0]) + network.key(read.states[:, at]))) for at in range(3)
    ]
    weights = torch.softmax(torch.cat(energies, dim=1), dim=1)
    context = sum(weights[:, at : at + 1] * read.states[:, at] for at in range(3))
    wanted = network.decoder(torch.cat([network.embedding(before), context], dim=1), read.memory)
    for mine, theirs in zip(network.step(before, read, read.memory), wanted, strict=True):
        assert torch.allclose(mine, theirs, atol=1e-6)


def test_devices() -> None:
    assert chosen_device("cpu") == "cpu"
    assert chosen_device("auto") == ("cuda" if torch.cuda.is_available() else "cpu")
    with pytest.raises(UserError, match="torch has no device 'abacus' here"):
        chosen_device("abacus")


def test_weights_of_another_network_are_refused(tmp_path: Path) -> None:
    other = train(PAIRS, Settings(**{**SMALL, "hidden": 4, "epochs": 1}), tmp_path, "cpu")
    with pytest.raises(BadInput, match="holds no weights of this network"):
        Writer(tmp_path, other.model_copy(update={"settings": SETTINGS}), "cpu")
