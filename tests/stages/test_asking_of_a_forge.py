"""The stages that ask a model on pull requests as a forge gives them: read over HTTP, with their commits from git."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from recorded_forge import TOKEN, serve
from reviewed_pulls import FAKE
from reviewgauge.core.building import Candidate, Decision
from reviewgauge.core.protocols import Stage
from reviewgauge.core.results import Drop
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.models.chat.client import ChatClient
from reviewgauge.models.request.model_spec import ChatSettings
from reviewgauge.repo.diff.diffs import DiffLine, parse_patch
from reviewgauge.stages.augment import Augment
from reviewgauge.stages.classify import Classify
from reviewgauge.stages.drop_low_value import DropLowValue
from reviewgauge.stages.extract_points import ExtractPoints
from reviewgauge.stages.from_forge import FromForge
from reviewgauge.stages.generate import Generate
from reviewgauge.stages.merge_same import MergeSame
from reviewgauge.stages.select_revision import SelectRevision

NAME = "acme/shop"


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BuildFolder]:
    found = BuildFolder(tmp_path_factory.mktemp("bench"), f"github:{NAME}")
    yield found
    found.close()


@pytest.fixture(scope="module")
def pulls(tmp_path_factory: pytest.TempPathFactory, context: BuildFolder) -> dict[int, Candidate]:
    with pytest.MonkeyPatch.context() as patch, serve(tmp_path_factory.mktemp("forge"), "discussed") as forge:
        patch.setenv("GITHUB_TOKEN", TOKEN)
        made = list(FromForge(api=forge.url).apply((), context))
    return {one.pull.number: one for one in made if isinstance(one, Candidate) and one.pull is not None}


def run(stage: Stage, item: Candidate, context: BuildFolder) -> tuple[list[Candidate], list[Drop], list[Decision]]:
    with ChatClient(ChatSettings(cache=False)):
        made = list(stage.each(item, context))
    return (
        [one for one in made if isinstance(one, Candidate)],
        [one for one in made if isinstance(one, Drop)],
        [one for one in made if isinstance(one, Decision)],
    )


@pytest.mark.slow
def test_the_thread_that_was_adopted_is_the_change_point(pulls: dict[int, Candidate], context: BuildFolder) -> None:
    item = pulls[1]
    assert item.pull is not None
    (kept,), _, _ = run(ExtractPoints(FAKE), item, context)
    (point,) = kept.case.references
    assert point.body.startswith("The file with the apples is never closed.")
    assert (point.category, point.commit) == ("F.3 Resource", item.pull.commits[0].id)
    assert point.resolution is not None and point.resolution.commit == item.pull.commits[1].id
    assert kept.case.change.head == item.pull.commits[0].id
    (file,) = kept.case.change.files
    assert "+    handle = open(path)" in (file.patch or ""), "the flaw is in the change"
    assert "with open(path)" not in (file.patch or ""), "the answer is not"
    assert point.span is not None and point.span.start is not None
    numbered = {line.new: line.text for line in _lines(file.patch or "")}
    assert numbered[point.span.start] == "    handle = open(path)"
    assert kept.case.facts["commits"] == 1


def _lines(patch: str) -> list[DiffLine]:
    return [line for hunk in parse_patch(patch) for line in hunk.lines]


def test_aacrs_stages_on_the_revision_that_people_discussed(pulls: dict[int, Candidate], context: BuildFolder) -> None:
    chosen = SelectRevision().narrow(pulls[1])
    assert isinstance(chosen, Candidate)
    (kept,), _, decisions = run(Augment(FAKE), chosen, context)
    assert len(kept.case.references) == len(decisions) == 3
    assert "author: Good catch, changed." in decisions[0].shown
    assert "+    handle = open(path)" in decisions[0].shown
    for stage in (
        DropLowValue(FAKE),
        Generate((f"prompt(model={FAKE!r})", "analyser(tools=('ruff',))")),
        MergeSame(FAKE, votes=3),
        Classify(FAKE, "context"),
    ):
        (kept,), drops, _ = run(stage, kept, context)
        assert not drops
    *threads, ruff = kept.case.references
    assert [one.same_as for one in threads] == [None, None, None]
    assert ruff.author is not None and ruff.author.startswith("analyser")
    assert ruff.same_as == threads[0].id, "ruff asks for a with statement too"
    assert all(one.needs is not None for one in (*kept.case.references, *kept.case.neutral))
