"""The parent of the process that proposes: answers its questions, and keeps the lineage. It holds no held-out case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reviewgauge.core.errors import UserError
from reviewgauge.core.files import write_whole
from reviewgauge.core.reports.evolution import Step
from reviewgauge.core.results import Failed
from reviewgauge.evolution.candidates import Candidate, diff_of, digest_of
from reviewgauge.evolution.evaluation import Evaluator, Stopped
from reviewgauge.evolution.feedback import feedback
from reviewgauge.evolution.proposing import Proposal, Proposer
from reviewgauge.evolution.reward import Worth
from reviewgauge.evolution.split import SELECTION, TRAIN
from reviewgauge.evolution.starting import started

LINEAGE, LOG = "lineage.jsonl", "optimizer.log"


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
    """

    evaluator: Evaluator
    proposer: Proposer
    limits: Limits
    optimizer: str
    seed: int
    sandbox: bool
    candidates: dict[str, Candidate] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    rounds: int = 0

    def run(self) -> None:
        """Search until a limit. Raises Stopped."""
        setting = self.evaluator.setting
        seed = setting.species.seed
        self.candidates[digest_of(seed)] = seed
        self.steps.append(Step(candidate=digest_of(seed)))
        job = {
            "optimizer": self.optimizer,
            "seed": self.seed,
            "candidate": seed,
            "fixed": sorted(setting.species.fixed),
            "contexts": list(setting.species.contexts),
            "train": self._names(TRAIN),
            "selection": self._names(SELECTION),
            **self.limits.__dict__,
        }
        with started(job, setting.folder / LOG, sandbox=self.sandbox) as child:
            for question in child.questions():
                if setting.stop.is_set():
                    raise Stopped
                try:
                    answer = self._answer(question)
                except Failed as error:
                    setting.stop.stop(error)
                    raise Stopped from None
                self._write()
                child.answer(used=self.evaluator.used, **answer)

    def _names(self, part: str) -> list[str]:
        return [case.id for case in self.evaluator.parts[part]]

    def _answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        candidate, what = question["candidate"], question["ask"]
        if what == "evaluate":
            found = self.evaluator.evaluate(self._checked(candidate), question["cases"])
            self._note(candidate, question["cases"], found)
            return {"rewards": [one.reward for one in found], "perfect": [one.perfect for one in found]}
        component = question["component"]
        self.rounds += 1
        if what == "propose":
            evidence = [self._evidence(candidate, name) for name in question["cases"]]
            proposal = self.proposer.reflect(component, candidate, evidence)
        elif what == "vary":
            proposal = self.proposer.vary(component, candidate, question["number"])
        elif what == "drawn" and question["text"] in self.evaluator.setting.species.contexts:
            proposal = Proposal(question["text"])  # the one text that it may choose, from a list of ours
        else:
            raise UserError(f"the process that proposes asked for {what!r}, which it may not")
        self._born(component, candidate, proposal)
        return {"text": proposal.text}

    def _checked(self, candidate: Candidate) -> Candidate:
        """A candidate whose texts came from here. Raises UserError for any other."""
        if digest_of(candidate) not in self.candidates:
            raise UserError("the process that proposes made a text of its own, which it may not")
        return candidate

    def _evidence(self, candidate: Candidate, name: str) -> str:
        (worth,) = self.evaluator.evaluate(candidate, [name])
        return feedback(self.evaluator.case(name), self.evaluator.outcome(candidate, name), worth)

    def _born(self, component: str, parent: Candidate, proposal: Proposal) -> None:
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

    def _note(self, candidate: Candidate, cases: Sequence[str], found: Sequence[Worth]) -> None:
        """Write what was found to the steps of the candidate that have no such figure yet."""
        digest, mean = digest_of(candidate), sum(one.reward for one in found) / len(found)
        whole = list(cases) == self._names(SELECTION)
        more: dict[str, object] = {"selection": mean} if whole else {"minibatch": mean}
        for at, step in enumerate(self.steps):
            if step.candidate == digest and getattr(step, next(iter(more))) is None:
                failed = step.failed + sum(bool(one.failed) for one in found)
                counts = {"failed": failed, "evaluations": self.evaluator.used}
                self.steps[at] = step.model_copy(update={**more, **counts})

    def _write(self) -> None:
        lines = b"".join(step.to_line() for step in self.steps)
        write_whole(self.evaluator.setting.folder / LINEAGE, lines)

    @property
    def best(self) -> str:
        """The candidate with the highest reward on all of the selection part; the earliest of several."""
        whole = {step.candidate: step.selection for step in reversed(self.steps) if step.selection is not None}
        return max(reversed(whole), key=lambda name: whole[name]) if whole else self.steps[0].candidate
