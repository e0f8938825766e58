from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from reviewgauge.core.errors import MissingExtra, UserError
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.records import Case, Change, ChangedFile, Task
from reviewgauge.core.results import Failed
from reviewgauge.core.specs import load, signature
from reviewgauge.reviewers.lstm import Lstm
from training_cases import SUBJECTS, change, training

SMALL = "lstm(hidden=32, words=200, source=40, target=20, batch=2, rate=0.01, epochs=12, dropout=0.0, device='cpu')"


def cases() -> list[Case]:
    """Each of the four reviewed changes twenty times, a little different."""
    found = []
    for n in range(20):
        for case in training():
            new = change(case.id, f"{case.id}-{n}", extra=f"  # {n}").model_copy(update={"id": None})
            found.append(case.model_copy(update={"id": f"{case.id}-{n}", "change": new}))
    return found


def small(**parameters: object) -> Lstm:
    words = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
    return load(Lstm, SMALL if not words else f"{SMALL[:-1]}, {words})")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch = pytest.importorskip("torch", reason="the extra reviewgauge[train] is not installed")
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("lstm") / "trained"
    small(checkpoint=str(folder)).fit(cases())
    return folder


def test_it_writes_what_was_said_about_such_changes(folder: Path) -> None:
    reviewer = load(Reviewer, f"lstm(checkpoint={str(folder)!r}, device='cpu')")
    for subject in SUBJECTS:
        (comment,) = reviewer.review(change(subject, "new", extra="  # 77")).comments
        assert comment.body == f"Close the {subject} afterwards."
        assert comment.span == change(subject, "new").focus
    (note,) = reviewer.prepare([change("socket", "new")])
    assert note.item.startswith("80 examples; loss on those held out ")


def test_what_it_rests_on_is_pinned_and_the_same_whether_trained_or_loaded(folder: Path) -> None:
    trained = small(checkpoint=str(folder)).fit(cases())
    assert trained.pins() == load(Reviewer, f"lstm(checkpoint={str(folder)!r})").pins()
    assert set(trained.pins()) == {"weights", "training"}
    assert signature(trained) == signature(small(checkpoint=str(folder)))
    assert load(Reviewer, "lstm").pins() == {}


def test_the_cache_keeps_a_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setenv("REVIEWGAUGE_CACHE", str(tmp_path))
    steps: list[str] = []

    def count(done: int, total: int, what: str) -> None:
        steps.append(what)

    quick = Lstm(hidden=4, words=100, epochs=1, device="cpu")
    quick.fit(cases(), count)
    assert steps[0] == "training, epoch 1"
    before = len(steps)
    quick.fit(cases(), count)
    assert len(steps) == before
    replace(quick, seed=1).fit(cases(), count)
    assert len(steps) == 2 * before
    assert len(list((tmp_path / "lstm").iterdir())) == 2
    monkeypatch.setenv("REVIEWGAUGE_CACHE", "off")
    with pytest.raises(UserError, match="the cache is off"):
        quick.fit(cases())


def test_what_it_cannot_do_is_a_failure(folder: Path) -> None:
    reviewer = load(Reviewer, f"lstm(checkpoint={str(folder)!r}, device='cpu')")
    for task in (Task.ASSESS, Task.LOCATE):
        with pytest.raises(Failed, match="only writes comments"):
            reviewer.review(change("socket", "new", task))
    with pytest.raises(Failed, match="no hunk"):
        reviewer.review(Change(id="new", repo="o/r", files=(ChangedFile(path="a.png", binary=True),)))
    assert [drop.item for drop in reviewer.prepare([change("socket", "new", Task.ASSESS)])][1:] == ["1 change"]


def test_one_line_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="has not learnt anything"):
        load(Reviewer, "lstm").prepare([change("socket", "new")])
    with pytest.raises(UserError, match="holds no training"):
        load(Reviewer, f"lstm(checkpoint={str(tmp_path)!r})").prepare([change("socket", "new")])
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"reviewgauge\[train\]"):
        small(checkpoint=str(tmp_path / "new")).fit(cases())


@pytest.mark.parametrize("bad", ["hidden=0", "dropout=1.0", "rate=0.0", "epochs=0", "most=0", "words=1000000000"])
def test_bad_parameters(bad: str) -> None:
    with pytest.raises(UserError, match=bad.partition("=")[0]):
        load(Reviewer, f"lstm({bad})")
