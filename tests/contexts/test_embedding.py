"""`embedding` on a planted repository: with the real small model, and with one of random weights."""

from __future__ import annotations

from pathlib import Path

import pytest

import tiny_models
from git_project import make_change
from reviewgauge.contexts import embedding
from reviewgauge.core.errors import NeedsCode, UserError
from reviewgauge.core.protocols import Context
from reviewgauge.core.records import Change
from reviewgauge.core.specs import load
from reviewgauge.models.embeddings.load import embedder
from reviewgauge.repo.processes import RecentlyUsed

CHECK = "def verify_password(user, secret):\n    return hash_of(secret) == user.stored_hash\n"
DRAW = "def draw_circle(canvas, radius):\n    canvas.arc(0, 0, radius)\n"
LOGIN = "def login(name, word):\n    return {}\n"


def planted(folder: Path) -> Change:
    before = {"auth/check.py": CHECK, "draw.py": DRAW, "login.py": LOGIN.format("True")}
    return make_change(folder, before, {"login.py": LOGIN.format("authenticate(name, word)  # is the password right?")})


def said(change: Change, spec: str = "embedding") -> list[str]:
    return [one.name for one in load(Context, spec).excerpts(change, change)]


def test_what_means_the_same_is_near_without_a_shared_word(tmp_path: Path) -> None:
    change = planted(tmp_path / "r")
    assert load(Context, "embedding").prepare([change]) == ()
    assert said(change, "embedding(k=1)") == ["auth/check.py, lines 1 to 2"]
    assert "login.py" not in " ".join(said(change, "embedding(k=9)"))


def test_another_model_and_each_vector_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny_models.write_model(tmp_path / "tiny")
    spec = f"embedding(model={str(tmp_path / 'tiny')!r})"
    change = planted(tmp_path / "r")
    first = said(change, spec)
    assert load(Context, spec).pins() == {str(tmp_path / "tiny"): embedder(str(tmp_path / "tiny")).fingerprint}
    monkeypatch.setattr(embedding, "_VECTORS", RecentlyUsed(4))  # as in another process
    monkeypatch.setattr(type(embedder(str(tmp_path / "tiny"))), "_encode", None)  # nothing is computed again
    assert said(change, spec) == first


def test_bad_input(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="k=0 must be 1 or more"):
        load(Context, "embedding(k=0)")
    with pytest.raises(UserError, match="no embedding model is called 'no/such'"):
        load(Context, "embedding(model='no/such')").prepare([])
    with pytest.raises(NeedsCode, match="the context embedding needs the code"):
        said(Change(repo="r"))
    change = make_change(tmp_path / "r", {"a.txt": "one\n"}, {"a.txt": "two\n"})
    assert said(change) == []
