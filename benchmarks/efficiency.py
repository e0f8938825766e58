"""How well two workers share work that computes: the time of one over the time of two, on this machine.

    python benchmarks/efficiency.py [--cases 4000] [--metric chrf] [--ray]

The same run is scored by one process and by a Ray cluster of one and of two processors on this machine (--ray needs
the extra). Efficiency is (seconds on one / seconds on two) / 2: 1 would be perfect. The start of the cluster is not
counted, the reading and writing of the run is. Close other programs first: on a busy machine the figure says nothing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from pathlib import Path

from memory import make_benchmark

import reviewgauge
from reviewgauge.core.protocols import Metric
from reviewgauge.core.specs import load
from reviewgauge.engine.run.executors import Executor, Serial
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.ray_cluster import RayCluster
from reviewgauge.engine.score import score


def seconds(run: Path, metric: str, executor: Executor) -> float:
    """How long scoring a copy of a run takes."""
    copy = run.with_name("copy")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(run, copy)
    with RunFolder.open(copy, write=True) as folder:
        folder.outcomes()
        began = time.perf_counter()
        score(folder, load(Metric, metric), executor=executor)
        return time.perf_counter() - began


def on_ray(run: Path, metric: str, processors: int) -> float:
    import ray

    ray.init(num_cpus=processors, log_to_driver=False, include_dashboard=False)
    try:
        seconds(run, metric, RayCluster())  # its workers are up, and have read what the metric needs
        return seconds(run, metric, RayCluster())
    finally:
        ray.shutdown()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=4_000)
    parser.add_argument("--metric", default="chrf")
    parser.add_argument("--ray", action="store_true")
    asked = parser.parse_args()
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        make_benchmark(home / "data", asked.cases)
        reviewgauge.review(str(home / "data"), "recorded", run=home / "run")
        load_now, processors = os.getloadavg()[0], os.cpu_count()
        print(f"{asked.cases:,} reviews, {asked.metric}; {processors} processors, load {load_now:.1f} before it began")
        alone = seconds(home / "run", asked.metric, Serial())
        print(f"one process      {alone:7.1f} s")
        if asked.ray:
            one, two = (on_ray(home / "run", asked.metric, count) for count in (1, 2))
            print(f"Ray, 1 processor {one:7.1f} s")
            print(f"Ray, 2 processors{two:7.1f} s")
            print(
                f"efficiency from 1 to 2: {one / two / 2:.2f} (beside one process without Ray: {alone / two / 2:.2f})"
            )


if __name__ == "__main__":
    main()
