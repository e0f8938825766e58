"""What `lstm` learns and writes, beside the other baselines: losses by epoch, texts, text metrics, seconds.

    python benchmarks/lstm.py --from ../shared/data/graded-reviews
    python benchmarks/lstm.py --from CODE_REVIEWER --data 'code_reviewer(split="test")' --keep trained \
        --train 'code_reviewer(split="train", path="CODE_REVIEWER")' --set hidden=768 --set rate=0.0001

Without --train every tenth case is reviewed, and the others are learnt from. With --keep the training stays, and the
same command goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import reviewgauge
from reviewgauge.core.protocols import Dataset
from reviewgauge.core.specs import load, signature
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.models.seq2seq.checkpoint import read_state
from reviewgauge.models.seq2seq.training import chosen_device
from reviewgauge.reviewers.lstm import Lstm

METRICS = ("bleu", "rouge", "chrf")
OTHERS = ("bm25_knn", "comment_finder", "silent", "parrot")


def texts(run: Path, system: str) -> list[str]:
    reviews = [outcome.review for outcome in RunFolder.open(run).outcomes() if outcome.system == system]
    return [comment.body for review in reviews if review is not None for comment in review.comments]


def report(run: Path, keep: Path, device: str, systems: Sequence[str]) -> None:
    state = read_state(keep)
    assert state is not None
    print(f"{state.settings}\n{state.pairs:,} examples, {len(state.pieces):,} pieces, device {device}")
    for number, epoch in enumerate(state.history, 1):
        best = "  <- best" if number == state.best_epoch else ""
        print(f"epoch {number:3}  loss {epoch.train:.3f}, held out {epoch.validation:.3f}  {epoch.seconds:.1f} s{best}")
    print("\nsystem                 comments  different  most frequent")
    for system in systems:
        said = texts(run, system)
        often = Counter(said).most_common(1)
        shown = f"{often[0][1]} x {often[0][0][:60]!r}" if often else ""
        print(f"{system[:20]:20} {len(said):10,} {len(set(said)):10,}  {shown}")
    print("\nwhat lstm writes:", *sorted(set(texts(run, systems[0])))[:12], sep="\n  ")
    print()
    for board in reviewgauge.score(run, *METRICS).leaderboards:
        means = {row.system: row.estimate(board.headline) for row in board.systems}
        figures = [
            f"{system[:20]} {mean.value:.4f}" for system, mean in means.items() if mean and mean.value is not None
        ]
        print(f"{board.label or board.metric}: " + ", ".join(figures))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="source", required=True, help="where the data lies")
    parser.add_argument("--data", default="graded_reviews")
    parser.add_argument("--train", help="a data set to learn from")
    parser.add_argument("--set", dest="parameters", action="append", default=[], help="a parameter of lstm, name=value")
    parser.add_argument("--keep", type=Path, help="the folder of the training")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        keep = arguments.keep or Path(scratch) / "training"
        lstm = replace(load(Lstm, f"lstm({', '.join(arguments.parameters)})"), checkpoint=str(keep))
        run = Path(scratch) / "run"
        reviewgauge.review(
            arguments.data,
            lstm,
            *OTHERS,
            run=run,
            source=arguments.source,
            train=arguments.train or with_path(arguments.data, arguments.source),
            stages=[] if arguments.train else ["systematic(every=10, start=1)"],
            progress=lambda done, total, what: print(f"\r{done}/{total} {what[:60]:60}", end="", flush=True),
        )
        print()
        report(run, keep, chosen_device(lstm.device), [lstm.system, *OTHERS])
    return 0


def with_path(data: str, source: str) -> str:
    return signature(replace(load(Dataset, data), path=source))  # type: ignore[type-var]


if __name__ == "__main__":
    raise SystemExit(main())
