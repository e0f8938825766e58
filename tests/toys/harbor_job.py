"""Jobs as Harbor 0.25 leaves them on disk: the fields of a real `result.json`, `lock.json` and trajectory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

STEPS = [
    {"step_id": 1, "source": "user", "message": "Review a change."},
    {"step_id": 2, "source": "agent", "message": [{"type": "text", "text": "Let me look."}],
        "tool_calls": [{"tool_call_id": "t1", "function_name": "bash", "arguments": {"command": "git log"}}],
        "observation": {"results": [{"source_call_id": "t1", "content": "head\nbase"}]}},
]  # fmt: skip


def write_trial(
    job: Path,
    task: str,
    name: str,
    *,
    review: object = (),
    error: str = "",
    reward: float | None = 1.0,
    started: str = "2026-11-28T10:00:00Z",
    steps: list[dict[str, Any]] | None = None,
    digest: str = "sha256:" + "0" * 64,
    agent: str = "claude-code",
) -> Path:
    """A trial of `task` in the folder `name`; without a review where that is None."""
    folder = job / f"{task}__{name}"
    for part in ("agent", "artifacts/logs/artifacts"):
        (folder / part).mkdir(parents=True)
    exception = {
        "exception_type": error,
        "exception_message": "it broke",
        "exception_traceback": "Traceback ...",
        "occurred_at": started,
    }
    result = {
        "id": "8a5d30fb-1150-417a-91a1-8d60abc4f40a",
        "task_name": f"reviewgauge/{task}",
        "trial_name": folder.name,
        "task_id": {"path": f"tasks/{task}"},
        "agent_info": {"name": agent, "version": "2.0", "model_info": {"name": "opus", "provider": "anthropic"}},
        "agent_result": {"n_input_tokens": 1200, "n_cache_tokens": 1000, "n_output_tokens": 80, "cost_usd": 0.25},
        "verifier_result": None if reward is None else {"rewards": {"reward": reward}},
        "exception_info": exception if error else None,
        "started_at": started,
        "agent_execution": {"started_at": "2026-11-28T10:00:00Z", "finished_at": "2026-11-28T10:00:09Z"},
        "step_results": None,
    }
    (folder / "config.json").write_text("{}")
    (folder / "result.json").write_text(json.dumps(result))
    (folder / "lock.json").write_text(json.dumps({"task": {"name": task, "digest": digest}}))
    trajectory = {"schema_version": "ATIF-v1.8", "steps": STEPS if steps is None else steps}
    (folder / "agent" / "trajectory.json").write_text(json.dumps(trajectory))
    if review is not None:
        (folder / "artifacts/logs/artifacts/review.json").write_text(json.dumps(review))
    return folder
