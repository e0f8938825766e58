"""What the parent refuses from the process that proposes: other cases, texts of its own, other questions."""

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
from reviewgauge.evolution.split import HELD_OUT, SELECTION, TRAIN, split_cases


@pytest.fixture
def made(tmp_path: Path) -> tuple[Search, str]:
    """A search, and the id of a case that is held out from it."""
    bench = write_planted(tmp_path / "planted.jsonl", dict.fromkeys(repositories(), ("print",)))
    split = split_cases(list(find_dataset(str(bench)).cases()), (0.4, 0.3, 0.3), 0)
    species = Species.of([load(Reviewer, REVIEWER)], ())
    reward = Reward.of([(load(Metric, "hits"), 1.0)], lambda metric, parts: 0.0)
    setting = Setting(species, reward, tmp_path, "planted", "", 2, None, Interruption())
    parts = {name: split.parts[name] for name in (TRAIN, SELECTION)}
    search = Search(
        Evaluator(setting, tmp_path / "runs", parts),
        Proposer(species, "fake:rules"),
        Limits(1, 9, 0, 3),
        "random",
        0,
        False,
    )
    return search, split.parts[HELD_OUT][0].id


def _script(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    """Let the process ask this, as one that was taken over could; `job` is what it was told."""
    told = "import json, sys\njob = json.loads(sys.stdin.readline())\n"
    source = f"{told}print(json.dumps({line}), flush=True)\nsys.stdin.readline()"
    from reviewgauge.evolution import search as module
    from reviewgauge.evolution.starting import started

    monkeypatch.setattr(module, "started", lambda job, log, sandbox: started(job, log, sandbox=False, source=source))


@pytest.mark.processes
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("dict(ask='evaluate', candidate=job['candidate'], cases=['HELD'])", "not among those that may be seen"),
        ("dict(ask='propose', component='template', candidate=job['candidate'], cases=['HELD'])", "not among those"),
        ("dict(ask='evaluate', candidate={'template': '[user]\\n'}, cases=job['train'])", "a text of its own"),
        ("dict(ask='read', component='template', candidate=job['candidate'])", "which it may not"),
        ("dict(ask='drawn', component='template', candidate=job['candidate'], text='mine')", "which it may not"),
    ],
)
def test_what_it_may_not_ask(made: tuple[Search, str], monkeypatch: pytest.MonkeyPatch, line: str, words: str) -> None:
    search, held = made
    _script(monkeypatch, line.replace("HELD", held))
    with pytest.raises(UserError, match=words):
        search.run()
