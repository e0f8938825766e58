"""A benchmark is a task of inspect_ai: its solvers review, our scorer scores, and the log's figures are ours."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import reviewgauge
from reviewgauge.api.review import review
from reviewgauge.api.score import score
from reviewgauge.core.errors import MissingExtra, UserError

SOLVER = """
from inspect_ai.model import ModelOutput
from inspect_ai.solver import solver
from inspect_ai.util import sandbox

@solver
def looks_around():
    async def solve(state, generate):
        diff = await sandbox().read_file("change.diff")
        path = next(line[6:] for line in diff.splitlines() if line.startswith("+++ b/"))
        code = await sandbox().read_file("repo/" + path)
        said = f"- {path}:1: it has {len(code.splitlines())} lines, too many"
        state.output = ModelOutput.from_content("mockllm/model", said)
        return state
    return solve
"""


@pytest.fixture
def package() -> Any:
    return pytest.importorskip("inspect_ai", reason="inspect_ai is not installed: pip install 'reviewgauge[inspect]'")


def test_without_the_package_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    monkeypatch.delitem(sys.modules, "reviewgauge.inspect", raising=False)
    monkeypatch.delitem(vars(reviewgauge), "inspect", raising=False)
    with pytest.raises(MissingExtra, match=r"reviewgauge\[inspect\]"):
        _ = reviewgauge.inspect


def _answer(messages: Any, *_: object) -> Any:
    """The report that the question asks for, a list in Markdown, or no review at all, by the change's length."""
    from inspect_ai.model import ModelOutput, ModelUsage

    question = "\n".join(message.text for message in messages)
    found = re.search(r"^\+\+\+ b/(.+)$", question, re.M)
    assert found is not None
    finding = {"area": "other", "severity": "high", "file": found[1], "code": "", "comment": "Off by one page"}
    report = json.dumps({"tests": "none", "security": "none", "findings": [finding]})
    texts = [report, f"- {found[1]}:5: off by one\n- {found[1]}:9: never closed", "I cannot help with that.", ""]
    output = ModelOutput.from_content("mockllm/model", texts[len(question) % 4])
    output.usage = ModelUsage()  # which the package else counts with words from the network
    return output


def test_its_figures_are_ours_and_the_log_is_a_run(package: Any, tmp_path: Path) -> None:
    from inspect_ai import eval as evaluate
    from inspect_ai.model import get_model

    model = get_model("mockllm/model", custom_outputs=_answer)
    settings: dict[str, Any] = {"log_dir": str(tmp_path / "logs"), "log_format": "json", "display": "none", "epochs": 2}
    (log,) = evaluate("reviewgauge/benchmark", task_args={"dataset": "sample"}, model=model, **settings)
    assert log.status == "success", log.error
    (found,) = log.results.scores
    path = next((tmp_path / "logs").glob("*.json"))
    review("sample", f'replay(path="{path}", name="agent")', run=tmp_path / "run", attempts=2)
    (board,) = score(tmp_path / "run", "hits", resamples=10).leaderboards
    (row,) = board.systems
    ours = {one.measure: one.value for one in row.estimates if one.value is not None}
    assert {name: one.value for name, one in found.metrics.items()} == pytest.approx(ours)
    assert next(iter(found.metrics)) == "f1" and row.failed and row.scored and row.fake
    assert (found.scored_samples, found.unscored_samples) == (row.scored, row.failed)
    reasons = {sample.scores["hits"].reason for sample in log.samples}
    assert reasons == {None, "invalid_response_format", "no_response"}


def test_a_solver_finds_the_code_in_its_sandbox(package: Any, tmp_path: Path) -> None:
    (tmp_path / "solver.py").write_text(SOLVER)
    program = Path(sys.executable).with_name("inspect")
    words = "eval reviewgauge/benchmark -T dataset=sample -T sandbox=local --solver solver.py --model mockllm/model"
    more = f"--limit 2 --display none --log-format json --log-dir {tmp_path / 'logs'}"
    command = [str(program), *words.split(), *more.split()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    log = json.loads(next((tmp_path / "logs").glob("*.json")).read_bytes())
    assert log["status"] == "success", log.get("error")
    said = [sample["metadata"]["reviewgauge"]["outcome"]["review"]["comments"] for sample in log["samples"]]
    assert [len(one) for one in said] == [1, 1] and all("lines, too many" in one[0]["body"] for one in said)
    assert all(set(sample["metadata"]) == {"reviewgauge"} for sample in log["samples"])


def test_a_metric_that_needs_all_systems_is_refused(package: Any) -> None:
    from reviewgauge.inspect import hits

    with pytest.raises(UserError, match="looks at all systems of a run together"):
        hits(metric="hits(second_stage=True)")
