"""The procedures of three papers, end to end: a forge, a model, a build that is killed half-way and goes on."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from documented import home, run_here
from fake_rules.behaviours import by_rules
from fake_rules.rules import RULES
from paper_pulls import FUNNELS, TO_LOCATE, UNSURE_FILE, WHY
from recorded_forge import TOKEN, Forge, serve
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case, Resolution, Task
from reviewgauge.engine.build.recipes import make_stages, read_recipe, recipe_names, set_parameters
from reviewgauge.models.request.messages import Message, Request, Role
from reviewgauge.stages.classify import CATEGORIES
from reviewgauge.stages.sampling.balance import balance, changed_and_clean
from reviewgauge.stages.select_repos import CONTEXT_LANGUAGES
from reviewgauge.stages.split_hunks import OUTDATED, SplitHunks
from reviewgauge.stages.stratify import Stratify
from reviewgauge.stages.where import Where
from scripted_models import Messages, ScriptedModel, scripted
from waiting import until

pytestmark = pytest.mark.processes

NAME = "acme/shop"
IN_FLIGHT = 4
SAMPLED = ("resample", "stratify")  # what these drop is drawn by chance
SAMPLES = {"swr_bench": {"sample": "3"}, "context_crbench": {"per_cell": "4"}, "aacr_bench": {"sample": "10"}}
SIZES = {"swr_bench": 6, "context_crbench": 4, "aacr_bench": 10}
PAPERS = tuple(FUNNELS)


class Bench:
    """One benchmark that is built in a folder of its own; `start` starts a process that can be killed."""

    def __init__(self, folder: Path, recipe: str, forge: Forge, model: str, **more: str) -> None:
        self.folder, self.out, self.recipe, self.forge = folder, folder / "bench", recipe, forge
        settings = {"api": forge.url, "model": model}
        settings |= SAMPLES[recipe]
        if recipe == "swr_bench":
            settings["repos"] = repr((NAME,))
        else:
            settings["candidates"] = str(folder / "repositories.csv")
            heading = "name,language,stars,new_stars,issues_and_pulls,closed_pulls,active,language_share"
            rows = (
                f"{NAME},Python,900,900,5001,900,2025-03-20,0.97",
                "acme/rare,COBOL,900,800,9000,800,2025-03-20,0.9",
            )
            (folder / "repositories.csv").write_text("\n".join((heading, *rows, "")))
        if recipe == "aacr_bench":
            settings["reviewers"] = repr((f"prompt(model={model!r})",))
        settings |= more
        options = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
        self.words = ["build", ".", "-o", str(self.out), "--recipe", recipe, *options]
        self.words += ["--in-flight", str(IN_FLIGHT), "--json"]

    def start(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "reviewgauge", *self.words]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=self.folder, env=home(self.folder), stdout=pipe, stderr=pipe, text=True)

    def finish(self) -> dict[str, Any]:
        """Run it to its end, in this process; what it printed."""
        done = run_here(self.folder, *self.words)
        assert done.returncode in (0, 1), done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        assert done.returncode == (0 if found["card"]["cases"] else 1)
        return found

    def cases(self) -> list[Case]:
        return [Case.model_validate_json(line) for line in (self.out / "cases.jsonl").read_bytes().splitlines()]

    def drops(self) -> list[dict[str, str]]:
        return [json.loads(line) for line in (self.out / "drops.jsonl").read_bytes().splitlines()]


def as_fake(messages: Messages) -> str:
    """What the fake model says to a conversation that came over the wire."""
    sent = tuple(Message(role=Role(one["role"]), text=one["content"]) for one in messages)
    return by_rules(Request(messages=sent)) or ""


class Unsure:
    """The fake model, but for one pull request, of which it sees no change-point when it is asked again."""

    def __init__(self) -> None:
        self._asked: Counter[str] = Counter()
        self.then: Callable[[int], None] = lambda number: None
        self.answered = 0

    def __call__(self, messages: Messages) -> str:
        text = "\n".join(one["content"] for one in messages)
        self._asked[text] += 1
        self.answered += 1
        self.then(self.answered)
        if RULES[-1].opening in text and UNSURE_FILE in text and self._asked[text] == 2:
            return '{"points": []}'
        return as_fake(messages)


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")


@pytest.fixture(scope="module")
def forge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forge]:
    with serve(tmp_path_factory.mktemp("forge"), "papers") as running:
        yield running


def kill_when(process: subprocess.Popen[str], reached: threading.Event) -> None:
    """Kill it, with no chance to clean up, as soon as it got so far."""
    until(reached.is_set, process)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL


def number_of(item: str) -> int | None:
    match = re.match(rf"{NAME}/pull/(\d+)", item)
    return int(match[1]) if match else None


# --- the recipes ---------------------------------------------------------------------------------------------------


@pytest.mark.drill
@pytest.mark.parametrize("recipe", PAPERS)
def test_each_filter_drops_what_it_is_for(recipe: str, tmp_path: Path, forge: Forge) -> None:
    """The one of most calls is killed on the way, and goes on."""
    forge.asked.clear()
    model, reached = Unsure(), threading.Event()
    with scripted(model) as endpoint:
        bench = Bench(tmp_path, recipe, forge, endpoint.spec)
        if recipe == "aacr_bench":
            half = 40
            model.then = lambda number: reached.set() if number == half else None
            kill_when(bench.start(), reached)
            assert not (bench.out / "cases.jsonl").exists(), "a folder never holds half a benchmark"
            crawled, asked = len(forge.asked), model.answered
            result = bench.finish()
            again = [one for one in forge.asked[crawled:] if one.status == 200 and "/pulls/1" in one.path]
            assert again == [], "no pull request is read twice"
            assert half <= asked < model.answered
        else:
            result = bench.finish()
        _check_funnel(FUNNELS[recipe], bench, result["card"]["funnel"])
        _check_nothing_was_paid_twice(endpoint, recipe)
        if recipe == "context_crbench":
            hashed, paid = result["card"]["benchmark"], model.answered
            assert bench.finish()["card"]["benchmark"] == hashed
            assert model.answered == paid, "another run asks for nothing"
    assert len(bench.cases()) == result["card"]["cases"] == SIZES[recipe]
    CHECKS[recipe](bench.cases())


@pytest.mark.drill
def test_to_locate_takes_unmerged_entries_without_what_is_outdated(tmp_path: Path, forge: Forge) -> None:
    bench = Bench(tmp_path, "context_crbench", forge, "fake:rules", task="locate")
    result = bench.finish()
    _check_funnel(TO_LOCATE, bench, result["card"]["funnel"])
    cases = bench.cases()
    assert {case.change.task for case in cases} == {Task.LOCATE}
    assert {case.verdict for case in cases} == {False}, "unmerged entries only, by one --set"
    assert len(cases) == 4
    assert all(case.references for case in cases)
    assert "never closed" not in _said(cases), "the adopted ones are outdated"


def _check_funnel(expected: Sequence[tuple[str, frozenset[int]]], bench: Bench, rows: Sequence[dict[str, Any]]) -> None:
    """Each stage drops what the project says, and what one keeps is what the next one gets."""
    for before, after in pairwise(rows):
        assert before["kept"] == after["entered"]
        assert after["entered"] + after["made"] == after["kept"] + after["dropped"] + after["failed"]
    assert sum(row["failed"] for row in rows) == 0
    found: list[tuple[str, frozenset[int]]] = []
    for stage, numbers in _dropped_in_turn(bench):
        if numbers:
            found.append((stage, numbers))
    assert found == list(expected)
    named = {_name(row["stage"]) for row in rows if row["dropped"]}
    assert {stage for stage, _ in expected} <= named


def _name(spec: str) -> str:
    """The name of a stage, and of `where` its fact, since it stands several times in a recipe."""
    fact = re.match(r"where\(fact='(\w+)'", spec)
    return f"where {fact[1]}" if fact else spec.partition("(")[0]


def _dropped_in_turn(bench: Bench) -> list[tuple[str, frozenset[int]]]:
    """(stage, pull requests that it dropped) in the order of the recipe; a stage that stands twice drops twice."""
    whole: dict[str, set[int]] = defaultdict(set)
    parts: dict[str, set[int]] = defaultdict(set)
    for drop in bench.drops():
        number = number_of(drop["item"])
        if number is not None and drop["reason"] != OUTDATED:
            is_part = "/hunk/" in drop["item"] or "/thread-" in drop["item"]
            (parts if is_part else whole)[_name(drop["by"])].add(number)
    found: list[tuple[str, frozenset[int]]] = []
    split = False
    for step in read_recipe(bench.recipe).stage:
        name = _name(step.use)
        if name in SAMPLED:
            continue
        split = split or name == "split_hunks"
        found.append((name, frozenset((parts if split else whole)[name])))
    return found


def _check_nothing_was_paid_twice(endpoint: ScriptedModel, recipe: str) -> None:
    """Each question was asked as often as the recipe says, but for those that were not kept yet at the kill."""
    each = 3 if recipe == "swr_bench" else 5
    asked = Counter(json.dumps(messages) for messages in endpoint.asked)
    assert sum(max(0, count - each) for count in asked.values()) <= 2 * IN_FLIGHT


def _check_swr(cases: Sequence[Case]) -> None:
    (commits, *_) = balance(("final_commits",), *changed_and_clean(cases, ("final_commits",))[:2])
    assert commits.mean_changed == 2 and (commits.mean_clean or 0) > 1, "also of those that are cut back to one commit"
    assert commits.smd is None or abs(commits.smd) < 1.2, "cut back and as merged it was -1.83"
    clean = {number_of(case.id) for case in cases if case.clean}
    assert len(clean) == len(cases) / 2 == 3
    assert clean <= {90, 105, 106, 107, 116, 117}, "where nothing that was said was changed"
    for case in cases:
        if not case.clean:
            assert case.verdict is False
            assert all(point.category and point.resolution is not None for point in case.references)
            assert case.change.head != (case.references[0].resolution or Resolution()).commit


def _check_context(cases: Sequence[Case]) -> None:
    assert {case.change.task for case in cases} == {Task.ASSESS}
    assert Counter(case.verdict for case in cases) == {True: 2, False: 2}
    for case in cases:
        assert len(case.change.files) == 1
        assert [one.number for one in case.change.issues] == [(number_of(case.id) or 0) + 400]
        assert case.change.issues[0].title.startswith("No discount for")
        assert {one.kind for one in case.change.snippets} <= {"function", "class", "file", "window"}
        assert bool(case.references) is not case.verdict
        assert case.facts["language"] == "Python"
    drawn = {number_of(case.id) for case in cases if case.verdict is False}
    assert "never closed" in _said(cases), "a hunk is taken as it was before the comment was acted on"
    assert drawn.isdisjoint({104, 105, 106, 107, 117}), "what was commented on, and merged like that"


def _said(cases: Sequence[Case]) -> str:
    return "".join(one.body for case in cases for one in case.references)


def _check_aacr(cases: Sequence[Case]) -> None:
    for case in cases:
        assert case.facts["revision"] == 1
        assert case.facts["domain"]
        assert {one.needs for one in case.references} != {None}
        both = (*case.references, *case.neutral)
        assert {one.category in CATEGORIES for one in both if one.needs is not None} == {True}
    said = [one.body for case in cases for one in case.references]
    assert any("never closed" in body for body in said), "also the adopted ones: the state they were said on was chosen"


CHECKS: dict[str, Callable[[Sequence[Case]], None]] = {
    "swr_bench": _check_swr,
    "context_crbench": _check_context,
    "aacr_bench": _check_aacr,
}


def test_each_pull_request_is_dropped_by_the_filter_that_it_was_made_for() -> None:
    for number, (special, stage) in WHY.items():
        name = stage.partition(",")[0]
        if name and name != "since":
            dropped = [numbers for funnel in (*FUNNELS.values(), TO_LOCATE) for by, numbers in funnel if by == name]
            assert any(number in numbers for numbers in dropped), f"{number}: {special}"


# --- recipe files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", recipe_names())
def test_each_recipe_loads_and_says_why_it_has_each_stage(name: str) -> None:
    recipe = read_recipe(name)
    words = {"model": "fake:rules", "reviewers": "('silent',)", "reviews_by": "('bob',)"}
    settings = {name: words[name] for name in recipe.required}
    stages = make_stages(recipe, set_parameters(recipe, settings))
    assert len(stages) == len(recipe.stage)
    assert all(step.why for step in recipe.stage)
    assert recipe.title
    assert recipe.source


def test_context_crbench_is_of_the_papers_nine_languages_before_it_is_drawn() -> None:
    recipe = read_recipe("context_crbench")
    stages = [stage for stage, _ in make_stages(recipe, set_parameters(recipe, {"model": "fake:rules"}))]
    ((at, languages),) = (
        (n, stage) for n, stage in enumerate(stages) if isinstance(stage, Where) and stage.fact == "language"
    )
    assert set(languages.values) == set(CONTEXT_LANGUAGES)
    assert len(languages.values) == 9
    drawn, split = (next(n for n, stage in enumerate(stages) if type(stage) is kind) for kind in (Stratify, SplitHunks))
    assert split < at < drawn
    (sample,) = (stage for stage in stages if isinstance(stage, Stratify))
    assert sample.per_cell * len(languages.values) * (len(sample.periods) + 1) == 1080


def test_a_paper_recipe_without_a_model_says_what_to_name() -> None:
    for name in PAPERS:
        with pytest.raises(UserError, match=f"the recipe {name} needs model"):
            set_parameters(read_recipe(name), {})
