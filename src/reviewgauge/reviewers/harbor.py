"""What agents wrote in a job of Harbor, on tasks that `export harbor` made.

Source: Harbor 0.25, https://github.com/harbor-framework/harbor. Nothing is run: the review of each trial is placed in
its change, and its transcripts are searched for what only the pull request could have told.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.files import plain_file, read_file
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.records import Change, Review
from reviewgauge.core.results import Drop
from reviewgauge.core.trust import FilePath, Word
from reviewgauge.formats.plain import Plain
from reviewgauge.models.chat.client import current_tracker
from reviewgauge.reviewers.reading.harbor_tasks import task_names
from reviewgauge.reviewers.reading.harbor_trials import Trial, find_leaks, read_trials
from reviewgauge.reviewers.reading.review_files import default_system, fingerprint, placed, unique

_LEAK = "its transcript names the pull request or its history: the review may rest on the answers"
_EDITED = "its task was edited since it was exported: its digest is not that of dataset.toml"


@dataclass(frozen=True)
class Harbor(Reviewer):
    """Reads the job in the folder `path`; the trials of a task, in the order of their start, are its attempts.

    `agent` chooses one of several: its name, or with its model, `NAME/MODEL`. `tasks` is the folder that was exported;
    with it, trials on a task that was edited since are named.
    """

    example: ClassVar[str] = 'harbor(path="jobs/mine")'
    needs_diff: ClassVar[bool] = False

    path: FilePath = ""
    agent: Word = ""
    tasks: FilePath = ""
    trials: Mapping[str, tuple[Trial, ...]] = field(default_factory=dict, init=False, repr=False, compare=False)
    remarks: dict[str, list[str]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def default_name(self) -> str:
        """The agent, or the name of the folder."""
        return self.agent or default_system(self.path)

    def pins(self) -> Mapping[str, str]:
        """The SHA-256 of the results and the reviews."""
        if not self.path:
            return {}
        read = [trial for trial in self._chosen() if not trial.broken]
        found = [file for trial in read for file in (trial.folder / "result.json", trial.review()) if file]
        return {"sha256": fingerprint(found)}

    def prepare(self, changes: Sequence[Change]) -> Sequence[Drop]:
        """Find the trials of each change, and tell what is wrong with them. Raises UserError where there are none."""
        if not self.path:
            raise UserError("harbor needs a path", remedy=self.example)
        ids = [change.id or change.repo for change in changes]
        cases = dict(zip(task_names(ids), ids, strict=True))
        chosen = self._chosen()
        known = [trial for trial in chosen if trial.task in cases]
        if not known:
            problem = f"{self.path} has no trial of these {len(cases)} cases (it has one of {chosen[0].task})"
            raise UserError(problem, remedy="name the benchmark that was exported")
        trials = {case: tuple(t for t in known if t.task == task) for task, case in cases.items()}
        object.__setattr__(self, "trials", trials)
        drops = list(self._drops(changes, known))
        if others := Counter(trial.task for trial in chosen if trial.task not in cases):
            drops.append(_drop(f"{others.total()} trials, first of {min(others)}", "not in this benchmark"))
        if lost := [case for case in trials if not trials[case]]:
            drops.append(_drop(f"{len(lost)} cases, first {lost[0]}", "has no trial: a failure"))
        if (most := max(map(len, trials.values()))) > 1:
            drops.append(_drop(f"{most} trials of a task", f"review --attempts {most} takes them all"))
        return drops

    def review(self, change: Change) -> Review:
        """What the agent wrote in the trial of this attempt. Raises Failed as the trial did."""
        tracker = current_tracker()
        attempt = tracker.attempt if tracker else 1
        case = change.id or change.repo
        mine = self.trials.get(case, ())
        if len(mine) < attempt:
            raise BadInput(self.path, f"has {len(mine)} trials of {case}, not {attempt}")
        trial = mine[attempt - 1]
        if trial.broken:
            raise BadInput(self.path, trial.broken)
        if tracker is not None:
            tracker.add(trial.usage())
        trace = "\n".join([*self.remarks.get(trial.name, ()), *trial.trace()])
        if (failure := trial.failure()) is not None:
            failure.raw = "\n".join(filter(None, (trace, failure.raw)))
            raise failure
        file = trial.review()
        assert file is not None
        comments = unique(placed(Plain().read(read_file(file), f"{trial.name}/{file.name}"), change))
        return Review(case=case, system=self.system, comments=comments, trace=trace or None)

    def _chosen(self) -> list[Trial]:
        """The trials of the one agent. Raises UserError where there are several."""
        found = read_trials(Path(self.path).expanduser())
        agents = sorted({trial.agent for trial in found if trial.agent})
        wanted = [agent for agent in agents if not self.agent or self.agent in (agent, agent.partition("/")[0])]
        if len(wanted) > 1 or (agents and not wanted):
            raise UserError(f"{self.path} has trials of {', '.join(agents)}", remedy='choose one with agent="..."')
        return [trial for trial in found if trial.agent in ("", *wanted)]

    def _drops(self, changes: Sequence[Change], known: Sequence[Trial]) -> Iterator[Drop]:
        """What is known about each trial, which goes into the trace of its review too."""
        exported = self._exported()
        by_name = {trial.name: change for change in changes for trial in self.trials[change.id or change.repo]}
        for trial in known:
            found = list(self._found(trial, by_name[trial.name], exported))
            self.remarks[trial.name] = [
                f"{drop.reason} ({drop.detail})" if drop.detail else drop.reason for drop in found
            ]
            yield from found

    def _found(self, trial: Trial, change: Change, exported: Mapping[str, str]) -> Iterator[Drop]:
        if trial.broken:
            yield _drop(trial.name, "cannot be read: a failure", trial.broken)
            return
        if exported and trial.digest and exported.get(trial.task) != trial.digest:
            yield _drop(trial.name, _EDITED)
        value, sound = trial.reward()
        if not sound:
            yield _drop(trial.name, "its reward is not a finite number; its review is measured here", value)
        error = trial.result().get("exception_info")
        if error is not None and trial.failure() is None:
            yield _drop(trial.name, f"ended with {error.text('exception_type')}; what the agent wrote by then stands")
        for file in trial.transcripts():
            try:
                leaks = find_leaks(read_file(file).decode("utf-8", "replace"), change)
            except (BadInput, OSError) as error:
                yield _drop(trial.name, "was not searched for leaks", str(error))
                continue
            if leaks:
                yield _drop(trial.name, _LEAK, f"{file.name}: {', '.join(leaks[:10])}")

    def _exported(self) -> Mapping[str, str]:
        """The digest of each task as it was exported."""
        if not self.tasks:
            return {}
        file = Path(self.tasks).expanduser() / "dataset.toml"
        try:
            listed = tomllib.loads(read_file(plain_file(file)).decode())["tasks"]
            return {str(task["name"]).rpartition("/")[2]: str(task["digest"]) for task in listed}
        except (OSError, ValueError, KeyError, TypeError) as error:
            problem = f"is not the list of exported tasks: {error}"
            raise BadInput(str(file), problem, remedy="tasks= is the folder that `export harbor` wrote") from None


def _drop(item: str, reason: str, detail: str = "") -> Drop:
    return Drop(item=item, by="harbor", reason=reason, detail=detail)
