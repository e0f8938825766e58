"""What edits did to the tests of a change, as the report shows what comments hit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reviewgauge.core.records import Case, findings
from reviewgauge.core.results import CommentOutcome, CommentState, GroupOutcome, Matching
from reviewgauge.metrics.execution.runs import TestedChange, Tried
from reviewgauge.metrics.execution.suggestions import Suggestion
from reviewgauge.repo.diff.edits import Refusal

POLICY = "execution"
INAPPLICABLE = ("does not apply", "changes nothing", "no place", "overlaps itself", "a deleted line")


def try_one(tested: TestedChange, suggestion: Suggestion) -> Tried:
    """What one suggestion does; where a file no longer parses nothing is run."""
    if suggestion.unparsed:
        return Tried({}, tuple(f"{path} no longer parses" for path in suggestion.unparsed), 0.0)
    return tested.attempt(suggestion.files)


def wholly(tested: TestedChange, tried: Tried) -> list[str]:
    """The findings all of whose tests pass."""
    return [name for name, tests in tested.to_repair.items() if tried.repaired.get(name) == tests]


def matching_of(
    case: Case,
    tested: TestedChange,
    read: Mapping[str, Suggestion | Refusal | None],
    tried: Mapping[str, Tried],
    noun: str = "suggestion",
) -> Matching:
    """What each suggestion did and which findings were repaired, as the report shows what comments hit."""
    by: dict[str, list[str]] = {name: [] for name in tested.to_repair}
    outcomes = []
    for comment, one in read.items():
        done = tried.get(comment)
        whole = wholly(tested, done) if done and not done.broken else []
        state = CommentState.FALSE if done and done.broken else CommentState.NEUTRAL
        if whole:
            state = CommentState.DUPLICATE if all(by[name] for name in whole) else CommentState.MATCHED
        group = next((name for name in whole if not by[name]), whole[0] if whole else None)
        for name in whole:
            by[name].append(comment)
        reason, repairs = _words(one, done, tested, noun), float(bool(whole)) if done else None
        outcomes.append(CommentOutcome(comment=comment, state=state, group=group, probability=repairs, reason=reason))
    members = {own[0].id: tuple(one.id for one in own) for own in findings(case.references)}
    groups = tuple(
        GroupOutcome(
            group=name,
            members=members[name],
            hit=bool(by[name]),
            comments=tuple(by[name]),
            reason="" if by[name] else f"no {noun} makes {_named(sorted(tests))} pass",
        )
        for name, tests in tested.to_repair.items()
    )
    return Matching(policy=POLICY, comments=tuple(outcomes), groups=groups)


def _words(one: Suggestion | Refusal | None, done: Tried | None, tested: TestedChange, noun: str) -> str:
    """What became of a suggestion, in a sentence."""
    if one is None:
        return "it suggests no code" if noun == "suggestion" else f"it has no {noun}"
    if isinstance(one, Refusal):
        return f"its {noun} was {'not applied' if one.group in INAPPLICABLE else 'refused and not run'}: {one}"
    assert done is not None
    passing = sorted(test for tests in done.repaired.values() for test in tests)
    if done.broken:  # where tests no longer run, those that failed are not named either
        parts = [f"its {noun} breaks {_named(done.broken)}"]
    else:
        effect = f"{_named(passing)} passes now" if passing else "no failing test passes"
        parts = [f"its {noun} was applied: {effect}", *(() if tested.existing.problem else ("it breaks nothing",))]
    parts += [f"it edits {_named(one.outside)} beside the change"] if one.outside else []
    return "; ".join(parts)


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more
