"""Every Eval Ever's records, the schema of public collections of results: one file a system, with intervals.

Source: https://github.com/evaleval/every_eval_ever, `eval.schema.json` 0.3.0. Its records of single samples want each
to be right or wrong, which a review is not: none are written.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from reviewgauge.analysis.compare.leaderboard import leaderboard
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import write_whole
from reviewgauge.core.protocols import Progress
from reviewgauge.core.reports.leaderboard import Estimate, Leaderboard, SystemSummary
from reviewgauge.core.results import Drop
from reviewgauge.core.trust import Word
from reviewgauge.core.version import __version__
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.scored_run import ScoredRun
from reviewgauge.exports.writing.export import Export, Material, Written

SCHEMA = "0.3.0"
UNKNOWN = "unknown"
_ODD = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True)
class EveryEvalEver(Export):
    """`data/COLLECTION/DEVELOPER/MODEL/UUID.json` for each system that was scored, each measure a result.

    `collection` is the name that the results get there (the data set's, when empty), `organisation` who made them,
    `relationship` whether those also made what was measured. A reviewer that asks one chat model is filed under that.
    """

    collection: Word = ""
    organisation: Word = UNKNOWN
    relationship: Literal["first_party", "third_party", "collaborative", "other"] = "other"

    def write(self, given: Material, out: Path, progress: Progress | None = None) -> Written:
        """Write the folder. Raises UserError for a run that was not scored."""
        assert given.run is not None
        if not given.scored:
            raise UserError(f"{given.run.path} was not scored yet", remedy=f"reviewgauge score {given.run.path} hits")
        boards = [(scored, leaderboard(scored)) for scored in given.scored]
        collection = _plain(self.collection or given.label)
        systems = list(dict.fromkeys(system for scored in given.scored for system in scored.systems))
        left_out: list[Drop] = []
        results = 0
        for done, system in enumerate(systems, 1):
            rows = [(scored, board, row) for scored, board in boards for row in board.systems if row.system == system]
            if any(row.fake for _, _, row in rows):
                left_out.append(Drop(item=system, by="every_eval_ever", reason="rests on answers of a fake model"))
                continue
            model = _model(given.scored[0], system)
            found = [one for row in rows for one in _results(given, *row)]
            undefined = sum(len(row.estimates) for _, _, row in rows) - len(found)
            if undefined:
                reason = f"{undefined} measures are undefined, and the schema takes numbers only"
                left_out.append(Drop(item=system, by="every_eval_ever", reason=reason))
            results += len(found)
            if found:
                self._write(given.run, out, collection, model, found)
            if progress is not None:
                progress(done, len(systems), system)
        written = len(list(out.glob("data/*/*/*/*.json")))
        hint = f"python -m every_eval_ever validate {out}/data/{collection}"
        return Written(
            counts={"files": written, "results": results}, left_out=tuple(left_out), hint=hint * bool(written)
        )

    def _write(
        self, run: RunFolder, out: Path, collection: str, model: Mapping[str, object], found: list[dict[str, object]]
    ) -> None:
        stamp = f"{run.manifest.created.timestamp():.0f}"
        name = f"{collection}/{model['id']}/{stamp}"
        record = {
            "schema_version": SCHEMA,
            "evaluation_id": name,
            "evaluation_timestamp": run.manifest.created.isoformat(),
            "retrieved_timestamp": stamp,
            "source_metadata": {
                "source_name": "ReviewGauge",
                "source_type": "evaluation_run",
                "source_organization_name": self.organisation,
                "evaluator_relationship": self.relationship,
            },
            "eval_library": {"name": "reviewgauge", "version": __version__},
            "model_info": model,
            "evaluation_results": [
                {"evaluation_result_id": f"{name}/{one['evaluation_name']}", **one} for one in found
            ],
        }
        text = json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False).encode()
        digest = uuid.uuid5(uuid.NAMESPACE_URL, f"{run.manifest.benchmark}/{name}")  # the same for the same run
        developer, _, rest = str(model["id"]).partition("/")
        folder = out / "data" / collection / _plain(developer) / _plain(rest)
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / f"{uuid.UUID(bytes=digest.bytes, version=4)}.json", text + b"\n")


def _plain(name: str) -> str:
    return _ODD.sub("-", name).strip("-.") or UNKNOWN


def _model(scored: ScoredRun, system: str) -> dict[str, object]:
    """What was measured: the chat model of a reviewer that asks one; the name alone of what is not known inside."""
    by = scored.reviewers.get(system)
    asked = by.reviewer.models if by is not None and by.reviewer is not None else ()
    developer, _, model = asked[0].partition("?")[0].partition(":") if len(asked) == 1 else ("", "", "")
    details = {"deployment_type": UNKNOWN, "model_availability": UNKNOWN, "reviewer": system, "models": " ".join(asked)}
    who = {"developer": developer} if model else {}
    named = f"{_plain(developer)}/{_plain(model)}_{_plain(system)}" if model else f"{UNKNOWN}/{_plain(system)}"
    return {"name": system, "id": named, **who, "additional_details": {k: v for k, v in details.items() if v}}


def _results(given: Material, scored: ScoredRun, board: Leaderboard, row: SystemSummary) -> Iterator[dict[str, object]]:
    """A result for each measure that has a value."""
    counts = row.model_dump(include={"cases", "scored", "failed", "not_applicable", "missing", "attempts"})
    about = {"signature": scored.signature, "benchmark": board.benchmark, **board.pins}
    details = {name: str(value) for name, value in counts.items()}
    for one in row.estimates:
        if one.value is None:
            continue
        unit = scored.metric.units.get(one.measure, "share")
        least = -1 if one.measure in scored.metric.signed else 0
        bounds = {name: str(value) for name in ("worst", "best") if (value := getattr(one, name)) is not None}
        yield {
            "evaluation_name": f"{board.label}.{one.measure}",
            "source_data": _source(given),
            "metric_config": {
                "metric_id": f"reviewgauge.{board.label}.{one.measure}",
                "metric_name": one.measure,
                "metric_unit": "proportion" if unit == "share" else unit,
                "lower_is_better": one.measure in scored.metric.lower_is_better,
                **({"score_type": "continuous", "min_score": least, "max_score": 1} if unit == "share" else {}),
                "additional_details": about,
            },
            "score_details": {
                "score": one.value,
                "details": {**details, **bounds},
                "uncertainty": _uncertainty(one, board.resamples),
            },
        }


def _uncertainty(one: Estimate, resamples: int) -> dict[str, object]:
    if one.low is None or one.high is None:
        return {"num_samples": one.n}
    method = f"percentile bootstrap over {one.clusters} clusters"
    interval = {"lower": one.low, "upper": one.high, "confidence_level": one.level, "method": method}
    return {"confidence_interval": interval, "num_samples": one.n, "num_bootstrap_samples": resamples}


def _source(given: Material) -> dict[str, object]:
    origin = given.card.origin if given.card is not None else ""
    if origin.startswith(("https://", "http://")) and not re.search(r"\s", origin):
        return {"dataset_name": given.label, "source_type": "url", "url": [origin]}
    return {"dataset_name": given.label, "source_type": "other"}
