"""The reviews of runs, put onto another version of their benchmark: the same changes, other references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case
from reviewgauge.core.results import Outcome
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.manifest import same_change
from reviewgauge.engine.run.scored_run import rename_systems, renamed_labels


def carry_over(runs: Sequence[RunFolder], paths: Sequence[str | Path], target: RunFolder) -> int:
    """Put the reviews and failures of `runs` into `target`, with who made them; returns how many were new there.

    Changes that `target` does not have any more are left out. Systems that have the same name in two runs get their
    run's name in front. Raises UserError where `target` has no reviewed change, has another one under its id, or holds
    another review.
    """
    cases = target.cases_by_id()
    for run, path in zip(runs, paths, strict=True):
        _check_changes(run, path, cases, target.manifest.dataset)
    names = rename_systems([{one.system for one in run.outcomes()} for run in runs], paths)
    known = {one.key: one for one in target.outcomes()}
    added = 0
    for run, path, new in zip(runs, paths, names, strict=True):
        for system, entry in run.manifest.systems.items():
            target.add_systems({new.get(system, system): entry.pins}, entry.signature)
        for outcome in (one for one in run.outcomes() if one.case in cases):
            named = _renamed(outcome, new.get(outcome.system, outcome.system))
            before = known.get((named.case, named.system, named.attempt))
            if before == named:
                continue
            if before is not None and before.review is not None:
                raise UserError(
                    f"{target.path} holds another review of {named.case} by {named.system} than {path}",
                    remedy="name a new folder",
                )
            target.append_outcome(named, sync=False)
            added += 1
        target.add_labels(renamed_labels(run, new))
    target.sync()
    return added


def _check_changes(run: RunFolder, path: str | Path, cases: Mapping[str, Case], dataset: str) -> None:
    remedy = "reviews count on the very changes that they are about: reviewgauge review makes new ones"
    reviewed = {one.case for one in run.outcomes()}
    if reviewed and not reviewed & cases.keys():
        raise UserError(f"no change that {path} reviewed is in {dataset}", remedy=remedy)
    for case in run.cases():
        if case.id in reviewed and case.id in cases and not same_change(case.change, cases[case.id].change):
            raise UserError(f"{case.id}, which {path} reviewed, is another change in {dataset}", remedy=remedy)


def _renamed(outcome: Outcome, system: str) -> Outcome:
    review = outcome.review and outcome.review.model_copy(update={"system": system})
    return outcome.model_copy(update={"system": system, "review": review})
