"""The stages that ask a model in a real build: stopped and resumed nothing is asked twice, failures are done again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from reviewed_pulls import AUTHOR, FAKE, commit, of_threads, said, thread
from reviewgauge.core.building import BuildContext, Candidate
from reviewgauge.core.protocols import Stage
from reviewgauge.engine.build.folder import BuildFolder, Stopped
from reviewgauge.engine.build.pipeline import Pipeline
from reviewgauge.engine.build.recipes import Step
from reviewgauge.engine.run.executors import Interruption, Threads
from reviewgauge.models.chat.client import ChatClient
from reviewgauge.models.request.messages import Call
from reviewgauge.models.request.model_spec import ChatSettings
from reviewgauge.stages.augment import Augment
from reviewgauge.stages.classify import Classify
from reviewgauge.stages.drop_low_value import DropLowValue
from reviewgauge.stages.extract_points import ExtractPoints
from reviewgauge.stages.generate import Generate
from reviewgauge.stages.merge_same import MergeSame
from reviewgauge.stages.sampling.audit import audit_stage
from scripted_models import Messages, scripted

WORDS = ("The cache is never invalidated for user {}", "thanks!", "Every caller of {} must close the file")


@dataclass(frozen=True)
class Pulls(Stage):
    """Some pull requests, all different."""

    n: int = 6

    def apply(self, items: Iterable[Candidate], context: BuildContext) -> Iterator[Candidate]:
        for number in range(self.n):
            first = thread(
                "1", WORDS[number % 3].format(number), said("never mind" if number == 2 else "ok", AUTHOR, 2)
            )
            again = thread("2", WORDS[0].format(number), line=1, commit="1" * 40)
            item = of_threads(first, again, commits=(commit("1" * 40, "one"), commit("2" * 40, "two", hours=3)))
            item = item.with_change(title=f"Fix {number}", head="1" * 40)
            yield item.with_case(id=f"acme/shop/pull/{number}")


def aacr(model: str) -> Sequence[Stage]:
    inner = Generate((f"prompt(model={model!r})",))
    merge = MergeSame(model, votes=3)
    return (Pulls(), Classify(model, "domain"), Augment(model), inner, merge, Classify(model, "context"))


def others(model: str) -> Sequence[Stage]:
    return (Pulls(), DropLowValue(model), ExtractPoints(model, requests=1))


AACR, OTHERS = aacr(FAKE), others(FAKE)


def build(folder: Path, stages: Sequence[Stage], stop_after: int = 0) -> tuple[list[Candidate], Pipeline, list[Call]]:
    """One run without a cache of calls, so that only what the folder remembers saves any."""
    calls: list[Call] = []
    stop = Interruption()

    def heard(call: Call) -> None:
        calls.append(call)
        if len(calls) == stop_after:
            stop.ask()

    context = BuildFolder(folder, stop=stop)
    try:
        with ChatClient(ChatSettings(cache=False), record=heard):
            line = Pipeline(context, [(stage, Step(use="x")) for stage in stages], lambda _: Threads(2), stop)
            try:
                return list(line.run()), line, calls
            except Stopped:
                return [], line, calls
    finally:
        context.close()


@pytest.mark.parametrize("stages", [AACR, OTHERS], ids=["aacr", "others"])
def test_stopped_half_way_and_resumed_nothing_is_asked_twice(tmp_path: Path, stages: Sequence[Stage]) -> None:
    whole, line, paid = build(tmp_path / "whole", stages)
    assert line.counts[-1].fake
    stopped, _, before = build(tmp_path / "resumed", stages, stop_after=len(paid) // 2)
    assert stopped == []
    resumed, _, after = build(tmp_path / "resumed", stages)
    assert resumed == whole
    assert len(before) < len(paid)
    assert len(before) + len(after) <= len(paid) + 2 * 3, "at most what two threads had in flight is asked again"
    again, line, nothing = build(tmp_path / "resumed", stages)
    assert (again, nothing) == (whole, [])
    assert all(tally.remembered == tally.entered for tally in line.counts[1:])


@pytest.mark.parametrize("model", ["fake:example", "fake:varied"])
@pytest.mark.parametrize("stages", [aacr, others])
def test_what_the_fake_model_says_can_be_read(
    tmp_path: Path, stages: Callable[[str], Sequence[Stage]], model: str
) -> None:
    _, line, _ = build(tmp_path, stages(model))
    assert line.counts[-1].fake
    assert [tally.failed for tally in line.counts] == [0] * len(line.counts)


def test_the_funnel_and_the_decisions_of_aacrs_stages(tmp_path: Path) -> None:
    kept, line, _ = build(tmp_path, AACR)
    assert [tally.dropped for tally in line.counts] == [0] * len(AACR)
    assert len(kept) == 6
    assert {str(item.case.facts["domain"]) for item in kept} == {"Bug Fix"}
    assert [len(item.case.references) for item in kept] == [2, 1, 1, 2, 1, 2]
    assert all(one.needs is not None for item in kept for one in item.case.references)
    audits = []
    for tally in line.counts:
        if tally.stage.models:
            audits.append(audit_stage(tmp_path, repr(tally.stage), line.decisions(tally.stage), 3))
    assert len(audits) == 5
    assert [section.figures["decisions"] for section in audits if section] == [6, 12, 0, 3, 9]


def test_a_failure_is_counted_is_not_in_the_benchmark_and_is_done_again(tmp_path: Path) -> None:
    mended: list[bool] = []

    def say(messages: Messages) -> str:
        broken = "Fix 3" in messages[-1]["content"] or "cannot be used" in messages[-1]["content"]
        return "It is hard to say." if broken and not mended else "BF"

    with scripted(say) as model:
        stages = (Pulls(), Classify(model.spec, "domain"))
        kept, line, _ = build(tmp_path, stages)
        assert [item.id for item in kept] == [f"acme/shop/pull/{n}" for n in (0, 1, 2, 4, 5)]
        assert line.counts[1].failures == {"unreadable": 1}
        mended.append(True)
        kept, line, calls = build(tmp_path, stages)
    assert len(kept) == 6
    assert len(calls) == 1
    assert (line.counts[1].failed, line.counts[1].remembered) == (0, 5)
