"""The process that proposes. It is run as its own source text, with `gepa` and Python alone.

It reads one JSON line with its job, then asks its parent line by line: for rewards and feedback (`evaluate`), and for a
new text (`propose`). It gets the names of the cases that it may use and no others, reads no file of the user's, writes
none, and starts nothing: an audit hook refuses it, and bubblewrap, where there is one, leaves it nothing to reach.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_READS = ("open", "os.listdir", "os.scandir")
_REFUSED = ("os.", "shutil.", "socket.", "subprocess.", "pty.", "ctypes.", "sqlite3.", "fcntl.", "mmap.")
_NATIVE = {"ctypes", "_ctypes", "sqlite3", "_sqlite3", "readline", "_curses", "_dbm", "_gdbm"}  # open files unseen
Candidate = dict[str, str]


class Ended(BaseException):
    """The parent said that it is enough; no `except Exception` may take it for an error."""


class Parent:
    """Asks the parent. `used` are the evaluations so far, by its count."""

    def __init__(self, ask: Any, answer: Any) -> None:
        self._ask, self._answer, self.used = ask, answer, 0

    def ask(self, what: str, **values: Any) -> dict[str, Any]:
        """One question, one answer. Raises Ended."""
        self._ask.write(json.dumps({"ask": what, **values}) + "\n")
        self._ask.flush()
        line = self._answer.readline()
        if not line:
            raise Ended
        found: dict[str, Any] = json.loads(line)
        if found.get("stop"):
            raise Ended
        self.used = found.get("used", self.used)
        return found


def confine(standard: Sequence[str], libraries: Sequence[str]) -> None:
    """From now on refuse programs, the network, and all files but Python's own and those of `libraries`, to read."""
    own, others = (tuple(os.path.realpath(one) + os.sep for one in folders) for folders in (standard, libraries))
    installed = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))
    realpath, fspath = os.path.realpath, os.fsdecode
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        native = event == "import" and str(arguments[0]).rpartition(".")[2] in _NATIVE
        writes = event == "open" and (set(arguments[1] or "") & set("wax+") or (arguments[2] or 0) & writing)
        if native or writes or (event.startswith(_REFUSED) and event not in _READS):
            raise PermissionError(f"the process that proposes may not do this: {event} {arguments[:1]}")
        if event in _READS and arguments and isinstance(arguments[0], str | bytes | os.PathLike):
            path = realpath(fspath(arguments[0])) + os.sep
            if not (path.startswith(others) or (path.startswith(own) and not any(name in path for name in installed))):
                raise PermissionError(f"the process that proposes may not read {path}")

    sys.addaudithook(refuse)


class Adapter:
    """The `GEPAAdapter` of ReviewGauge: what is evaluated and told comes from the parent."""

    def __init__(self, parent: Parent) -> None:
        self.parent, self.round = parent, 0

    def evaluate(self, batch: list[str], candidate: Candidate, capture_traces: bool = False) -> Any:
        """Rewards of the named cases, with what happened on each where gepa asks for it."""
        from gepa.core.adapter import EvaluationBatch

        found = self.parent.ask("evaluate", candidate=candidate, cases=batch, traces=capture_traces)
        traces = [
            {"case": name, "reward": reward, "perfect": perfect}
            for name, reward, perfect in zip(batch, found["rewards"], found["perfect"], strict=True)
        ]
        return EvaluationBatch(
            outputs=list(batch), scores=found["rewards"], trajectories=traces if capture_traces else None
        )

    def make_reflective_dataset(
        self, candidate: Candidate, eval_batch: Any, components_to_update: list[str]
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The cases of the batch, the worst first; their evidence lies with the parent, who writes the prompt."""
        worst = sorted(eval_batch.trajectories, key=lambda one: one["reward"])
        return dict.fromkeys(components_to_update, worst)

    def propose_new_texts(
        self,
        candidate: Candidate,
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: list[str],
    ) -> Candidate:
        """The reflection model's text for each component; none where nothing could be better, or none was usable."""
        new = {}
        for name in components_to_update:
            self.round += 1
            cases = [one["case"] for one in reflective_dataset[name] if not one["perfect"]]
            if cases:
                answer = self.parent.ask("propose", component=name, candidate=candidate, cases=cases)
                if answer["text"]:
                    new[name] = answer["text"]
        return new


class Ending:
    """When gepa stops: before a round could break the budget of evaluations, and after too many without a gain."""

    def __init__(self, job: Mapping[str, Any], parent: Parent) -> None:
        self._job, self._parent = job, parent
        self._best, self._at = float("-inf"), 0

    def __call__(self, gepa_state: Any) -> bool:
        """Whether it is enough."""
        state = gepa_state
        best = max(sum(own.values()) / len(own) for own in state.prog_candidate_val_subscores)
        if best > self._best:
            self._best, self._at = best, state.i
        job, rounds = self._job, state.i + 1
        most = 2 * min(job["minibatch"], len(job["train"])) + len(job["selection"])
        return bool(
            rounds >= job["rounds"]
            or self._parent.used + most > job["evaluations"]
            or (job["patience"] and state.i - self._at >= job["patience"])
        )


class InTurns:
    """Which component a round changes: those that have a choice, in turns for each candidate."""

    def __init__(self, job: Mapping[str, Any]) -> None:
        self._free = [name for name in job["candidate"] if name not in job["fixed"]]

    def __call__(self, state: Any, trajectories: Any, scores: Any, candidate_idx: int, candidate: Any) -> list[str]:
        """One name."""
        turns = state.named_predictor_id_to_update_next_for_program_candidate
        turn = turns[candidate_idx] % len(self._free)
        turns[candidate_idx] = turn + 1
        return [self._free[turn]]


class _Log:
    def log(self, message: str) -> None:
        print(message, file=sys.stderr)


def evolve(job: Mapping[str, Any], parent: Parent) -> None:
    """By reflection, with gepa."""
    from gepa.api import optimize

    optimize(
        seed_candidate=dict(job["candidate"]),
        trainset=list(job["train"]),
        valset=list(job["selection"]),
        adapter=Adapter(parent),
        skip_perfect_score=False,
        reflection_minibatch_size=min(job["minibatch"], len(job["train"])),
        module_selector=InTurns(job),
        stop_callbacks=[Ending(job, parent)],
        logger=_Log(),
        seed=job["seed"],
    )


def search(job: Mapping[str, Any], parent: Parent) -> None:
    """At random: variants of the seed that know of no result, the baseline; as many evaluations as gepa may make."""
    draw = random.Random(job["seed"])
    seed, selection = dict(job["candidate"]), list(job["selection"])
    free = [name for name in seed if name not in job["fixed"]]
    best, quiet = _mean(parent.ask("evaluate", candidate=seed, cases=selection)), 0
    for number in range(1, job["rounds"] + 1):
        if parent.used + len(selection) > job["evaluations"] or (job["patience"] and quiet >= job["patience"]):
            return
        name = draw.choice(free)
        if name == "context":
            text = draw.choice([one for one in job["contexts"] if one != seed[name]])
            parent.ask("drawn", component=name, candidate=seed, text=text)
        else:
            text = parent.ask("vary", component=name, candidate=seed, number=number)["text"]
        quiet += 1
        if text:
            here = _mean(parent.ask("evaluate", candidate={**seed, name: text}, cases=selection))
            best, quiet = (here, 0) if here > best else (best, quiet)


def _mean(answer: Mapping[str, Any]) -> float:
    return float(sum(answer["rewards"]) / len(answer["rewards"]))


OPTIMIZERS: Mapping[str, Callable[[Mapping[str, Any], Parent], None]] = {"gepa": evolve, "random": search}


def main() -> None:
    """Read the job, confine this process, and optimise until it is enough."""
    answers = sys.stdin
    questions, sys.stdout = sys.stdout, sys.stderr  # what libraries print is no question
    job = json.loads(answers.readline())
    sys.path.extend(job["libraries"])
    if job["optimizer"] == "gepa":
        import gepa.api  # noqa: F401  (before the door closes)
    confine(job["standard"], job["packages"])
    parent = Parent(questions, answers)
    try:
        OPTIMIZERS[job["optimizer"]](job, parent)
        parent.ask("end")
    except Ended:
        pass


if __name__ == "__main__":
    main()
