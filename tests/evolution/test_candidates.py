"""What evolves, what a text must keep, and what the parent refuses from the process that proposes."""

from __future__ import annotations

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.specs import load
from reviewgauge.evolution.candidates import Species, diff_of, digest_of
from reviewgauge.models.request.messages import read_prompt

PRESETS = ("aacr", "contextcrbench_assess", "contextcrbench_comment", "contextcrbench_locate", "crscore", "swr")


def _species(*presets: str, contexts: tuple[str, ...] = ()) -> Species:
    return Species.of([load(Reviewer, f'prompt(model="fake:rules", preset="{name}")') for name in presets], contexts)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("contexts", [(), ("none", "pr")])
def test_the_seed_is_a_template_that_may_stand(preset: str, contexts: tuple[str, ...]) -> None:
    species = _species(preset, contexts=contexts)
    text = species.seed["template"]
    assert species.problem("template", text) == ""
    assert "fence_note" in read_prompt(text, preset).slots


@pytest.mark.parametrize(("old", "new", "words"), [
    ("{{ diff_hunk }}", "", "{{ diff_hunk }} is missing"),
    ("{{ fence_note }}", "", "{{ fence_note }} is missing"),
    ("{{ pr_title }}", "{{ password }}", "there is no slot {{ password }}"),
    ("[user]\n", "", "does not begin with a line"),
])  # fmt: skip
def test_a_text_that_lost_what_it_needs_is_refused(old: str, new: str, words: str) -> None:
    species = _species("swr")
    assert words in species.problem("template", species.seed["template"].replace(old, new))


def test_several_reviewers_evolve_together_each_for_its_task() -> None:
    species = _species("contextcrbench_assess", "contextcrbench_locate")
    assert list(species.seed) == ["template-contextcrbench_assess", "template-contextcrbench_locate"]
    with pytest.raises(UserError, match="preset of its own"):
        _species("swr", "swr")


def test_a_diff_names_what_changed() -> None:
    seed = _species("swr", contexts=("none", "pr")).seed
    after = {**seed, "context": "pr"}
    assert diff_of(seed, after).splitlines()[-2:] == ["-none", "+pr"]
    assert digest_of(seed) != digest_of(after) and diff_of(seed, seed) == ""
