"""Whoever asks a model says so, however deep it lies: else its calls are paid unseen, unmarked and without a budget."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import ClassVar

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Judge, Measured, Metric, Reviewer
from reviewgauge.core.records import Case, Comment, Review
from reviewgauge.core.results import Outcome
from reviewgauge.core.specs import Plugin, Spec, build, find_class, load, names, signature
from reviewgauge.datasets.sample import Sample
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.score import score
from reviewgauge.models.chat.client import ChatClient, track_usage
from reviewgauge.models.request.model_spec import ChatSettings

pytestmark = pytest.mark.usefixtures("own_cache")

MODEL = "fake:rules"
SPECS = (
    MODEL, f"same_concern(model={MODEL!r})", f"grade(model={MODEL!r})", f"mrr(judge={MODEL!r})",
    f"prompt(model={MODEL!r})",
)  # fmt: skip
BESIDE = ("lexical", "overlap")  # where several are asked for
KINDS: tuple[type[Plugin], ...] = (Metric, Judge, Reviewer)
# What is known to ask: a parameter that is not found any more is not tried either.
KNOWN = {
    "metrics grade.model", "metrics relevance_judge.model", "metrics points.model", "metrics hits.judge",
    "metrics mrr.judge", "metrics rank_mean.metrics", "judges same_concern.model", "judges golden.model",
    "judges panel.judges", "judges cascade.then", "reviewers debate.model", "reviewers ensemble.reviewer",
    "reviewers prompt.model",
}  # fmt: skip


@cache
def items() -> list[tuple[Case, Review]]:
    """Reviews that no offline judge is sure of: the reference in other words."""
    found = []
    for case in list(Sample().cases())[:4]:
        said = tuple(
            Comment(id=f"c{n}", body=f"{' '.join(one.body.split()[:7])}, perhaps", span=one.span)
            for n, one in enumerate(case.references)
        )
        found.append((case, Review(case=case.id, system="bot", comments=said)))
    return found


def filled(cls: type[Plugin]) -> Iterator[tuple[str, Plugin]]:
    """(parameter, the plug-in with a spec in it that asks a model) for every parameter that takes words."""
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]  # every plug-in is a dataclass
        for spec in SPECS:
            tries: list[object] = [spec, (spec,), *((spec, other) for other in BESIDE)]
            for value in tries:
                try:
                    yield field.name, build(cls, Spec(cls.__name__, {field.name: value}))
                except UserError:  # it takes no such spec
                    continue


def use(plugin: Plugin) -> int:
    """How many calls it makes."""
    with ChatClient(ChatSettings(cache=False)), track_usage() as tracker:
        try:
            if isinstance(plugin, Metric):
                list(plugin.parts_many(items()))
            elif isinstance(plugin, Judge):
                for case, review in items():
                    plugin.judge(case, review.comments, case.references, review)
            elif isinstance(plugin, Reviewer):
                plugin.review(items()[0][0].change)
        except Exception:  # it takes no such spec, or needs what is not here
            pass
        return tracker.usage.calls


def check(cls: type[Plugin], name: str) -> set[str]:
    """The parameters that lead to calls. Each plug-in that calls says so."""
    found = set()
    for field, plugin in filled(cls):
        if f"{name}.{field}" not in found and use(plugin):
            assert plugin.models == (MODEL,), f"{name} asks a model by its {field} and does not say so: define models"
            found.add(f"{name}.{field}")
    return found


@pytest.mark.drill
def test_every_plugin_that_asks_says_so() -> None:
    found = {
        parameter
        for kind in KINDS
        for name in names(kind.kind)
        for parameter in check(find_class(kind, name), f"{kind.kind} {name}")
    }
    assert found >= KNOWN


@dataclasses.dataclass(frozen=True)
class Quiet(Metric):
    """Measures with a metric and does not pass on what it asks."""

    inner: str = "overlap"
    headline: ClassVar[str] = "value"

    def parts(self, case: Case, review: Review) -> Measured | str:
        return load(Metric, self.inner).parts(case, review)


def test_the_check_finds_one_that_does_not() -> None:
    with pytest.raises(AssertionError, match="quiet asks a model by its inner"):
        check(Quiet, "quiet")


@pytest.mark.parametrize("spec", [
    f"mrr(judge={MODEL!r})",
    f"rank_mean(metrics=('overlap', \"grade(model={MODEL!r})\"))",
    f"hits(judge=\"panel(judges=({MODEL!r}, 'lexical'))\")",
    f'mrr(judge="cascade(then={MODEL!r})")',
])  # fmt: skip
def test_what_a_nested_model_cost_and_that_it_is_fake_stands_in_the_scores(spec: str, tmp_path: Path) -> None:
    pairs = items()
    metric = load(Metric, spec)
    with RunFolder.create(
        tmp_path / "run", dataset="sample", dataset_path="", cases=[case for case, _ in pairs]
    ) as run:
        run.add_systems({"bot": {}}, signature="silent")
        for _, review in pairs:
            run.append_outcome(Outcome(case=review.case, system="bot", review=review))
        with ChatClient(ChatSettings(cache=False)) as door:
            totals = score(run, metric)
            made = door.budget.totals.calls
        scores = run.scores(signature(metric))
    assert totals.fake and made > 0
    assert totals.cost.calls == sum(one.usage.calls for one in scores) == made
    asked = [one for one in scores if one.usage.calls]
    assert asked and all(one.fake for one in asked)
