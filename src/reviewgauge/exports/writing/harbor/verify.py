"""Scores the review of one Harbor task with `hits`: `verify.py cases.jsonl review.json reward.json`.

A review that is missing or cannot be read gets no reward at all, which is not a reward of 0.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import reviewgauge
from reviewgauge.engine.run.folder import RunFolder

COUNTED = ("changes", "comments", "right", "said", "hit", "references", "clean", "clean_quiet")


def main(cases: str, review: str, reward: str) -> str:
    """Write the reward: the F1, and on a clean change whether it was left alone. Returns why there is none."""
    if not Path(review).is_file():
        return f"{review} was not written"
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder, "run")
        reviewgauge.review(cases, f"replay(path={review!r}, format='plain')", run=run)
        failure = RunFolder.open(run).outcomes()[0].failure
        if failure is not None:
            return failure.message
        reviewgauge.score(run, "hits")
        score = RunFolder.open(run).scores()[0]
    if score.parts is None:
        return score.failure.message if score.failure else score.reason
    parts = {name: score.parts.get(name, 0.0) for name in COUNTED}
    precision, recall = parts["right"] / (parts["said"] or 1), parts["hit"] / (parts["references"] or 1)
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    value = f1 if parts["references"] else parts["clean_quiet"]
    Path(reward).write_text(json.dumps({"reward": value, **parts}), encoding="utf-8")
    return ""


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) or None)
