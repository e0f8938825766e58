"""Find the change-points of a pull request: what its reviewers suggested and a later commit did; none makes it clean.

Source: SWR-Bench (arXiv:2509.01494), section III-A, step 2, and its taxonomy (Table I): discussion, commits and diffs
go to a model in three requests, and what these do not agree on is discarded. Its prompt is not printed: the words are
our own. "Consistent" is read as: as many points, matched one to one with the same type and the same resolving commit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar, NamedTuple

from pydantic import Field
from typing_extensions import override

from reviewgauge.core.base import Fact, content_id
from reviewgauge.core.building import BuildContext, Candidate, Decision, DecisionKind
from reviewgauge.core.protocols import StageOutput
from reviewgauge.core.pull_requests import Revision
from reviewgauge.core.records import Change, Comment, Location, Origin, Resolution, Side
from reviewgauge.core.trust import ModelName
from reviewgauge.judges.classes.classes import TYPES
from reviewgauge.models.answers.json_values import storable
from reviewgauge.models.answers.records import answer_schema
from reviewgauge.repo.diff.anchors import anchor
from reviewgauge.repo.diff.diffs import changed_lines
from reviewgauge.stages.asking.change_points import (
    Agreed,
    ChangePoint,
    ChangePoints,
    Disagreed,
    LabelledDiscussion,
    agreement,
    gather,
    messages_of,
    read_change_points,
)
from reviewgauge.stages.asking.stage import (
    MOST_VOTES,
    AskingStage,
    Roles,
    decision,
    own_prompt,
    plain_conversation,
    prompt_pins,
    turns,
)
from reviewgauge.stages.pull_requests.candidates import NO_CODE as NOT_HERE
from reviewgauge.stages.pull_requests.candidates import (
    NO_PULL,
    carry_over,
    change_at,
    is_other,
    text_facts,
    thread_span,
)
from reviewgauge.stages.sampling.draws import change_facts

NOTHING = "no change-point"
FORCED = "no change-point is seen, and it was force-pushed: its commits do not show what was changed"


@dataclass(frozen=True)
class ExtractPoints(AskingStage):
    """The references become the change-points that all `requests` agree on: as many, of equal types and commits.

    With none the change is clean (verdict True), also without asking where no commit followed the first. The facts
    `final_commits`, `final_files`, `final_added` and `final_deleted` are of the whole pull request, cut back or not.
    The change is cut back to the last commit before the first answer to a point, so that it does not hold the answers
    already; a point about later code is left out.
    """

    needs_pulls: ClassVar[bool] = True

    model: ModelName
    requests: Annotated[int, Field(ge=1, le=MOST_VOTES)] = 3

    @override
    def pins(self) -> Mapping[str, str]:
        return prompt_pins(own_prompt("change_points"))

    @override
    def each(self, item: Candidate, context: BuildContext) -> StageOutput:
        if item.pull is None:
            yield self.drop(item.id, NO_PULL)
            return
        material = gather(item.pull.model_copy(update={"git": item.pull.git or item.case.change.git}))
        if isinstance(material, str):
            yield self.drop(item.id, material)
            return
        found = self._agreed(material) if len(material.commits) > 1 else Agreed((), ())
        if isinstance(found, Disagreed):
            yield self.drop(item.id, found.reason, found.detail)
            return
        revisions = item.pull.revisions
        item = item.with_facts(final_facts(item, material))
        if not found.points:
            yield from self._decisions(item, material, found, {})
            hidden = any(revision.forced for revision in revisions)
            yield self.drop(item.id, FORCED) if hidden else item.with_case(references=(), verdict=True)
            return
        revised = cut_back(item, material, found.points)
        if isinstance(revised, str):
            yield from self._decisions(item, material, found, {})
            yield self.drop(item.id, revised)
            return
        change = revised.item.case.change
        references = tuple(_reference(at, point, material, change) for at, point in enumerate(revised.points, 1))
        names = {id(point): one.id for point, one in zip(revised.points, references, strict=True)}
        yield from self._decisions(item, material, found, names)
        yield revised.item.with_case(references=references, verdict=False)

    def _agreed(self, material: LabelledDiscussion) -> Agreed | Disagreed:
        """What the requests agree on. Raises Failed where one of them has no readable answer."""
        messages = messages_of(material)
        read = partial(read_change_points, mentions=material.open_mentions, commits=list(material.commits))
        trials = list(range(1, self.requests + 1))
        answers = self.ask([messages] * self.requests, read, trials=trials, schema=answer_schema(ChangePoints))
        return agreement([answer.value for answer in answers])

    def _decisions(
        self, item: Candidate, material: LabelledDiscussion, found: Agreed, names: Mapping[int, str]
    ) -> Iterator[Decision]:
        """One a point, with the id of its reference if it has one; where there is none, one about the discussion."""
        roles = Roles(material.pull)
        conversation_of = {
            label: plain_conversation(turns(mention.remarks, roles)) for label, mention in material.mentions.items()
        }
        if not found.points and len(material.commits) > 1:
            shown = "\n\n".join([material.pull.url, *conversation_of.values()])
            yield decision(self, item, shown=shown, decided=NOTHING).on(DecisionKind.CLEAN)
        for point, others in zip(found.points, found.others, strict=True):
            commit = material.commits[point.resolved]
            answer = f"{commit.id}\n{commit.message}\n\n{material.diffs[point.resolved]}"
            shown = f"{material.pull.url}\n\n{conversation_of[point.mention]}\n\nresolved by {answer}"
            others_text = "; ".join(f"request {at}: {text}" for at, text in enumerate(others, 2))
            decided = f"{point.type} {TYPES[point.type].name}: {point.point}"
            reason = f"{point.explanation} ({others_text})" if others_text else point.explanation
            made = decision(self, item, shown=shown.strip(), decided=decided, reason=reason)
            yield made.on(DecisionKind.COMMENT, names[id(point)]) if id(point) in names else made


def _reference(number: int, point: ChangePoint, material: LabelledDiscussion, change: Change) -> Comment:
    """A change-point as a reference, at its thread's lines or where the model's quote stands in the change."""
    mention, resolved = material.mentions[point.mention], material.commits[point.resolved]
    thread = mention.thread
    original = next(one for one in mention.remarks if is_other(material.pull, one.author))
    files = resolved.files or ()
    snippet = next((f.patch for f in files if thread is not None and f.path == thread.path and f.patch), None)
    of_thread = {"thread": thread.id} if thread is not None else {}
    comment = Comment(
        id=f"point-{number}-{content_id(material.pull.slug, point.type, point.point, resolved.id)}",
        body=storable(point.point),
        origin=Origin.POINT,
        category=f"{point.type} {TYPES[point.type].name}",
        author=original.author.login or None,
        commit=material.commits[point.introduced].id,
        created=original.created,
        resolution=Resolution(commit=resolved.id, snippet=snippet, explanation=storable(point.explanation)),
        extra={"original": original.body, "said_in": mention.name, **of_thread},
    )
    return anchor(comment.model_copy(update=_claimed(point, material, change)), change)


def _claimed(point: ChangePoint, material: LabelledDiscussion, change: Change) -> Mapping[str, object]:
    """Where the point is: the lines of its thread if that was said on this revision, else its file and the code."""
    thread = material.mentions[point.mention].thread
    code = storable(point.code) if point.code else None
    if thread is None:
        return {"claimed": Location(), "quote": code}
    if thread.commit == change.head and not thread.whole_file:
        where = thread_span(thread)
        return {"claimed": Location(path=where.path, start=where.start, end=where.end, side=where.side)}
    shown = thread.hunk.rstrip("\n").rpartition("\n")[2]
    return {"claimed": Location(path=thread.path), "quote": code or shown[1:].strip() or None}


NO_CODE = "the commits to cut it back to before its first answer are not at hand"


def final_facts(item: Candidate, material: LabelledDiscussion) -> Mapping[str, Fact]:
    """What SWR-Bench's Table II counts, at the final state: the one state that both classes have in common."""
    change, pull = item.case.change, material.pull
    files = change.files if change.head == pull.head else pull.files
    facts: dict[str, Fact] = {"final_commits": len(material.commits)}
    if files and all(file.patch is not None or file.binary for file in files):
        facts["final_files"] = len(files)
        for name, side in (("final_added", Side.NEW), ("final_deleted", Side.OLD)):
            facts[name] = sum(len(changed_lines(file, side)) for file in files)
    return facts


class Revised(NamedTuple):
    """The candidate at the revision, and the change-points that are open in it."""

    item: Candidate
    points: Sequence[ChangePoint]


def cut_back(item: Candidate, material: LabelledDiscussion, points: Sequence[ChangePoint]) -> Revised | str:
    """The candidate at the last commit before the first that resolves a point, and which points are open there.

    Points that are about code that came later are not open. The files are read from git anew, and so are the facts.
    """
    labels = list(material.commits)
    end = min(labels.index(point.resolved) for point in points) - 1
    change = item.case.change
    head = material.commits[labels[end]].id
    if head != change.head or not change.has_diff:
        state = Revision(head=head, pushed=material.commits[labels[end]].committed)
        cut = change_at(material.pull, state)
        if isinstance(cut, str):
            return NO_CODE if cut == NOT_HERE else cut
        cut = carry_over(item, cut)
        facts = {name: value for name, value in item.case.facts.items() if name not in _OF_FILES}
        facts |= {**change_facts(cut, commits=end + 1), **text_facts(material.pull, state)}
        item = item.with_case(change=cut, facts=facts)
    return Revised(item, [one for one in points if labels.index(one.introduced) <= end])


_OF_FILES = {"changed_files", "changed_lines", "hunks", "language", "size"}
