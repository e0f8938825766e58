"""A data set of the hub by its name, through the real client library; `tests/exports` has the folder."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hub_server import COMMIT, TOKEN, Hub, hub_environment, serving
from reviewgauge.api.export import export
from reviewgauge.api.review import review
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Dataset
from reviewgauge.core.records import Comment
from reviewgauge.core.specs import load_from
from reviewgauge.core.trust import FromFile
from reviewgauge.engine.run.folder import RunFolder

pytest.importorskip("pyarrow", reason="pip install 'reviewgauge[hub]'")
pytest.importorskip("huggingface_hub", reason="pip install 'reviewgauge[hub]'")
pytestmark = pytest.mark.processes
NAME = "datasets/acme/reviews"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hub") / "own"
    review("sample", "recorded", run=folder, limit=6)
    return folder


@pytest.fixture(scope="module")
def files(own: Path) -> dict[str, bytes]:
    """What an export wrote, and a file beside it that is not ours."""
    out = own.with_name("out")
    export("hugging_face", own, out)
    return {"data/weights.bin": b"", **{str(one.relative_to(out)): one.read_bytes() for one in out.rglob("*.*")}}


def said_in(run: Path) -> list[tuple[Comment, ...]]:
    return [one.review.comments for one in RunFolder.open(run).outcomes() if one.review]


@pytest.fixture
def hub(files: dict[str, bytes]) -> Iterator[Hub]:
    with serving({NAME: files}) as server:
        yield server


def ask(tmp_path: Path, url: str, named: str = "acme/reviews", run: str = "run", **more: str) -> tuple[int, str]:
    """The exit code and the last line of `reviewgauge review`."""
    command = [sys.executable, "-m", "reviewgauge", "review", f"hugging_face(hub={named!r})", "recorded", "-o", run]
    environment = hub_environment(tmp_path / "home", url, **more)
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout + done.stderr).strip().splitlines()[-1]


def test_a_data_set_comes_from_the_hub_by_its_name_and_then_from_its_cache(hub: Hub, own: Path, tmp_path: Path) -> None:
    assert ask(tmp_path, hub.url, "acme/reviews", "a")[0] == 0
    assert sorted(hub.fetched) == ["README.md", "data/cases.parquet", "data/reviews.parquet"]
    hub.fetched.clear()
    assert ask(tmp_path, hub.url, f"acme/reviews@{COMMIT}", "b")[0] == 0 and not hub.fetched
    assert ask(tmp_path, "http://127.0.0.1:9", "acme/reviews", "c", HF_HUB_OFFLINE="1")[0] == 0
    assert all(said_in(tmp_path / name) == said_in(own) for name in "abc")


def test_a_gated_one_takes_a_token(hub: Hub, tmp_path: Path) -> None:
    hub.gated.add(NAME)
    code, said = ask(tmp_path, hub.url)
    assert code == 2 and "gated" in said and "HF_TOKEN" in said, said
    assert ask(tmp_path, hub.url, HF_TOKEN=TOKEN)[0] == 0


@pytest.mark.parametrize(("named", "problem"), [
    ("acme/nothing", "Repository Not Found"),
    ("acme/reviews@v9", "Revision Not Found"),
    ("acme/../etc", "hub:acme/../etc cannot be fetched"),
])  # fmt: skip
def test_what_is_not_there_is_said_in_one_line(named: str, problem: str, hub: Hub, tmp_path: Path) -> None:
    code, said = ask(tmp_path, hub.url, named)
    assert code == 2 and said.startswith("error: ") and problem in said, said
    assert not hub.fetched


def test_without_a_network_the_settings_are_named(tmp_path: Path) -> None:
    code, said = ask(tmp_path, "http://127.0.0.1:9")
    assert code == 2 and "HF_ENDPOINT" in said, said


def test_a_card_that_lies_and_a_data_set_of_another_kind_are_refused(hub: Hub, tmp_path: Path) -> None:
    card = hub.repositories[NAME]["README.md"]
    hub.repositories[NAME] = {
        **hub.repositories[NAME],
        "README.md": card.replace(b'"name": "repo"', b'"name": "owner"'),
    }
    code, said = ask(tmp_path, hub.url)
    assert code == 2 and "README.md" in said and "says other columns than cases.parquet has" in said, said
    hub.repositories["datasets/acme/other"] = {"README.md": b"---\nlicense: mit\n---\n", "data/train.parquet": b"PAR1"}
    code, said = ask(tmp_path, hub.url, "acme/other")
    assert code == 2 and "has no dataset_info" in said, said
    hub.repositories["datasets/acme/bare"] = {"data/train.parquet": b"PAR1"}
    code, said = ask(tmp_path, hub.url, "acme/bare")
    assert code == 2 and "acme/bare has no README.md" in said, said


def test_only_its_user_names_one() -> None:
    with pytest.raises(UserError, match="address on the network"):
        load_from(Dataset, "hugging_face(hub='acme/reviews')", FromFile("theirs.toml"))
    with pytest.raises(UserError, match=r"must be told which.*OWNER/NAME"):
        list(load_from(Dataset, "hugging_face", FromFile("theirs.toml")).cases())
