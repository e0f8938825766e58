"""inspect_ai's logs: one a system, which its viewer and its data frames read.

Source: inspect_ai 0.3.285, `EvalLog`, version 2 of the log format. The same log comes back with
`replay(path="log.json", format="inspect")`.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reviewgauge.analysis.compare.leaderboard import leaderboard
from reviewgauge.core.base import content_id
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import write_whole
from reviewgauge.core.protocols import Progress
from reviewgauge.core.records import Case, Change, Usage
from reviewgauge.core.reports.leaderboard import Leaderboard
from reviewgauge.core.results import Drop, Outcome, Score
from reviewgauge.core.trust import Word
from reviewgauge.core.version import __version__
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.manifest import Manifest
from reviewgauge.engine.run.scored_run import ScoredRun
from reviewgauge.exports.writing.export import Export, Material, Written
from reviewgauge.exports.writing.inspect_scores import inspect_score, review_text
from reviewgauge.formats.inspect import LAYOUT, LOG_VERSION, OURS, carried
from reviewgauge.reviewers.reading.change_text import diff_text

_NAMED = (".json", ".eval")
_ODD = re.compile(r"[^A-Za-z0-9.]+")


@dataclass(frozen=True)
class Inspect(Export):
    """A sample a case, an epoch an attempt, a scorer a metric, with intervals in the metadata of inspect's metrics.

    `-o log.json` is one log, and so is `-o log.eval`, for which inspect_ai must be installed. Other names are folders
    with a log of each system, named as inspect_ai looks for them. `system` takes one of several.
    """

    system: Word = ""

    def write(self, given: Material, out: Path, progress: Progress | None = None) -> Written:
        """Write the log, or the folder of logs."""
        assert given.run is not None
        systems = self._chosen(list(given.run.manifest.systems), out)
        one = out.suffix in _NAMED
        logs = _Logs(given, given.run)
        left_out: list[Drop] = []
        names = _file_names(systems, given.run.manifest)
        for done, (system, name) in enumerate(zip(systems, names, strict=True), 1):
            log, missing = logs.log(system)
            _write(log, out if one else out / name)
            if missing:
                left_out.append(Drop(item=f"{system}: {missing} cases", by="inspect", reason="were not reviewed"))
            if progress is not None:
                progress(done, len(systems), system)
        counts = {"logs": len(systems), "samples": logs.samples, "scores": logs.scores}
        hint = f'samples_df("{out}") of inspect_ai.analysis' if one else f"inspect view --log-dir {out}"
        return Written(counts=counts, left_out=tuple(left_out), hint=hint)

    def _chosen(self, systems: list[str], out: Path) -> list[str]:
        shown = ", ".join(systems)
        if self.system and self.system not in systems:
            raise UserError(f"the run has no system {self.system!r}", remedy=f"there are: {shown}")
        chosen = [self.system] if self.system else systems
        if not chosen:
            raise UserError("the run holds no reviews", remedy="reviewgauge review DATASET REVIEWER -o RUN")
        if len(chosen) > 1 and out.suffix in _NAMED:
            remedy = f"""name a folder, or one of them: 'inspect(system="{chosen[0]}")'"""
            raise UserError(f"{out.name} is one log, and the run has {len(chosen)} systems ({shown})", remedy=remedy)
        return chosen


def _file_names(systems: Sequence[str], run: Manifest) -> list[str]:
    """`TIME_TASK_SYSTEM.json`: inspect_ai lists a JSON file of a folder only where it begins with a time."""
    when = run.created.strftime("%Y-%m-%dT%H-%M-%S+00-00")
    names = ["_".join([when, *(_ODD.sub("-", word) for word in (run.dataset, system))]) for system in systems]
    return [name + f"-{at}" * (name in names[:at]) + ".json" for at, name in enumerate(names)]


def _write(log: Mapping[str, object], out: Path) -> None:
    if out.suffix != ".eval":
        write_whole(out, json.dumps(log, ensure_ascii=False, indent=1).encode())
        return
    try:
        from inspect_ai.log import EvalLog, write_eval_log
    except ImportError:
        problem = f"{out.name}: inspect_ai writes .eval logs, and is not installed"
        raise UserError(
            problem, remedy=f"pip install inspect_ai, or -o {Path(out.name).with_suffix('.json')}"
        ) from None
    write_eval_log(EvalLog.model_validate(log), str(out))


class _Logs:
    """The logs of a run's systems, made one after another."""

    def __init__(self, given: Material, run: RunFolder) -> None:
        self.given, self.manifest = given, run.manifest
        self.samples = self.scores = 0
        self._of_system: defaultdict[str, list[Outcome]] = defaultdict(list)
        for outcome in run.outcomes():
            self._of_system[outcome.system].append(outcome)
        self._boards = [(scored, leaderboard(scored)) for scored in given.scored]

    def log(self, system: str) -> tuple[dict[str, object], int]:
        """The log of one system, as inspect_ai's model has it, and how many cases it did not review."""
        places = {case.id: at for at, case in enumerate(self.given.cases)}
        outcomes = sorted(self._of_system[system], key=lambda o: (places[o.case], o.attempt))
        of_metric = [
            (scored, {score.key: score for score in scored.scores if score.system == system})
            for scored, _ in self._boards
        ]
        samples = [self._sample(self.given.cases[places[o.case]], o, of_metric) for o in outcomes]
        missing = len(places) - len({outcome.case for outcome in outcomes})
        self.samples += len(samples)
        scores = [_eval_score(scored, board, system) for scored, board in self._boards if system in scored.systems]
        usage = _usage([outcome.review.usage if outcome.review else outcome.usage for outcome in outcomes])
        times = {"started_at": self.manifest.created.isoformat(), "completed_at": self.manifest.created.isoformat()}
        log = {
            "version": LOG_VERSION,
            "status": "success",
            "eval": self._spec(system, max((o.attempt for o in outcomes), default=1)),
            "plan": {"name": "plan", "steps": [{"solver": self.manifest.systems[system].signature}]},
            "results": {
                "total_samples": len(samples) + missing,
                "completed_samples": sum(outcome.review is not None for outcome in outcomes),
                "scores": scores,
            },
            "stats": {**times, "model_usage": {system: usage} if usage else {}},
            "samples": samples,
        }
        return log, missing

    def _spec(self, system: str, epochs: int) -> dict[str, object]:
        run, ids = self.manifest, [case.id for case in self.given.cases]
        own = {"layout": LAYOUT, "benchmark": run.benchmark, "dataset": run.dataset, "system": system}
        name = content_id(run.benchmark, run.created.isoformat(), system)
        return {
            "eval_id": name,
            "run_id": name,
            "task_id": name,
            "created": run.created.isoformat(),
            "task": run.dataset,
            "dataset": {"name": run.dataset, "samples": len(ids), "sample_ids": ids},
            "model": system,
            "config": {"epochs": epochs},
            "packages": {"reviewgauge": __version__},
            "metadata": {OURS: own},
        }

    def _sample(
        self, case: Case, outcome: Outcome, of_metric: Sequence[tuple[ScoredRun, Mapping[tuple[str, str, int], Score]]]
    ) -> dict[str, object]:
        review, failure = outcome.review, outcome.failure
        scores = {
            scored.label: inspect_score(scored.metric, found, case, review)
            for scored, by_key in of_metric
            if (found := by_key.get(outcome.key)) is not None
        }
        self.scores += len(scores)
        asked = [{"role": "user", "content": _question(case.change)}]
        answer = {"role": "assistant", "content": review_text(review)} if review else None
        spent = review.usage if review else outcome.usage
        usage = _usage([spent])
        sample = {
            "id": case.id,
            "epoch": outcome.attempt,
            "input": asked,
            "target": [reference.body for reference in case.references],
            "messages": [*asked, answer] if answer else asked,
            "output": {
                "model": outcome.system,
                "choices": [{"message": answer, "stop_reason": "stop"}] if answer else [],
            },
            "scores": scores,
            "metadata": {**case.facts, "repo": case.change.repo, "url": case.change.url, OURS: carried(outcome)},
            "model_usage": {outcome.system: usage} if usage else {},
            "total_time": spent.seconds,
        }
        if failure is not None:
            message = f"{failure.kind}: {failure.message}"
            sample["error"] = {"message": message, "traceback": failure.raw or "", "traceback_ansi": failure.raw or ""}
        return sample


def _question(change: Change) -> str:
    diff = f"```diff\n{diff_text(change)}\n```" if change.has_diff else ""
    return "\n\n".join(filter(None, (change.title, change.description, diff))) or change.repo


def _usage(usages: Sequence[Usage]) -> dict[str, object]:
    """What was spent on models, as inspect_ai counts it; empty where nothing was."""
    into, out = sum(one.tokens_in for one in usages), sum(one.tokens_out for one in usages)
    if not into + out:
        return {}
    prices = [one.dollars for one in usages if one.calls]
    known = [price for price in prices if price is not None]
    whole = {"total_cost": sum(known)} if len(known) == len(prices) else {}
    return {"input_tokens": into, "output_tokens": out, "total_tokens": into + out, **whole}


def _eval_score(scored: ScoredRun, board: Leaderboard, system: str) -> dict[str, object]:
    """A metric's measures of one system, over all cases; bounds and counts stand in the metadata."""
    row = next(row for row in board.systems if row.system == system)
    estimates = sorted(row.estimates, key=lambda one: one.measure != board.headline)  # the first is the headline
    return {
        "name": scored.label,
        "scorer": scored.label,
        "scored_samples": row.scored,
        "unscored_samples": row.cases - row.scored,
        "metrics": {
            one.measure: {
                "name": one.measure,
                "value": one.value,
                "metadata": one.model_dump(mode="json", exclude={"measure", "value"}, exclude_none=True),
            }
            for one in estimates
            if one.value is not None
        },
        "metadata": {
            "signature": scored.signature,
            **row.model_dump(mode="json", include={"cases", "failed", "not_applicable", "missing", "attempts"}),
            **({"estimate": board.estimate_note} if board.estimate_note else {}),
            "warnings": list(board.warnings),
        },
    }
