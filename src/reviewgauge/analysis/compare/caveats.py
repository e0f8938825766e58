"""Warnings for the figures of a run: systems not measured, a judge of a system's own family, a cascade.

Why the family matters: Panickssery et al. 2024, LLM Evaluators Recognize and Favor Their Own Generations,
arXiv:2404.13076.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from reviewgauge.analysis.compare import cascade
from reviewgauge.core.errors import UserError
from reviewgauge.core.specs import short_spec
from reviewgauge.engine.run.scored_run import ScoredRun
from reviewgauge.models.request.model_spec import PROVIDERS, family

_SPEC = re.compile(rf"\b(?:{'|'.join(PROVIDERS)}):[^\s'\"`,;()\\]+")
_NAMED = re.compile(
    r"(?:chatgpt|gpt|codex|claude|gemini|qwen|deepseek|llama|mistral|grok|kimi)(?![a-z])", re.IGNORECASE
)


def caveats(run: ScoredRun) -> list[str]:
    """The warnings to show wherever the scores of `run` are shown."""
    found = []
    if run.unscored:
        more = f" and {len(run.unscored) - 8} more" if len(run.unscored) > 8 else ""
        shown = ", ".join(run.unscored[:8]) + more
        found = [f"reviewed but not measured with {short_spec(run.metric)}, so not shown: {shown} (reviewgauge score)"]
    found += judged_by_own_family(run.metric.models, {name: run.reviewers.get(name, ()) for name in run.systems})
    return found + cascade.notes(run.metric, run.scores, run.by_metric)


def judged_by_own_family(judges: Sequence[str], systems: Mapping[str, Sequence[str]]) -> list[str]:
    """One line for each model family that both judged and was judged.

    `judges`: the specs of the models that a metric asks. `systems`: what is known of what made each system's reviews,
    by its name: the reviewer's signature, its pins. A system whose name begins with that of a model counts too.
    """
    judging = {family(judge): judge for judge in reversed(judges)}
    judged: dict[str, list[str]] = {}
    for system, texts in systems.items():
        for one in dict.fromkeys(families_in(system, texts)):
            if one in judging:
                judged.setdefault(one, []).append(system)
    return [
        f"judged by a model of its own family ({one}: {judging[one]}), which may prefer it: {', '.join(names)}"
        for one, names in judged.items()
    ]


def families_in(system: str, texts: Sequence[str]) -> list[str]:
    """The families of the models that a system's name and what is known of it name."""
    named = _NAMED.match(system)
    found = [family(named[0].lower())] if named else []
    for spec in (spec for text in (system, *texts) for spec in _SPEC.findall(text)):
        try:
            found.append(family(spec))
        except UserError:  # only looks like a model
            continue
    return found
