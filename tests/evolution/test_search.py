"""What a search refuses an optimizer: cases of the held-out part, whatever it is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from planted_prompts import REVIEWER, repositories, write_planted
from reviewgauge.api.resolve import find_dataset
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric, Reviewer
from reviewgauge.core.specs import load
from reviewgauge.engine.run.executors import Interruption
from reviewgauge.evolution.candidates import Species
from reviewgauge.evolution.evaluation import Evaluator, Setting
from reviewgauge.evolution.proposing import Proposer
from reviewgauge.evolution.reward import Reward
from reviewgauge.evolution.search import Limits, Search
from reviewgauge.evolution.split import HELD_OUT, PARTS, SELECTION, TRAIN, split_cases


def test_a_held_out_case_is_refused(tmp_path: Path) -> None:
    bench = write_planted(tmp_path / "planted.jsonl", dict.fromkeys(repositories(), ("print",)))
    split = split_cases(list(find_dataset(str(bench)).cases()), (0.4, 0.3, 0.3), 0)
    species = Species.of([load(Reviewer, REVIEWER)], ())
    reward = Reward.of([(load(Metric, "hits"), 1.0)], lambda metric, parts: 0.0)
    setting = Setting(species, reward, tmp_path, "planted", "", 2, None, Interruption())
    parts = {name: split.parts[name] for name in (TRAIN, SELECTION)}
    search = Search(Evaluator(setting, tmp_path / "runs", parts), Proposer(species, "fake:rules"), Limits(1, 9, 3), 0)
    held = split.parts[HELD_OUT][0].id
    handed = {name for part in PARTS[:2] for name in search.names(part)}
    assert handed and handed.isdisjoint(case.id for case in split.parts[HELD_OUT])
    with pytest.raises(UserError, match="not among those that may be seen"):
        search.evaluate(species.seed, [held])
    with pytest.raises(UserError, match="not among those that may be seen"):
        search.propose("template", species.seed, [held])
