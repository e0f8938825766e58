"""Candidates into rewards through ordinary run folders: each case is reviewed and measured once by each candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Progress
from reviewgauge.core.records import Case
from reviewgauge.core.results import Outcome, Score
from reviewgauge.core.specs import signature
from reviewgauge.engine.review import review
from reviewgauge.engine.run.executors import Interruption
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.progress import Selection
from reviewgauge.engine.run.workers import Workers, executor_for
from reviewgauge.engine.score import score
from reviewgauge.evolution.candidates import CONTEXT, Candidate, Species, digest_of
from reviewgauge.evolution.reward import Reward, Worth

TEMPLATES = "templates"


class Stopped(Exception):
    """The work cannot go on: money is spent, an endpoint is down, or the user said so. `Interruption` says why."""


@dataclass(frozen=True)
class Setting:
    """What all evaluations share. `where` names the data set in run folders."""

    species: Species
    reward: Reward
    folder: Path
    dataset: str
    where: str
    in_flight: int
    workers: Workers
    stop: Interruption
    progress: Progress | None = None


@dataclass
class Evaluator:
    """Evaluates on some cases of the benchmark, and knows no others. `runs` is the folder of its run folders."""

    setting: Setting
    runs: Path
    parts: Mapping[str, Sequence[Case]]
    used: int = 0
    """How many (candidate, case) pairs were asked for: the same however often the work was interrupted."""
    known: dict[tuple[str, str], tuple[Worth, Outcome]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._cases = {case.id: case for own in self.parts.values() for case in own}
        self._scales = {
            key: scale for own in self.parts.values() for key, scale in self.setting.reward.scales(own).items()
        }

    def case(self, name: str) -> Case:
        """A case that this evaluator was given. Raises UserError for any other."""
        if name not in self._cases:
            raise UserError(f"case {name!r} is not among those that may be seen here")
        return self._cases[name]

    def evaluate(self, candidate: Candidate, names: Sequence[str]) -> list[Worth]:
        """What each of the cases is worth with the candidate. Raises Stopped, and what is wrong with the whole run."""
        digest = digest_of(candidate)
        new = [name for name in dict.fromkeys(names) if (digest, name) not in self.known]
        for at in range(len(self.setting.species.reviewers)):
            own = [self.case(name) for name in new if self.setting.species.reviewer_of(self.case(name)) == at]
            if own:
                self._evaluate(at, candidate, own)
        self.used += len(new)
        return [self.known[digest, name][0] for name in names]

    def outcome(self, candidate: Candidate, name: str) -> Outcome:
        """What the candidate said of a case that was evaluated."""
        return self.known[digest_of(candidate), name][1]

    def _evaluate(self, at: int, candidate: Candidate, cases: Sequence[Case]) -> None:
        setting = self.setting
        species, digest = setting.species, digest_of(candidate)
        reviewer = species.built(at, candidate, setting.folder.resolve() / TEMPLATES)
        own = {key: text for key, text in candidate.items() if key in (CONTEXT, species.component(at))}
        all_cases = [case for case in self._cases.values() if species.reviewer_of(case) == at]
        wanted = Selection(cases=tuple(case.id for case in cases))
        path = self.runs / digest_of(own)
        with RunFolder.create(path, dataset=setting.dataset, dataset_path=setting.where, cases=all_cases) as run:
            executor = executor_for(reviewer, workers=setting.workers, in_flight=setting.in_flight, otherwise=2)
            done = review(run, reviewer, executor=executor, only=wanted, stop=setting.stop, progress=setting.progress)
            scores = self._measure(run, cases) if not done.left else {}
            outcomes = {one.case: one for one in run.outcomes()}
        if setting.stop.is_set():
            raise Stopped
        for case in cases:
            worth = setting.reward.worth(case, scores.get(case.id, {}), self._scales)
            self.known[digest, case.id] = worth, outcomes[case.id]

    def _measure(self, run: RunFolder, cases: Sequence[Case]) -> dict[str, dict[int, Score]]:
        """The scores of these cases by metric, measured where they are missing."""
        reward, setting = self.setting.reward, self.setting
        found: dict[str, dict[int, Score]] = {}
        for at, metric in enumerate(reward.metrics):
            names = [case.id for case in cases if at in reward.applying(case)]
            if not names or setting.stop.is_set():
                continue
            executor = executor_for(metric, setting.workers, setting.in_flight, otherwise=1)
            score(run, metric, executor=executor, only=Selection(cases=tuple(names)), stop=setting.stop)
            for one in run.scores(signature(metric)):
                if one.case in names:
                    found.setdefault(one.case, {})[at] = one
        return found
