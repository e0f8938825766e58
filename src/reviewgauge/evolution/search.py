"""What an optimizer asks for: rewards of cases and new texts. Keeps the lineage, and holds no held-out case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from reviewgauge.core.files import write_whole
from reviewgauge.core.reports.evolution import Step
from reviewgauge.core.results import Failed
from reviewgauge.evolution.candidates import Candidate, diff_of, digest_of
from reviewgauge.evolution.evaluation import Evaluator, Stopped
from reviewgauge.evolution.feedback import feedback
from reviewgauge.evolution.proposing import Proposal, Proposer
from reviewgauge.evolution.reward import Worth
from reviewgauge.evolution.split import SELECTION

LINEAGE = "lineage.jsonl"


@dataclass(frozen=True)
class Limits:
    """When to stop: rounds, evaluations (pairs of a candidate and a case), rounds without a gain (0: never)."""

    rounds: int
    evaluations: int
    patience: int
    minibatch: int


@dataclass
class Search:
    """One search, from the seed on. Interrupted, it is done again from its start by what run folders and the cache
    hold: the same seed asks the same questions, which cost nothing the second time.

    An optimizer calls `evaluate` with names of cases, and `propose`, `vary` or `take` for a candidate's next text. Each
    raises Stopped where the work cannot go on.
    """

    evaluator: Evaluator
    proposer: Proposer
    limits: Limits
    seed: int
    candidates: dict[str, Candidate] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    rounds: int = 0

    def __post_init__(self) -> None:
        seed = self.evaluator.setting.species.seed
        self.candidates[digest_of(seed)] = seed
        self.steps.append(Step(candidate=digest_of(seed)))

    def names(self, part: str) -> list[str]:
        """The cases of a part, by id."""
        return [case.id for case in self.evaluator.parts[part]]

    def evaluate(self, candidate: Candidate, cases: Sequence[str]) -> list[Worth]:
        """What each case is worth with the candidate. Raises UserError for a case of another part."""
        with self._written():
            found = self.evaluator.evaluate(candidate, cases)
            self._note(candidate, cases, found)
        return found

    def propose(self, component: str, candidate: Candidate, cases: Sequence[str]) -> str:
        """A text that learns from these cases; empty where none was usable."""
        with self._written():
            evidence = [self._evidence(candidate, name) for name in cases]
            return self._born(component, candidate, self.proposer.reflect(component, candidate, evidence))

    def vary(self, component: str, candidate: Candidate, number: int) -> str:
        """A text that knows of no result; empty where none was usable."""
        with self._written():
            return self._born(component, candidate, self.proposer.vary(component, candidate, number))

    def take(self, component: str, candidate: Candidate, text: str) -> str:
        """This text, as the candidate's next one."""
        with self._written():
            return self._born(component, candidate, Proposal(text))

    @contextmanager
    def _written(self) -> Iterator[None]:
        """Write the lineage after a question; what models cannot answer any more stops the work."""
        stop = self.evaluator.setting.stop
        if stop.is_set():
            raise Stopped
        try:
            yield
        except Failed as error:
            stop.stop(error)
            raise Stopped from None
        lines = b"".join(step.to_line() for step in self.steps)
        write_whole(self.evaluator.setting.folder / LINEAGE, lines)

    def _evidence(self, candidate: Candidate, name: str) -> str:
        (worth,) = self.evaluator.evaluate(candidate, [name])
        return feedback(self.evaluator.case(name), self.evaluator.outcome(candidate, name), worth)

    def _born(self, component: str, parent: Candidate, proposal: Proposal) -> str:
        self.rounds += 1
        child = {**parent, component: proposal.text} if proposal.text else None
        digest = digest_of(child) if child is not None else ""
        self.steps.append(
            Step(
                candidate=digest,
                parent=digest_of(parent),
                round=self.rounds,
                component=component,
                diff=diff_of(parent, child) if child is not None else "",
                refused=proposal.refused,
            )
        )
        if child is not None:
            self.candidates.setdefault(digest, child)
        return proposal.text

    def _note(self, candidate: Candidate, cases: Sequence[str], found: Sequence[Worth]) -> None:
        """Write what was found to the steps of the candidate that have no such figure yet."""
        digest, mean = digest_of(candidate), sum(one.reward for one in found) / len(found)
        whole = list(cases) == self.names(SELECTION)
        more: dict[str, object] = {"selection": mean} if whole else {"minibatch": mean}
        for at, step in enumerate(self.steps):
            if step.candidate == digest and getattr(step, next(iter(more))) is None:
                failed = step.failed + sum(bool(one.failed) for one in found)
                counts = {"failed": failed, "evaluations": self.evaluator.used}
                self.steps[at] = step.model_copy(update={**more, **counts})

    @property
    def best(self) -> str:
        """The candidate with the highest reward on all of the selection part; the earliest of several."""
        whole = {step.candidate: step.selection for step in reversed(self.steps) if step.selection is not None}
        return max(reversed(whole), key=lambda name: whole[name]) if whole else self.steps[0].candidate
