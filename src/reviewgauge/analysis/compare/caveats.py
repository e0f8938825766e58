"""Warnings for the figures of a run: systems not measured, findings of their own, a judge of a system's own family.

Why the family matters: Panickssery et al. 2024, LLM Evaluators Recognize and Favor Their Own Generations,
arXiv:2404.13076.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from reviewgauge.core.records import Case, Origin
from reviewgauge.core.shares import CLEAN_FACT, LABELS_FACT, people_found
from reviewgauge.engine.run.kept import kept
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
        found = [f"reviewed but not measured with {run.label}, so not shown: {shown} (reviewgauge score)"]
    mixed = {system: ", ".join(by.mixed) for system, by in run.reviewers.items() if by.mixed}
    found += [f"{system}: its reviews rest on different versions ({pins})" for system, pins in mixed.items()]
    by_fix = False
    checked: dict[str, Case] = {}
    for case in run.cases:
        by_fix = by_fix or any(one.origin is Origin.FIX for one in case.references)
        for fact in _CHECKED:
            if fact in case.facts:
                checked.setdefault(fact, case)
    if by_fix:
        found.append("the references are messages of later fixes, which seldom say what was wrong: much stays unsure")
    own = kept(own_findings, run)
    if of_systems := sum(own.values()) - own[""]:
        of_each = ", ".join(f"{system} {n:,}" for system, n in sorted(own.items(), key=lambda one: -one[1]) if system)
        counts = f"{of_systems:,} of {sum(own.values()):,} findings"
        found.insert(0, f"{counts} are the measured systems' own comments, which favours who wrote most ({of_each})")
    known = {system: by.texts for system, by in run.reviewers.items()}
    found += judged_by_own_family(run.metric.models, {name: known.get(name, ()) for name in run.systems})
    return found + checked_by_people(list(checked.values()))


def own_findings(run: ScoredRun) -> dict[str, int]:
    """How many findings each measured system wrote itself, and under an empty name all others did."""
    measured = set(run.systems)
    authors = (one.author or "" for case in run.cases for one in case.references)
    counts = Counter(author if author in measured else "" for author in authors)
    return {"": 0, **counts}


_CHECKED = {LABELS_FACT: "labels", CLEAN_FACT: "clean changes"}


def checked_by_people(cases: Sequence[Case]) -> list[str]:
    """One line on how many of the drawn labels and clean changes hold, where people checked them in the build."""
    parts = []
    for fact, name in _CHECKED.items():
        if found := people_found(cases, fact):
            low, high = (round(100 * end) for end in found.ends[1:])
            parts.append(f"{name}: {found.words} checked hold, {low}-{high}%")
    return ["; ".join(parts)] if parts else []


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
    specs = (spec for text in (system, *texts) for spec in _SPEC.findall(text))
    return [one for one in (*found, *map(family, specs)) if one]  # empty where a text only looks like a model
