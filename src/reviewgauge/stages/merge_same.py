"""Join comments with the same meaning on one diff hunk, pair by pair, by a judge or five votes of a chat model.

Source: AACR-Bench (arXiv:2601.19494), appendix B.1: within repository, pull request, path and diff hunk, with the
prompt of Figure 9 and the election of five answers. Without a model the offline judge decides, which is our own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Literal, NamedTuple

from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate, Decision, DecisionKind
from reviewgauge.core.protocols import Judge, Stage, StageOutput
from reviewgauge.core.records import Case, Change, Comment, Review, groups_of
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.core.specs import short_spec, signature
from reviewgauge.core.trust import PluginSpec
from reviewgauge.judges.pairs.asking import Compared, ModelJudge, Votes, judge_of
from reviewgauge.judges.same_concern import SameConcern
from reviewgauge.models.request.model_spec import is_model
from reviewgauge.repo.diff.diffs import parse_patch
from reviewgauge.stages.asking.stage import check_model, decision, shown_with

Cell = tuple[int, int]
NO_PLACE, WHOLE_FILE, OUTSIDE = -3, -2, -1
SAME, DIFFERENT = "same", "different"


class SameVerdict(NamedTuple):
    """The judge's verdict on one pair."""

    same: bool
    reason: str


@dataclass(frozen=True)
class MergeSame(Stage):
    """Comments on one hunk that are the same, directly or transitively, become one finding.

    `judge`: a judge's spec, or a chat model's, which is asked `votes` times in the words of Figure 9 (`prompt`).
    A repeated reference is another phrasing (`same_as`), and so is a neutral comment that repeats a reference.
    """

    judge: PluginSpec = "lexical"
    votes: Votes = 5
    prompt: Literal["fenced", "published"] = "fenced"

    def __post_init__(self) -> None:
        if not self.judge.strip():
            check_model(self.judge)
        if self._judge.reads_labels:
            raise ValueError(f"judge={self.judge!r} repeats what was recorded, and here is nothing recorded")

    @cached_property
    def _judge(self) -> Judge:
        if is_model(self.judge.strip()):
            return SameConcern(model=self.judge.strip(), prompt=self.prompt, location="any", votes=self.votes)
        return judge_of(self.judge)

    @property
    def models(self) -> tuple[str, ...]:
        """The models that are asked; none where the judge is an offline one."""
        return self._judge.models

    @override
    def pins(self) -> Mapping[str, str]:
        return {"judge": signature(self._judge), **self._judge.pins()}

    @override
    def each(self, item: Candidate, context: BuildContext) -> StageOutput:
        comments = (*item.case.references, *item.case.neutral)
        pairs: list[Cell] = []
        for members in _by_hunk(item.case.change, comments):
            verdicts = self._verdicts(item.case, comments, list(combinations(members, 2)))
            for (one, other), verdict in verdicts.items():
                yield self._decision(item, comments[one], comments[other], verdict)
                pairs += [(one, other)] if verdict.same else []
        yield self._merged(item, comments, _groups(comments, pairs))

    def _decision(self, item: Candidate, one: Comment, other: Comment, verdict: SameVerdict) -> Decision:
        shown = shown_with(item, one, f"1: {one.body}", f"2: {other.body}")
        decided = SAME if verdict.same else DIFFERENT
        return decision(self, item, shown=shown, decided=decided, reason=verdict.reason).on(DecisionKind.SAME)

    @override
    def overruled(
        self, before: Candidate, after: Candidate, kept: Sequence[Decision], wrong: Sequence[Decision]
    ) -> Candidate:
        """Merged again: what people say of two comments counts before what joins them by a third."""
        comments = (*before.case.references, *before.case.neutral)
        by_hunk = _by_hunk(before.case.change, comments)
        cells = {
            cell: self._decision(before, comments[cell[0]], comments[cell[1]], SameVerdict(True, "")).shown
            for members in by_hunk
            for cell in combinations(members, 2)
        }

        def where(decisions: Sequence[Decision], decided: str) -> list[Cell]:
            shown = {one.shown for one in decisions if one.decided == decided}
            return [cell for cell, text in cells.items() if text in shown]

        pairs = where(wrong, DIFFERENT) + where(kept, SAME)
        return self._merged(before, comments, _groups(comments, pairs, apart=where(wrong, SAME)))

    def _verdicts(self, case: Case, comments: Sequence[Comment], cells: Sequence[Cell]) -> dict[Cell, SameVerdict]:
        """The judge's verdicts on these pairs. A chat model gets all questions at once."""
        judge, review = self._judge, Review(case=case.id, system="merge_same", comments=tuple(comments))
        if isinstance(judge, ModelJudge):
            found = judge.judge_some(Compared(case, comments, comments, review), cells)
            return {cell: SameVerdict(v.same is True, v.reason) for cell in cells if (v := found[cell]) is not None}
        return {(a, b): _one_by_one(judge, case, comments[a], comments[b], review) for a, b in cells}

    def _merged(self, item: Candidate, comments: Sequence[Comment], groups: Sequence[Sequence[int]]) -> Candidate:
        members_of = {at: members for members in groups for at in members}
        references: list[Comment] = []
        neutral: list[Comment] = []
        for at, comment in enumerate(comments):
            first = members_of[at][0]
            kept = references if first < len(item.case.references) else neutral
            kept.append(comment.model_copy(update={"same_as": None if first == at else comments[first].id}))
        return item.with_case(references=tuple(references), neutral=tuple(neutral))


def _one_by_one(judge: Judge, case: Case, one: Comment, other: Comment, review: Review) -> SameVerdict:
    """Judges a pair alone, so that no other comment competes; in both orders where that is free."""
    orders = [(one, other)] if judge.models else [(one, other), (other, one)]
    verdicts = [judge.judge(case, [a], [b], review)[0][0] for a, b in orders]
    found = [verdict for verdict in verdicts if verdict is not None]
    if len(found) < len(orders):
        raise Failed(FailureKind.REQUEST, f"{short_spec(judge)} says nothing about two comments of one review")
    if judge.models:
        return SameVerdict(found[0].same is True, found[0].reason)
    mean = sum(verdict.probability for verdict in found) / len(found)
    return SameVerdict(mean >= judge.threshold, f"{mean:.2f}: {found[0].reason}")


def _by_hunk(change: Change, comments: Sequence[Comment]) -> Iterator[list[int]]:
    """The comments grouped by file and hunk, two or more each; comments without a place form one group."""
    groups: dict[tuple[str, int], list[int]] = {}
    for at, comment in enumerate(comments):
        if comment.body.strip():
            groups.setdefault(_hunk_at(change, comment), []).append(at)
    yield from (members for members in groups.values() if len(members) > 1)


def _hunk_at(change: Change, comment: Comment) -> tuple[str, int]:
    span = comment.span
    if span is None:
        return "", NO_PLACE
    if span.start is None:
        return span.path, WHOLE_FILE
    for file in change.files:
        if span.path in (file.path, file.old_path) and file.patch is not None:
            for number, hunk in enumerate(parse_patch(file.patch)):
                if hunk.covers(span):
                    return file.path, number
    return span.path, OUTSIDE


def _groups(comments: Sequence[Comment], pairs: Sequence[Cell], apart: Sequence[Cell] = ()) -> list[list[int]]:
    """The findings as positions, in order: what `same_as` and pairs join, also transitively, but for those `apart`."""
    known = [list(members) for members in groups_of(comments)]
    home = {at: number for number, members in enumerate(known) for at in members}
    for one, other in pairs:
        keep, gone = sorted((home[one], home[other]))
        if keep != gone and not any({home[a], home[b]} == {keep, gone} for a, b in apart):
            known[keep] += known[gone]
            home.update(dict.fromkeys(known[gone], keep))
            known[gone] = []
    return [sorted(members) for members in known if members]
