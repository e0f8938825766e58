"""What an optimizer asks for: rewards of cases and new texts. Keeps the lineage, and holds no held-out case.

What the proposer is told of a case: what was missed and why, what was noise, what broke; short, and fenced.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from reviewgauge.core.errors import UserError
from reviewgauge.core.files import check_plain, read_within, write_error, write_whole
from reviewgauge.core.parsing import parse_record
from reviewgauge.core.records import Case, Review
from reviewgauge.core.reports.evolution import EvolutionReport, Step
from reviewgauge.core.results import CommentState, Failed, Matching, Outcome
from reviewgauge.engine.run.journal import Lock
from reviewgauge.evolution.candidates import Candidate, diff_of, digest_of
from reviewgauge.evolution.evaluation import Evaluator, Stopped
from reviewgauge.evolution.proposing import Proposal, Proposer
from reviewgauge.evolution.reward import Worth
from reviewgauge.evolution.split import SELECTION
from reviewgauge.models.request.messages import fence

LINEAGE = "lineage.jsonl"
_DIFF, _TEXT, _MOST = 1_500, 400, 5  # characters of a diff, of a comment; comments of a kind


def feedback(case: Case, outcome: Outcome, worth: Worth) -> str:
    """The evidence on one case."""
    patches = "\n".join(f"+++ {file.path}\n{file.patch or ''}" for file in case.change.files)
    lines = [f"Reward {worth.reward:.3f}.", "The change:", fence(f"{case.change.title}\n{_cut(patches, _DIFF)}")]
    if worth.failed or worth.silent:
        why = "It failed" if worth.failed else "It has no value"
        lines += [f"{why}, and counts as the worst there is:", fence(_cut(worth.failed or worth.silent, _TEXT))]
    matching = next((score.matching for score in worth.scores if score.matching is not None), None)
    if outcome.review is not None:
        lines += _matched(case, outcome.review, matching) if matching else _plain(case, outcome.review)
    return "\n".join(lines)


def _matched(case: Case, review: Review, matching: Matching) -> Iterator[str]:
    """Missed findings, then comments that raise none, then how many were right."""
    body = {comment.id: comment.body for comment in (*case.references, *review.comments)}
    missed = [(one.group, one.reason or "nothing raised it") for one in matching.groups if not one.hit]
    false = [one for one in matching.comments if one.state is CommentState.FALSE]
    noise = [(one.comment, one.reason or "it raises no known problem") for one in false]
    for head, found in (("Missed", missed), ("Noise", noise)):
        for name, reason in found[:_MOST]:
            if name in body:
                yield from (f"{head}, {reason}:", fence(_cut(body[name], _TEXT)))
    right = sum(one.state is CommentState.MATCHED for one in matching.comments)
    more = max(0, len(missed) - _MOST) + max(0, len(noise) - _MOST)
    yield f"Right: {right} of {len(matching.comments)} comments." + (f" {more} more are not shown." if more else "")


def _plain(case: Case, review: Review) -> Iterator[str]:
    """What was said beside what would have been right, for metrics without a matching."""
    if review.verdict is not None and case.verdict is not None:
        said, true = ("can" if verdict else "cannot" for verdict in (review.verdict, case.verdict))
        yield f"It said that the change {said} be merged; it {true}."
    if review.ranked_lines:
        ranked = ", ".join(f"{span.path}:{span.start}" for span in review.ranked_lines[:_MOST])
        yield from ("Lines that it ranked highest:", fence(ranked))
    for head, comments in (("It said:", review.comments), ("People said:", case.references)):
        for comment in comments[:_MOST]:
            place = f"{comment.span.path}:{comment.span.start}\n" if comment.span else ""
            yield from (head, fence(place + _cut(comment.body, _TEXT)))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most].rstrip() + " [...]"


@dataclass(frozen=True)
class Limits:
    """When to stop: rounds, evaluations (pairs of a candidate and a case). `minibatch`: train cases of a proposal."""

    rounds: int
    evaluations: int
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
            evidence = []
            for name in cases:
                (worth,) = self.evaluator.evaluate(candidate, [name])
                outcome = self.evaluator.outcome(candidate, name)
                evidence.append(feedback(self.evaluator.case(name), outcome, worth))
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

    def _born(self, component: str, parent: Candidate, proposal: Proposal) -> str:
        self.rounds += 1
        step = Step(
            candidate="",
            parent=digest_of(parent),
            round=self.rounds,
            component=component,
            refused=proposal.refused,
        )
        if proposal.text:
            child = {**parent, component: proposal.text}
            step = step.model_copy(update={"candidate": digest_of(child), "diff": diff_of(parent, child)})
            self.candidates.setdefault(step.candidate, child)
        self.steps.append(step)
        return proposal.text

    def _note(self, candidate: Candidate, cases: Sequence[str], found: Sequence[Worth]) -> None:
        """Write what was found to the steps of the candidate that have no such figure yet."""
        digest = digest_of(candidate)
        figure = "selection" if list(cases) == self.names(SELECTION) else "minibatch"
        mean, failed = sum(one.reward for one in found) / len(found), sum(bool(one.failed) for one in found)
        for at, step in enumerate(self.steps):
            if step.candidate == digest and getattr(step, figure) is None:
                more = {figure: mean, "failed": step.failed + failed, "evaluations": self.evaluator.used}
                self.steps[at] = step.model_copy(update=more)

    @property
    def best(self) -> str:
        """The candidate with the highest reward on all of the selection part; the earliest of several."""
        whole = {step.candidate: step.selection for step in reversed(self.steps) if step.selection is not None}
        return max(reversed(whole), key=lambda name: whole[name]) if whole else self.steps[0].candidate


# --- the folder of a search: its settings, which may not change, and its lock -----------------------------------------

SETTINGS, RESULT, LOCK, RUNS, HELD = "evolve.json", "result.json", "lock", "runs", "held-out"


@contextmanager
def opened(folder: Path) -> Iterator[Path]:
    """The folder, locked. Raises UserError for one that holds something else."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise UserError(f"{folder} is a file, not a folder", remedy="name another folder") from None
    except OSError as error:
        raise write_error(folder, error) from None
    check_plain(folder)
    names = {entry.name for entry in folder.iterdir()} - {LOCK}
    if names and SETTINGS not in names:
        raise UserError(
            f"{folder} is not a folder of evolve: it holds {min(names)}", remedy="name a new or an empty folder"
        )
    lock = Lock(folder / LOCK)
    try:
        yield folder
    finally:
        lock.release()


def settle(folder: Path, wanted: Mapping[str, object], limits: Limits) -> EvolutionReport | None:
    """Write what the search rests on, or compare it with what the folder holds. The report of a search that is done.

    Limits may change until the held-out part was looked at. Raises UserError.
    """
    path, now = folder / SETTINGS, {**wanted, "limits": asdict(limits), "folder": str(folder.resolve())}
    if path.exists():
        before = json.loads(read_within(path))
        differing = [name for name in wanted if before.get(name) != wanted[name]]
        if differing:
            same = differing[0] not in ("benchmark", "parts")
            what = f"it rests on other {differing[0]}" if same else "the benchmark changed since"
            raise UserError(f"{folder} holds a search on {before.get('dataset')}: {what}", remedy="use another folder")
        if before.get("limits") != now["limits"] and (folder / HELD).exists():
            raise UserError(
                f"{folder}: the held-out part was looked at; a longer search would be chosen by it",
                remedy="use another folder, and another --seed for another held-out part",
            )
        if before.get("folder") != now["folder"]:
            raise UserError(f"{folder} was moved from {before.get('folder')}", remedy="move it back, or use another")
    if (folder / RESULT).exists():
        return parse_record(EvolutionReport, read_within(folder / RESULT), str(folder / RESULT))
    write_whole(path, json.dumps(now, indent=2).encode() + b"\n")
    return None
