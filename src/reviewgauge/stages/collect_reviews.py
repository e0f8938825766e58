"""Collect the comments that bots and people already posted, as reviews of the states of a pull request.

Source: this project; "which bot do our people act on" needs no judge and no labels (docs/guides/build.md). Comments
count where they were said (`original_commit_id`), as GitHub's REST API documents it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, NamedTuple

from pydantic import JsonValue
from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate
from reviewgauge.core.protocols import Stage, StageOutput
from reviewgauge.core.pull_requests import PullRequest, Revision, Thread
from reviewgauge.core.records import Change, Comment, Review
from reviewgauge.core.trust import Word
from reviewgauge.repo.forge.accounts import bot_noise, same_login
from reviewgauge.stages.pull_requests.adoption import Adoption, adoptions, signals
from reviewgauge.stages.pull_requests.candidates import (
    NO_PULL,
    case_id,
    change_at,
    references_at,
    text_facts,
    thread_comment,
    thread_span,
)
from reviewgauge.stages.sampling.draws import change_facts


class _State(NamedTuple):
    """One state of a pull request, with its change."""

    pull: PullRequest
    revision: Revision
    change: Change

    @property
    def name(self) -> str:
        """The id of its case."""
        return _name(self.pull, self.revision)


@dataclass(frozen=True)
class CollectReviews(Stage):
    """One candidate for each state of a pull request that one of `reviews_by` reviewed, with `reviews` filled.

    `reviews_by` are logins, with or without `[bot]`. A submitted review without text is an empty review of that state;
    an account that did not review it has none. `extra["adoption"]` of each comment says whether it was acted on,
    `extra["after_push"]` and `extra["after_open"]` are the seconds until it was posted. References are the comments of
    people outside `reviews_by`. Comments on one's own pull request are not reviews.
    """

    example: ClassVar[str] = 'collect_reviews(reviews_by=("coderabbitai[bot]",))'

    reviews_by: tuple[Word, ...] = ()
    costly: ClassVar[bool] = True
    needs_pulls: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.reviews_by:
            raise ValueError("collect_reviews needs logins: collect_reviews(reviews_by=('coderabbitai[bot]',))")
        for at, login in enumerate(self.reviews_by):
            if any(same_login(login, other) for other in self.reviews_by[:at]):
                raise ValueError(f"{login} is named twice")

    @override
    def each(self, item: Candidate, context: BuildContext) -> StageOutput:
        pull = item.pull
        if pull is None:
            yield self.drop(item.id, NO_PULL)
            return
        looks = {login: _looks(pull, login) for login in self.reviews_by}
        seen = set().union(*looks.values())
        if not seen:
            yield self.drop(item.id, "nobody of reviews_by looked at it")
            return
        states: list[_State] = []
        for revision in pull.revisions:
            if revision.head in seen:
                change = _change(item, pull, revision)
                if isinstance(change, str):
                    yield self.drop(_name(pull, revision), change)
                else:
                    states.append(_State(pull, revision, change))
        there = {state.revision.head for state in states}
        looks = {login: [head for head in heads if head in there] for login, heads in looks.items()}
        by_thread = adoptions(pull) if states else {}
        for state in states:
            reviews = tuple(
                self._review(login, state, by_thread, heads)
                for login, heads in looks.items()
                if state.revision.head in heads
            )
            yield self._candidate(item, state).model_copy(update={"reviews": reviews})

    def _candidate(self, item: Candidate, state: _State) -> Candidate:
        pull, revision, change = state
        others = tuple(
            comment
            for comment in references_at(pull, revision.head)
            if not any(same_login(comment.author or "", login) for login in self.reviews_by)
        )
        facts = change_facts(change, created=pull.created, commits=len(revision.commits) or None)
        facts = {**item.case.facts, **facts, **text_facts(pull, revision)}
        number = [one.head for one in pull.revisions].index(revision.head) + 1
        facts |= {"pull": pull.slug, "revision": number}
        verdict = False if others else None
        return item.with_case(id=state.name, change=change, references=others, verdict=verdict, facts=facts)

    def _review(
        self, login: str, state: _State, by_thread: Mapping[str, Adoption | None], looks: Sequence[str]
    ) -> Review:
        pull, head = state.pull, state.revision.head
        comments = [
            _with_timing(thread_comment(one, thread_span(one)), state, {"adoption": signals(one, by_thread[one.id])})
            for one in pull.threads
            if one.commit == head and _is_by(one, login) and bot_noise(one.remarks[0].body, True) is None
        ]
        submitted = [one for one in pull.reviews if one.commit == head and same_login(one.author.login, login)]
        # an empty review has no other record of which look it was
        trace = {"look": looks.index(head) + 1, "looks": len(looks), "states": [one.state for one in submitted]}
        return Review(case=state.name, system=login, comments=tuple(comments), trace=json.dumps(trace))


def _name(pull: PullRequest, revision: Revision) -> str:
    return f"{case_id(pull)}@{revision.head[:12]}"


def _looks(pull: PullRequest, login: str) -> list[str]:
    """The states that an account reviewed, in order: it opened a thread there, or submitted a review.

    A reply to a thread is also stored as a review, without text or verdict: it does not count.
    """
    if same_login(pull.author.login, login):
        return []
    seen = {thread.commit for thread in pull.threads if _is_by(thread, login)}
    submitted = (one for one in pull.reviews if same_login(one.author.login, login))
    seen |= {one.commit for one in submitted if one.state != "COMMENTED" or one.body.strip()}
    return [revision.head for revision in pull.revisions if revision.head in seen]


def _is_by(thread: Thread, login: str) -> bool:
    return same_login(thread.opened_by.login, login)


def _change(item: Candidate, pull: PullRequest, revision: Revision) -> Change | str:
    """The change at a state; for the final one no commits are needed."""
    found = change_at(pull, revision)
    if isinstance(found, str) and revision.head == item.case.change.head:
        return item.case.change
    return found


def _with_timing(comment: Comment, state: _State, extra: Mapping[str, JsonValue]) -> Comment:
    """A comment with `extra`, and the seconds until it was posted."""
    starts = {"after_push": state.revision.pushed, "after_open": state.pull.created}
    timing = {name: _seconds(start, comment.created) for name, start in starts.items()}
    known = {name: seconds for name, seconds in timing.items() if seconds is not None}
    return comment.model_copy(update={"extra": {**comment.extra, **extra, **known}})


def _seconds(start: datetime | None, end: datetime | None) -> float | None:
    """Whole seconds between two times; None where one is unknown, or a clock was wrong."""
    if start is None or end is None or end < start:
        return None
    return round((end - start).total_seconds())
