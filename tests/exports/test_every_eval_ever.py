"""A scored run as Every Eval Ever's records: the keys and types of its schema 0.3.0, and our figures."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from reviewgauge.analysis.compare.leaderboard import leaderboard
from reviewgauge.api.export import export
from reviewgauge.api.review import review
from reviewgauge.api.score import score
from reviewgauge.core.errors import UserError
from reviewgauge.engine.run.scored_run import read_scored_runs

TEXTS = "texts"  # an object whose values are texts
SCHEMA: Mapping[str, Any] = {  # what we write of the schema; a name with ! is required there
    "schema_version!": str,
    "evaluation_id!": str,
    "evaluation_timestamp": str,
    "retrieved_timestamp!": str,
    "source_metadata!": {
        "source_name": str,
        "source_type!": str,
        "source_organization_name!": str,
        "evaluator_relationship!": str,
    },
    "eval_library!": {"name!": str, "version!": str},
    "model_info!": {"name!": str, "id!": str, "developer": str, "additional_details!": TEXTS},
    "evaluation_results!": [
        {
            "evaluation_result_id": str,
            "evaluation_name!": str,
            "source_data!": {"dataset_name!": str, "source_type!": str, "url": [str]},
            "metric_config!": {
                "metric_id": str,
                "metric_name": str,
                "metric_unit": str,
                "lower_is_better!": bool,
                "score_type": str,
                "min_score": int,
                "max_score": int,
                "additional_details": TEXTS,
            },
            "score_details!": {
                "score!": float,
                "details": TEXTS,
                "uncertainty": {
                    "confidence_interval": {"lower!": float, "upper!": float, "confidence_level": float, "method": str},
                    "num_samples": int,
                    "num_bootstrap_samples": int,
                },
            },
        }
    ],
}


def check(value: Any, schema: Any, at: str = "") -> None:
    """Fail where a required key is missing, one is not in the schema, or a value has another type."""
    if schema is TEXTS:
        assert all(isinstance(one, str) for one in value.values()), at
    elif isinstance(schema, list):
        assert value, at
        for one in value:
            check(one, schema[0], f"{at}[]")
    elif isinstance(schema, dict):
        known = {name.rstrip("!"): inner for name, inner in schema.items()}
        assert set(value) <= set(known), f"{at}: {set(value) - set(known)}"
        assert {name[:-1] for name in schema if name.endswith("!")} <= set(value), at
        for name, one in value.items():
            check(one, known[name], f"{at}.{name}")
    else:
        assert type(value) in ((int, float) if schema is float else (schema,)), f"{at}: {value!r}"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("eee") / "run"
    review("sample", "recorded", "silent", "prompt(model='fake:example')", run=folder, limit=8)
    score(folder, "hits", "chrf", resamples=20)
    return folder


@pytest.fixture(scope="module")
def written(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("eee") / "out"
    result = export("every_eval_ever(collection='wayside', organisation='Acme')", run, out)
    assert {drop.item for drop in result.left_out if "fake model" in drop.reason} == {"prompt(model='fake:example')"}
    assert result.counts["files"] == len(list(out.rglob("*.json"))) > 1
    return out


def records(out: Path) -> list[dict[str, Any]]:
    return [json.loads(file.read_bytes()) for file in sorted(out.rglob("*.json"))]


def test_each_record_has_the_keys_and_types_of_the_schema(written: Path) -> None:
    for record in records(written):
        check(record, SCHEMA)
        details = record["model_info"]["additional_details"]
        assert {"deployment_type", "model_availability"} <= set(details)
        ids = [one["evaluation_result_id"] for one in record["evaluation_results"]]
        assert len(set(ids)) == len(ids)


def test_files_lie_where_the_collection_keeps_them_and_have_the_same_names_again(
    run: Path, written: Path, tmp_path: Path
) -> None:
    names = {file.relative_to(written).as_posix() for file in written.rglob("*.json")}
    four = r"data/wayside/[\w.-]+/[\w.-]+/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.json"
    assert all(re.fullmatch(four, name) for name in names)
    again = tmp_path / "again"
    export("every_eval_ever(collection='wayside')", run, again)
    assert {file.relative_to(again).as_posix() for file in again.rglob("*.json")} == names


def test_the_figures_are_those_of_the_leaderboard(run: Path, written: Path) -> None:
    ours = {
        (row.system, f"{board.label}.{one.measure}"): one
        for board in map(leaderboard, read_scored_runs([run]))
        for row in board.systems
        if not row.fake
        for one in row.estimates
        if one.value is not None
    }
    theirs = {
        (record["model_info"]["name"], one["evaluation_name"]): one["score_details"]
        for record in records(written)
        for one in record["evaluation_results"]
    }
    assert set(theirs) == set(ours)
    for key, one in ours.items():
        assert theirs[key]["score"] == one.value
        interval = theirs[key]["uncertainty"].get("confidence_interval")
        assert (interval is None) == (one.low is None)
        assert interval is None or (interval["lower"], interval["upper"]) == (one.low, one.high)


def test_a_run_without_scores_and_a_benchmark_are_refused(tmp_path: Path) -> None:
    review("sample", "silent", run=tmp_path / "run", limit=2)
    with pytest.raises(UserError, match=r"was not scored yet.*reviewgauge score"):
        export("every_eval_ever", tmp_path / "run", tmp_path / "out")
    with pytest.raises(UserError, match="takes a run"):
        export("every_eval_ever", "sample", tmp_path / "out")
