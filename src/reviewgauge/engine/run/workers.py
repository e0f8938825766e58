"""How many work, and where: a number of threads, or the word for a Ray cluster."""

from __future__ import annotations

from reviewgauge.core.errors import UserError
from reviewgauge.core.specs import Plugin
from reviewgauge.engine.run.executors import Executor, Serial, Threads
from reviewgauge.engine.run.ray_cluster import RayCluster

Workers = int | str | None
RAY = "ray"


def checked_workers(workers: Workers) -> Workers:
    """A number from 1 on, or `ray`, or `ray:ADDRESS`. Raises UserError."""
    word = str(workers).strip()
    if workers is None or word == RAY or (word.startswith(f"{RAY}:") and word != f"{RAY}:"):
        return workers if workers is None else word
    if not word.isdecimal() or not int(word):
        raise UserError(f"workers={word} is neither a number of threads nor ray", remedy="ray, or ray:HOST:PORT")
    return int(word)


def check_workers(workers: Workers, *, connect: bool = True) -> None:
    """Raise UserError, before anything is paid for, where they are no workers or their cluster cannot be reached."""
    word = checked_workers(workers)
    if isinstance(word, str) and connect:
        _cluster(word).connect()


def _cluster(word: str) -> RayCluster:
    return RayCluster(word.removeprefix(RAY).removeprefix(":"))


def executor_for(plugin: Plugin, workers: Workers, in_flight: int, otherwise: int) -> Executor:
    """`workers` threads; by default as many as calls may be in flight where `plugin` asks a model, else `otherwise`.

    On a cluster, what asks a model stays in this process, whose limits and budget hold for all calls.
    """
    workers = checked_workers(workers)
    if isinstance(workers, str):
        if not plugin.models:
            return _cluster(workers)
        workers = None
    count = workers or (in_flight if plugin.models else otherwise)
    return Threads(count) if count > 1 or plugin.models else Serial()
