"""Our embeddings and BERTScore beside sentence-transformers and bert-score: the same weights, the same texts, the CPU.

The peers bring torch and live in an environment of their own (`pip install -r benchmarks/peers.txt`), whose interpreter
is named by `benchmarks/metrics.py --peers` or $REVIEWGAUGE_PEERS. They run in one process, in turns with ours. Loading
a model is not timed. Both sides embed the distinct texts only.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from timed.table import Row, gap

from reviewgauge.core.errors import UserError
from reviewgauge.metrics.bertscore import F1, PRECISION, RECALL, Bertscore
from reviewgauge.metrics.texts.text_metric import TextPair
from reviewgauge.models.embeddings.embedder import DEFAULT
from reviewgauge.models.embeddings.load import embedder
from reviewgauge.models.embeddings.onnx import OnnxEmbedder

VARIABLE = "REVIEWGAUGE_PEERS"
LAYER = 6  # MiniLM's last
ALLOWED = 1e-5  # what two float32 networks may differ by
Table = npt.NDArray[np.float64]


class Answer(NamedTuple):
    """One timed run: seconds on the clock, and of processor time."""

    seconds: float
    processor: float
    values: Table


def rows(pairs: Sequence[TextPair], repeats: int, peers: Path | None = None) -> Iterator[Row]:
    """One row a metric; raises where values differ, and UserError where there is no interpreter with the peers."""
    python = peers or Path(os.environ.get(VARIABLE, ""))
    if not python.is_file():
        raise UserError("no peers to run beside", remedy=f"set {VARIABLE} to a Python with benchmarks/peers.txt")
    asked = [(pair.hypothesis, pair.references[0]) for pair in pairs if pair.hypothesis.strip()]
    texts = list(dict.fromkeys(text for pair in asked for text in pair))
    model = embedder(DEFAULT, cache=False)
    assert isinstance(model, OnnxEmbedder)
    scored = [TextPair(said, (wanted,)) for said, wanted in asked]
    metric = Bertscore()

    def embed() -> Table:
        return model.vectors(texts).astype(np.float64)

    def bertscore() -> Table:
        found = metric.segments(scored)
        return np.array([[parts[name] for parts in found] for name in (PRECISION, RECALL, F1)])

    job = {"weights": str(model.folder), "layer": LAYER, "texts": texts, "pairs": asked}
    with _peers(python, job) as (ask, versions):
        ours, theirs = race(embed, lambda: ask("embed"), repeats)
        cosines = [_cosines(one.values, texts, asked) for one in (ours, theirs)]
        named = (f"embeddings of {len(texts):,} texts", f"sentence-transformers {versions['sentence-transformers']}")
        said = "cosines of the pairs compared"
        yield _row(named, (ours, theirs), pairs=len(asked), apart=gap(*cosines), aim=1.4, said=said)

        ours, theirs = race(bertscore, lambda: ask("bertscore"), repeats)
        means = [one.values.mean(axis=1).tolist() for one in (ours, theirs)]
        apart = np.abs(ours.values - theirs.values).max(axis=0)
        said = f"means compared: {', '.join(f'{mean:.6f}' for mean in means[0])}; {int((apart > ALLOWED).sum())} pairs"
        said += f" differ by over {ALLOWED} (at most {apart.max():.1e}), the longest of their batch there"
        named = ("BERTScore, P, R and F1", f"bert-score {versions['bert-score']}")
        yield _row(named, (ours, theirs), pairs=len(asked), apart=gap(*means), aim=4, said=said)


def _row(
    named: tuple[str, str], both: tuple[Answer, Answer], *, pairs: int, apart: float, aim: float, said: str
) -> Row:
    ours, theirs = both
    note = f"{said}; processor time {ours.processor:.1f} s and {theirs.processor:.1f} s"
    row = Row(*named, pairs, ours.seconds, theirs.seconds, apart, aim=aim, allowed=ALLOWED, note=note)
    if row.gap > row.allowed:
        raise AssertionError(f"{row.name}: ours and {row.peer} differ by {row.gap}")
    return row


def race(ours: Callable[[], Table], theirs: Callable[[], Answer], repeats: int) -> tuple[Answer, Answer]:
    """The best of `repeats` runs of both, taken in turns. One run of ours goes before, as the peers have had theirs."""
    ours()
    runs: list[tuple[Answer, Answer]] = []
    for _ in range(repeats):
        start, worked = time.perf_counter(), time.process_time()
        values = ours()
        runs.append((Answer(time.perf_counter() - start, time.process_time() - worked, values), theirs()))
    return min((run[0] for run in runs), key=_seconds), min((run[1] for run in runs), key=_seconds)


def _seconds(answer: Answer) -> float:
    return answer.seconds


def _cosines(vectors: Table, texts: Sequence[str], pairs: Sequence[tuple[str, str]]) -> list[float]:
    place = {text: row for row, text in enumerate(texts)}
    said, wanted = (vectors[[place[pair[side]] for pair in pairs]] for side in (0, 1))
    found: list[float] = (said * wanted).sum(axis=1).tolist()
    return found


@contextmanager
def _peers(python: Path, job: dict[str, Any]) -> Iterator[tuple[Callable[[str], Answer], dict[str, str]]]:
    """(ask for one run, the peers' versions), from one process that has loaded its models."""
    script = Path(__file__).parents[1] / "peers" / "embedding_peers.py"
    quiet = {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "true"}
    process = subprocess.Popen(
        [str(python), str(script)],
        env=quiet,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None and process.stdout is not None
    send, answers = process.stdin, process.stdout

    def hear(line: str) -> Any:
        try:
            send.write(line + "\n")
            send.flush()
            return json.loads(answers.readline())
        except (OSError, ValueError):
            raise UserError(f"{python} could not run the peers", remedy="install benchmarks/peers.txt there") from None

    def ask(what: str) -> Answer:
        found = hear(what)
        return Answer(found["seconds"], found["processor"], np.array(found["values"], dtype=np.float64))

    try:
        yield ask, hear(json.dumps(job))
    finally:
        process.kill()
        process.wait()
