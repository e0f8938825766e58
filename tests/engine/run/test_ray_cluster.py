"""The same work on a Ray cluster as in this process: the same lines and the same tables, though a node dies."""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine_small import Echo, make_cases, timeless
from reviewgauge.analysis.compare.leaderboard import leaderboard
from reviewgauge.core.errors import BadInput, MissingExtra, UserError
from reviewgauge.core.results import Failure, FailureKind
from reviewgauge.engine.review import review
from reviewgauge.engine.run.executors import Executor, Interruption, Serial, Threads
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.scored_run import read_scored_runs
from reviewgauge.engine.run.workers import RayCluster, checked_workers, executor_for
from reviewgauge.engine.score import score
from reviewgauge.metrics.bleu import Bleu
from reviewgauge.metrics.hits import Hits
from reviewgauge.reviewers.parrot import Parrot
from reviewgauge.reviewers.prompt import Prompt

TOYS = Path(__file__).parents[2] / "toys"
CASES = 240


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A cluster of two nodes with a processor each, all on this machine; workers find the toys."""
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'reviewgauge[ray]'")
    utils = pytest.importorskip("ray.cluster_utils")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["ECHO_DELAY"] = "0.01"
    os.environ["PYTHONPATH"] = os.pathsep.join([str(TOYS), os.environ.get("PYTHONPATH", "")])
    nodes = utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        nodes.spare = nodes.add_node(num_cpus=1)
        nodes.wait_for_nodes()
        ray.init(address=nodes.address, log_to_driver=False)
        yield nodes
    finally:
        ray.shutdown()
        nodes.shutdown()


def fill(folder: Path, executor: Executor, progress: Any = None) -> RunFolder:
    run = RunFolder.create(folder, dataset="small", dataset_path="", cases=make_cases(CASES), seed=1)
    for reviewer in (Echo(), Parrot()):
        review(run, reviewer, executor=executor, progress=progress)
    for metric in (Hits(), Bleu()):
        score(run, metric, executor=executor, progress=progress)
    run.close()
    return run


def results(run: RunFolder) -> tuple[list[bytes], list[bytes], list[str]]:
    """The lines of reviews, without their seconds, those of scores, and the tables."""
    reviews = sorted(timeless(outcome).to_line() for outcome in run.outcomes())
    scores = sorted(score.model_copy(update={"of": ""}).to_line() for score in run.scores())
    boards = [leaderboard(scored, resamples=50).model_dump_json() for scored in read_scored_runs([run.path])]
    return reviews, scores, boards


@pytest.mark.processes
@pytest.mark.slow
def test_a_cluster_of_which_a_node_dies_gives_what_one_thread_and_two_give(cluster: Any, tmp_path: Path) -> None:
    one, two = fill(tmp_path / "one", Serial()), fill(tmp_path / "two", Threads(2))
    killed: list[int] = []

    def kill(done: int, total: int, what: str) -> None:
        if not killed and 40 <= done < total:
            killed.append(done)
            cluster.remove_node(cluster.spare, allow_graceful=False)

    many = fill(tmp_path / "many", RayCluster(), kill)
    assert killed, "the node died in the middle"
    cluster.spare = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    assert results(one) == results(two) == results(many)
    names = [sorted(file.name for file in run.path.iterdir()) for run in (one, many)]
    assert names[0] == names[1]
    assert len(many.outcomes()) == 2 * CASES


@pytest.mark.processes
@pytest.mark.slow
def test_what_an_item_ends_in_comes_back(cluster: Any) -> None:
    def work(item: int) -> int:
        if item == 3:
            raise BadInput("file.json", "is not one", record=7, remedy="mend it")
        if item == 5:
            raise TimeoutError("too slow")
        return item * item

    here = dict(Serial().map(work, range(40)))
    assert dict(RayCluster().map(work, range(40))) == here
    assert isinstance(here[5], Failure)


@pytest.mark.processes
@pytest.mark.slow
def test_an_item_that_kills_its_worker_is_a_failure_and_costs_no_other(cluster: Any) -> None:
    def work(item: int) -> int:
        if item == 17:
            os._exit(9)
        return item

    found = dict(RayCluster().map(work, range(30)))
    broken = found.pop(17)
    assert isinstance(broken, Failure) and broken.kind is FailureKind.CRASH
    assert broken.message.startswith("the worker died 3 times")
    assert found == {n: n for n in range(30) if n != 17}


@pytest.mark.processes
@pytest.mark.slow
def test_items_are_read_as_others_come_back_and_none_after_a_stop(cluster: Any) -> None:
    stop, read = Interruption(), []

    class Items(list[int]):
        def __getitem__(self, at: Any) -> Any:
            read.append(at)
            return super().__getitem__(at)

    def work(item: int) -> int:
        time.sleep(0.02)
        return item

    done = []
    for at, _ in RayCluster().map(work, Items(range(10_000)), stop):
        done.append(at)
        if len(done) == 20:
            assert len(read) <= 600, "a few tasks are in flight, not all"
            stop.ask()
    assert sorted(done) == sorted(read), "what is in flight is finished, and nothing else is begun"


@pytest.mark.processes
@pytest.mark.slow
def test_what_cannot_be_sent_or_read_there_is_said_in_a_line(cluster: Any) -> None:
    lock = threading.Lock()
    with pytest.raises(UserError, match="cannot be sent to the nodes"):
        list(RayCluster().map(lambda item: lock, range(3)))

    def missing() -> None:
        raise ModuleNotFoundError("No module named 'my_plugins'")

    class Mine:
        def __call__(self, item: int) -> int:
            return item

        def __reduce__(self) -> Any:
            return missing, ()

    with pytest.raises(UserError, match=r"node of the Ray cluster cannot do the work: .*No module named 'my_plugins'"):
        list(RayCluster().map(Mine(), range(3)))


def test_errors_come_through_another_process_whole() -> None:
    for error in (UserError("a", remedy="b"), BadInput("f", "p", record=2, field="x"), MissingExtra("Ray", "ray")):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.remedy) == (type(error), str(error), error.remedy)


def test_a_word_chooses_the_cluster_and_what_asks_a_model_stays_here() -> None:
    assert executor_for(Parrot(), "ray", 16, 2) == RayCluster()
    assert executor_for(Parrot(), "ray:head:6379", 16, 2) == RayCluster("head:6379")
    assert executor_for(Prompt("fake"), "ray", 16, 2) == Threads(16)
    assert executor_for(Parrot(), "3", 16, 2) == Threads(3)
    assert executor_for(Parrot(), None, 16, 1) == Serial()
    assert [checked_workers(word) for word in (None, 4, "4", "ray")] == [None, 4, 4, "ray"]
    for word in ("0", "-1", "2.5", "rays", "ray:", "", 0):
        with pytest.raises(UserError, match="neither a number of threads nor ray"):
            checked_workers(word)


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"reviewgauge\[ray\]"):
        list(RayCluster().map(str, [1]))
