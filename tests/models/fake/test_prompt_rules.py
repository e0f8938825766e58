"""The fake model that writes prompts, and the one that reports only what its prompt names."""

from __future__ import annotations

import json

import pytest

from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.specs import load
from reviewgauge.evolution.candidates import Species
from reviewgauge.evolution.proposing import Proposer
from reviewgauge.models.fake.model import answer
from reviewgauge.models.request.messages import FENCE_NOTE, Request, fence, load_prompt

SPECIES = Species.of([load(Reviewer, 'prompt(model="fake:rules", preset="swr")')], ("none", "pr"))
NOTE = "Output for debugging is left in the code. Use the logger or remove it."
DIFF = "--- a/a.py\n+++ b/a.py\n@@ -0,0 +1 @@\n+print(1)\n"


def test_it_adds_what_was_missed_and_then_reports_it() -> None:
    proposer = Proposer(SPECIES, "fake:rules")
    seed = SPECIES.seed
    found = proposer.reflect("template", seed, [f"Missed, nothing raised it:\n{fence(NOTE)}"])
    assert found.text == seed["template"] + f"Look for this: {NOTE}\n"


@pytest.mark.parametrize(("more", "count"), [("", 0), (f"\nLook for this: {NOTE}", 1)])
def test_literal_reports_what_its_prompt_names(more: str, count: int) -> None:
    shipped = load_prompt("reviewgauge.reviewers", "swr")
    values = {"pr_title": fence("t"), "pr_description": fence("d"), "diff_hunk": fence(DIFF), "context": ""}
    (message,) = shipped.messages({**values, "fence_note": FENCE_NOTE})
    request = Request(messages=(message.model_copy(update={"text": message.text + more}),))
    assert len(json.loads(answer(request, "literal").text)["findings"]) == count
    assert len(json.loads(answer(request, "rules").text)["findings"]) == 1


def test_variants_differ_by_their_number_and_a_context_is_chosen() -> None:
    proposer = Proposer(SPECIES, "fake:rules")
    texts = {proposer.vary("template", SPECIES.seed, number).text for number in range(12)}
    assert len(texts) > 3
    assert proposer.reflect("context", {**SPECIES.seed, "context": "none"}, ["Reward 0."]).text in ("pr", "")
