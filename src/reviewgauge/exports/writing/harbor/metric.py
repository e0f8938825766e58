# /// script
# requires-python = ">=3.10"
# ///
"""The measures of a Harbor job, out of the counts of its trials: `uv run metric.py -i rewards.jsonl -o metric.json`.

Harbor hands over `null` for a trial without a reward. Its own mean takes that as 0. Here it is counted, and where there
is one the measures are withheld: they would be of the trials that went well.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path

NEEDED = ("right", "said", "hit", "references", "clean", "clean_quiet")


def measures(rewards: list[object]) -> dict[str, float]:
    """Counts of the trials; and, where each has a sound reward, micro-averaged precision, recall and F1."""
    sound = [one for one in rewards if isinstance(one, dict) and is_sound(one)]
    found: dict[str, float] = {"trials": len(rewards), "measured": len(sound), "missing": len(rewards) - len(sound)}
    if found["missing"] or not sound:
        return found
    total = {name: sum(one[name] for one in sound) for name in NEEDED}
    ratios = {
        "precision": (total["right"], total["said"]),
        "recall": (total["hit"], total["references"]),
        "clean_left_alone": (total["clean_quiet"], total["clean"]),
    }
    found |= {name: part / whole for name, (part, whole) in ratios.items() if whole}
    if "precision" in found and "recall" in found:
        both = found["precision"] + found["recall"]
        found["f1"] = 2 * found["precision"] * found["recall"] / both if both else 0.0
    return found


def is_sound(reward: dict[str, float]) -> bool:
    """Whether it has every count, as a finite number."""
    return all(isinstance(reward.get(name), int | float) and math.isfinite(reward[name]) for name in NEEDED)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("-i", required=True, type=Path)
    parser.add_argument("-o", required=True, type=Path)
    given = parser.parse_args()
    rows = [json.loads(line) for line in given.i.read_text(encoding="utf-8").splitlines() if line.strip()]
    given.o.write_text(json.dumps(measures(rows)), encoding="utf-8")
