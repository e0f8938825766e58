"""sentence-transformers and bert-score on the CPU, for `timed/embeddings.py`: run by the peers' own interpreter.

It imports nothing of ReviewGauge. The first line of its input is a job {"weights", "layer", "texts", "pairs"}, every
further line is `embed` or `bertscore`; each is answered by one line of JSON.
"""

from __future__ import annotations

import json
import os
import sys
import time
from importlib import import_module, metadata
from typing import Any

PEERS = ("sentence-transformers", "bert-score", "transformers", "torch")


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the libraries print is not an answer
    job = json.loads(sys.stdin.readline())

    encoder = import_module("sentence_transformers").SentenceTransformer(job["weights"], device="cpu")
    scorer = import_module("bert_score").BERTScorer(model_type=job["weights"], num_layers=job["layer"], device="cpu")
    said, wanted = [pair[0] for pair in job["pairs"]], [pair[1] for pair in job["pairs"]]
    encoder.encode(job["texts"][:8])  # the first call of either does more than the others
    scorer.score(said[:2], wanted[:2])

    def say(answer: Any) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    say({name: metadata.version(name) for name in PEERS})
    for line in sys.stdin:
        start, worked = time.perf_counter(), time.process_time()
        if line.strip() == "embed":
            found = encoder.encode(job["texts"], normalize_embeddings=True, show_progress_bar=False).tolist()
        else:
            found = [column.tolist() for column in scorer.score(said, wanted)]
        seconds, worked = time.perf_counter() - start, time.process_time() - worked
        say({"seconds": seconds, "processor": worked, "values": found})


if __name__ == "__main__":
    main()
