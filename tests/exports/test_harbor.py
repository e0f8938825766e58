"""A benchmark becomes tasks of Harbor: its own validation takes them, the oracle gets 1, no answer is where agents are.

There is no container here, and no image is built. The scripts run as they are where bubblewrap can put /logs, /tests
and /solution in their places, and everywhere with those paths replaced. Where harbor is installed, a job of its own
runs, its oracle and its verifier included, in `held_environment`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

from reviewgauge.api.export import export
from reviewgauge.api.review import review
from reviewgauge.api.score import score
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case, Change
from reviewgauge.datasets.jsonl import Jsonl
from reviewgauge.datasets.sample import Sample
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.exports.harbor import Harbor
from reviewgauge.exports.writing.export import Material
from reviewgauge.exports.writing.harbor import verify
from reviewgauge.exports.writing.harbor.metric import measures
from reviewgauge.repo.guarded.sandbox import can_hold
from reviewgauge.reviewers.reading.harbor_tasks import digest_of, task_names

# The keys of Harbor 0.25 that are written: it takes unknown ones in silence.
KEYS = {
    "": "schema_version artifacts task metadata environment agent verifier",
    "task": "name",
    "metadata": "case_id reviewgauge",
    "environment": "network_mode workdir cpus memory_mb",
    "agent": "timeout_sec network_mode allowed_hosts",
    "verifier": "environment_mode timeout_sec environment",
    "verifier.environment": "network_mode cpus memory_mb",
}
CASE = "20-monthly-statement"
HARBOR = os.environ.get("REVIEWGAUGE_HARBOR", "")  # a Python 3.12 with harbor 0.25 in it
CHECK = """
import sys, warnings
from pathlib import Path
from harbor.models.dataset.manifest import DatasetManifest
from harbor.models.task.task import Task
from harbor.publisher.packager import Packager
top = Path(sys.argv[1])
dataset = DatasetManifest.from_toml_file(top / "dataset.toml")
for ref in dataset.tasks:
    assert Task.is_valid_dir(top / ref.short_name), ref
    assert Task(top / ref.short_name).name == ref.name
    assert "sha256:" + Packager.compute_content_hash(top / ref.short_name)[0] == ref.digest, ref
assert dataset.files[0].digest == "sha256:" + Packager.compute_file_hash(top / "metric.py")
print(len(dataset.tasks))
"""


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("harbor") / "tasks"
    assert export("harbor", "sample", out).counts == {"tasks": 24, "with code": 24, "with the diff alone": 0}
    return out


def run_task(task: Path, top: Path, *, held: bool, written: str | None = None) -> dict[str, float] | None:
    """Run the oracle (or take `written`), then the verifier, which gets nothing but the artefact; its rewards."""
    logs = top / "logs"
    for part in ("artifacts", "verifier"):
        (logs / part).mkdir(parents=True)
    places = {"/logs": logs, "/tests": task / "tests", "/solution": task / "solution"}
    if written is None:
        run_script("/solution/solve.sh", {name: places[name] for name in ("/logs", "/solution")}, held=held)
    else:
        (logs / "artifacts" / "review.json").write_text(written)
    run_script("/tests/test.sh", {name: places[name] for name in ("/logs", "/tests")}, held=held)
    reward = logs / "verifier" / "reward.json"
    return json.loads(reward.read_text()) if reward.exists() else None


def run_script(script: str, places: dict[str, Path], *, held: bool) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    if held:
        names = ("logs", "tests", "solution", "proc", "dev")
        kept = sorted(str(path) for path in Path("/").iterdir() if path.name not in names)
        argv = ["bwrap", "--tmpfs", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-net"]
        for name in kept:
            argv += ["--bind", name, name]
        for name, place in places.items():
            argv += ["--bind", str(place), name]
        argv += ["sh", script]
    else:
        top = next(place for name, place in places.items() if script.startswith(name))
        text = Path(top, script.rpartition("/")[2]).read_text()
        for name, place in places.items():
            text = text.replace(f"{name}/", f"{place}/")
        argv = ["sh", "-c", text]
    subprocess.run(argv, env=environment, check=False, capture_output=True, timeout=120)


UNREADABLE = "I found nothing."
IF_HELD = pytest.mark.skipif(not can_hold(), reason="bubblewrap cannot hold here")


@pytest.mark.parametrize(("case", "written", "reward", "held"), [
    (CASE, None, 1.0, False),
    ("01-locker-listing", None, 1.0, False),
    ("02-pause-when-hidden", None, 1.0, False),
    (CASE, "[]", 0.0, False), (CASE, UNREADABLE, None, False),
    (CASE, '[{"path": "a.py", "line": "twelve", "body": "x"}]', None, False),
    pytest.param(CASE, None, 1.0, True, marks=IF_HELD),
    pytest.param(CASE, UNREADABLE, None, True, marks=IF_HELD),
])  # fmt: skip
def test_the_verifier_rewards_the_oracle_and_an_unreadable_review_not_at_all(
    tasks: Path, tmp_path: Path, held: bool, case: str, written: str | None, reward: float | None
) -> None:
    found = run_task(tasks / case, tmp_path, held=held, written=written)
    assert (found and found["reward"]) == reward


def test_only_our_keys_are_written_and_the_answers_lie_where_agents_are_not(tasks: Path) -> None:
    for folder in sorted(path for path in tasks.iterdir() if path.is_dir()):
        task = tomllib.loads((folder / "task.toml").read_text())
        found = {"": task, **{name: task[name] for name in KEYS if name in task}}
        found["verifier.environment"] = task["verifier"]["environment"]
        assert {name: " ".join(values) for name, values in found.items()} == KEYS
        assert task["verifier"]["environment"]["network_mode"] == "no-network"
        case = Case.model_validate_json((folder / "tests" / "cases.jsonl").read_bytes())
        assert case.change.git is None
        shown = (folder / "instruction.md").read_text()
        with tarfile.open(folder / "environment" / "workspace.tar") as tar:
            files = [tar.extractfile(entry) for entry in tar if entry.isfile()]
            shown += "".join(file.read().decode("utf-8", "replace") for file in files if file is not None)
        known = [*case.references, *case.neutral, *case.rejected]
        assert not [one.body for one in known if one.body in shown]
        assert case.change.head is not None
        assert case.change.head not in shown
        assert case.change.title in shown


def test_the_repository_holds_two_commits_and_nothing_later(tasks: Path, tmp_path: Path) -> None:
    with tarfile.open(tasks / CASE / "environment" / "workspace.tar") as tar:
        tar.extractall(tmp_path, filter="data")
    git = ["git", "-c", "safe.directory=*", "-C", str(tmp_path / "repo")]
    log = subprocess.run([*git, "log", "--all", "--format=%s"], check=True, capture_output=True, text=True).stdout
    assert log.split() == ["head", "base"]
    diff = subprocess.run([*git, "diff", "--name-only", "HEAD~1"], check=True, capture_output=True, text=True).stdout
    assert diff.split()
    assert not subprocess.run([*git, "status", "--short"], check=True, capture_output=True, text=True).stdout


def test_the_same_export_has_the_same_digests_which_tell_an_edit(tasks: Path, tmp_path: Path) -> None:
    export("harbor", "sample", tmp_path / "again")
    listed = tomllib.loads((tasks / "dataset.toml").read_text())
    assert tomllib.loads((tmp_path / "again" / "dataset.toml").read_text()) == listed
    digests = {task["name"].partition("/")[2]: task["digest"] for task in listed["tasks"]}
    assert digest_of(tasks / CASE) == digests[CASE]
    (tmp_path / "again" / CASE / "instruction.md").write_text("Find what the reviewer found.")
    assert digest_of(tmp_path / "again" / CASE) != digests[CASE]


@pytest.mark.skipif(not HARBOR, reason="REVIEWGAUGE_HARBOR names no Python with harbor 0.25")
def test_harbor_itself_takes_the_folder(tasks: Path) -> None:
    done = subprocess.run([HARBOR, "-c", CHECK, str(tasks)], check=False, capture_output=True, text=True)
    assert done.stdout.strip() == "24", done.stderr


@pytest.mark.skipif(not HARBOR, reason="REVIEWGAUGE_HARBOR names no Python with harbor 0.25")
@pytest.mark.skipif(not can_hold(), reason="bubblewrap cannot hold here")
def test_a_job_of_harbor_itself_gives_the_oracle_1_and_comes_back(tasks: Path, tmp_path: Path) -> None:
    for case in (CASE, "02-pause-when-hidden"):
        shutil.copytree(tasks / case, tmp_path / "few" / case)
    (tmp_path / "top").mkdir()
    environment = {
        **os.environ, "HELD_TOP": str(tmp_path / "top"), "HELD_BIN": str(Path(sys.executable).parent),
        "PYTHONPATH": str(Path(__file__).parent), "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }  # fmt: skip
    options = ["-a", "oracle", "-k", "2", "-n", "1", "-q", "--env", "held_environment:Held", "--job-name", "one"]
    argv = [str(Path(HARBOR).parent / "harbor"), "run", "-p", "few", *options]
    subprocess.run(argv, cwd=tmp_path, env=environment, check=True, capture_output=True, timeout=300)
    spec = f"harbor(path={str(tmp_path / 'jobs' / 'one')!r}, tasks={str(tasks)!r})"
    done = review("sample", spec, run=tmp_path / "run", attempts=2)
    run = RunFolder.open(tmp_path / "run")
    score(tmp_path / "run", "hits")
    parts = [one.parts for one in run.scores() if one.parts is not None]
    assert [part["hit"] == part["references"] for part in parts] == [True] * 4
    assert not [drop for drop in done.totals[0].drops if "__" in drop.item]  # of one trial: nothing was edited


def test_a_case_without_code_shows_its_diff_and_one_that_cannot_be_measured_is_left_out(tmp_path: Path) -> None:
    case = next(case for case in Sample().cases() if case.id == CASE)
    bare = case.model_copy(update={"change": case.change.model_copy(update={"git": None})})
    unknown = bare.model_copy(update={"id": "unknown", "references": (), "verdict": None})
    unread = bare.model_copy(update={"id": "unread", "change": Change(repo="a/b")})
    gone = case.model_copy(
        update={"id": "gone", "change": case.change.model_copy(update={"git": str(tmp_path / "no")})}
    )
    written = Harbor().write(Material("mine", None, [bare, unknown, unread, gone]), tmp_path / "out")
    assert written.counts == {"tasks": 1, "with code": 0, "with the diff alone": 1}
    assert [(drop.item, drop.reason) for drop in written.left_out] == [
        ("unknown", "no references, and not known to be clean"),
        ("unread", "there is neither a diff nor code to review"),
        ("gone", "its code cannot be read"),
    ]
    with pytest.raises(UserError, match="no case can be a task: no references"):
        Harbor().write(Material("mine", None, [unknown]), tmp_path / "none")
    assert not (tmp_path / "none").exists()
    with tarfile.open(tmp_path / "out" / CASE / "environment" / "workspace.tar") as tar:
        assert tar.getnames() == ["change.diff"]
    assert run_task(tmp_path / "out" / CASE, tmp_path / "run", held=False) is not None


def test_no_row_goes_out_whose_licence_forbids_it(tmp_path: Path) -> None:
    cases = list(Sample().cases())[:1]
    closed = Sample().card.model_copy(update={"licence": "CC-BY-NC-4.0"})
    with pytest.raises(UserError, match="does not let everybody pass its rows on: CC-BY-NC"):
        Harbor().write(Material("closed", closed, cases), tmp_path / "closed")
    assert not (tmp_path / "closed").exists()
    Harbor().write(Material("mine", Jsonl().card, cases), tmp_path / "mine")


@pytest.mark.parametrize(("given", "said"), [
    ({"image": "a\nRUN rm"}, "not the name of an image"),
    ({"base": ""}, "not the name of an image"),
    ({"hosts": ("https://a.b/c",)}, "not the name of a host"),
    ({"seconds": 0}, "must be positive"),
])  # fmt: skip
def test_a_wrong_parameter_is_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Harbor(**given)  # type: ignore[arg-type]


def test_each_task_has_a_name_of_its_own() -> None:
    assert list(task_names(["a/b#1", "a/b-1", "A/B#1", "..", "x..y"])) == ["a-b-1", "a-b-1-2", "A-B-1-3", "case", "x-y"]


GOOD = {"right": 1, "said": 2, "hit": 1, "references": 1, "clean": 0, "clean_quiet": 0}


@pytest.mark.parametrize(("rewards", "found"), [
    ([GOOD], {"trials": 1, "measured": 1, "missing": 0, "precision": 0.5, "recall": 1.0, "f1": 2 / 3}),
    ([GOOD, None], {"trials": 2, "measured": 1, "missing": 1}),
    ([GOOD, {**GOOD, "hit": float("nan")}], {"trials": 2, "measured": 1, "missing": 1}),
    ([{"reward": 1.0}], {"trials": 1, "measured": 0, "missing": 1}),
    ([], {"trials": 0, "measured": 0, "missing": 0}),
])  # fmt: skip
def test_the_metric_withholds_what_is_not_whole(rewards: list[object], found: dict[str, float]) -> None:
    assert measures(rewards) == pytest.approx(found)


@pytest.mark.parametrize("runner", ["python", "uv"])
def test_the_metric_runs_as_harbor_runs_it(tasks: Path, tmp_path: Path, runner: str) -> None:
    if runner == "uv" and not shutil.which("uv"):
        pytest.skip("uv is not installed")
    (tmp_path / "rewards.jsonl").write_text(json.dumps(GOOD) + "\nnull\n")
    argv = [sys.executable] if runner == "python" else ["uv", "run", "--offline", "--python", sys.executable]
    paths = ["-i", str(tmp_path / "rewards.jsonl"), "-o", str(tmp_path / "metric.json")]
    subprocess.run([*argv, str(tasks / "metric.py"), *paths], check=True, capture_output=True)
    assert json.loads((tmp_path / "metric.json").read_text()) == {"trials": 2, "measured": 1, "missing": 1}


def test_every_oracle_gets_1(tasks: Path, tmp_path: Path) -> None:
    rewards = []
    for folder in sorted(path for path in tasks.iterdir() if path.is_dir()):
        given = (folder / "tests" / "cases.jsonl", folder / "solution" / "review.json", tmp_path / folder.name)
        assert verify.main(*map(str, given)) == ""
        rewards.append(json.loads((tmp_path / folder.name).read_text()))
    assert {reward["reward"] for reward in rewards} == {1.0}
    assert measures(rewards)["f1"] == measures(rewards)["clean_left_alone"] == 1.0
