"""Turns pull requests into candidates: the change at one state, its texts then, and the references made there.

Texts written later may reveal the findings ("use a lock, as Bob suggested"). A forge keeps each former title; of the
description it only says when it was last changed.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.base import Fact
from reviewgauge.core.building import BuildContext, Candidate
from reviewgauge.core.errors import UserError
from reviewgauge.core.json_reader import when
from reviewgauge.core.protocols import Stage
from reviewgauge.core.pull_requests import Account, AccountType, PullRequest, Revision, Thread
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Issue, Origin, Span, findings
from reviewgauge.core.results import Drop
from reviewgauge.repo.forge.accounts import bot_noise, split_suggestion
from reviewgauge.repo.forge.timeline import RENAMED
from reviewgauge.repo.git.repository import Repository
from reviewgauge.stages.sampling.draws import change_facts

LARGEST_FILE = 16 * 1024**2  # bytes; larger files get no diff
NO_CODE = "its commits are not at hand"
NO_BASE = "where it left its base cannot be found"
NO_FILES = "changes nothing"
NO_DIFF = "its change cannot be read from git"
_CHOSEN = ("repositories", "chosen")
NO_PULL = "no pull request behind it"


class PullStage(Stage):
    """A stage that needs the pull request behind a candidate."""

    needs_pulls: ClassVar[bool] = True

    @override
    def narrow(self, item: Candidate) -> Candidate | str:
        return NO_PULL if item.pull is None else self.narrow_pull(item, item.pull)

    @abstractmethod
    def narrow_pull(self, item: Candidate, pull: PullRequest) -> Candidate | str:
        """As `narrow`, where there is a pull request."""


# --- threads ---------------------------------------------------------------------------------------------------------


def is_bot(account: Account) -> bool:
    """Whether the account is an app or a bot."""
    return account.standing is AccountType.BOT


def is_other(pull: PullRequest, account: Account) -> bool:
    """Whether the account is a person other than the author; a deleted account counts as one."""
    return not is_bot(account) and (not account.login or account.login != pull.author.login)


def stands(thread: Thread) -> bool | None:
    """Whether its line is still in the final diff, by its `position`; None where that is unknown.

    Where the forge gives no positions at all, its outdated flag decides.
    """
    if thread.position is not None:
        return thread.position >= 1
    if thread.original_position is not None:
        return False  # the forge gives positions, and this one is null
    return None if thread.outdated is None else not thread.outdated


def inline_comments(threads: Iterable[Thread]) -> int:
    """The number of inline comments of people, replies included."""
    return sum(not is_bot(remark.author) for thread in threads for remark in thread.remarks)


def thread_of(comment: Comment) -> str | None:
    """The id of the thread that a reference was made from."""
    found = comment.extra.get("thread")
    return found if isinstance(found, str) else None


def thread_behind(item: Candidate, comment: Comment) -> Thread | None:
    """The thread that a reference was made from; None where the pull request does not hold it."""
    name, threads = thread_of(comment), item.pull.threads if item.pull is not None else ()
    return next((thread for thread in threads if thread.id == name), None)


# --- references after a filter ---------------------------------------------------------------------------------------


def replace_references(item: Candidate, by_id: Mapping[str, Sequence[Comment]]) -> Candidate:
    """The candidate with each reference replaced by those under its id: itself, a rewording, several, or none.

    The rest of a finding stays one finding. A reference that became several is several findings.
    """
    kept: list[Comment] = []
    roots: dict[int, str] = {}
    for number, group in enumerate(findings(item.case.references)):
        for reference in group:
            replacements = by_id[reference.id]
            if len(replacements) != 1:
                kept += [part.model_copy(update={"same_as": None}) for part in replacements]
                continue
            root = roots.setdefault(number, replacements[0].id)
            kept.append(replacements[0].model_copy(update={"same_as": None if root == replacements[0].id else root}))
    order = {reference.id: at for at, reference in enumerate(item.case.references)}
    origin = {part.id: order[name] for name, replacements in by_id.items() for part in replacements if name in order}
    return item.with_case(references=tuple(sorted(kept, key=lambda comment: origin[comment.id])))


def without_references(item: Candidate, threads: Collection[str]) -> Candidate:
    """The candidate without the references made from these threads. The rest of a finding stays one finding."""
    gone = {comment.id for comment in item.case.references if thread_of(comment) in threads}
    if not gone:
        return item
    return replace_references(item, {c.id: () if c.id in gone else (c,) for c in item.case.references})


def sort_findings(
    stage: Stage, item: Candidate, judge: Callable[[Sequence[Comment]], Sequence[Comment] | None], reason: str
) -> Iterator[Candidate | Drop]:
    """The candidate with what `judge` leaves of each finding, and a drop for each finding that it refutes (None).

    A candidate that loses all of its findings is dropped as a whole.
    """
    judged = {finding[0].id: judge(finding) for finding in findings(item.case.references)}
    kept = [reference for found in judged.values() if found is not None for reference in found]
    refuted = [name for name, found in judged.items() if found is None]
    if refuted and not kept:
        yield stage.drop(item.id, reason)
        return
    yield from (stage.drop(f"{item.id}: {name}", reason) for name in refuted)
    yield item.with_case(references=tuple(kept))


# --- which repositories --------------------------------------------------------------------------------------------


def remember_repositories(context: BuildContext, names: Sequence[str]) -> None:
    """Store the repositories that a source of the same build reads unless some are named."""
    context.remember(_CHOSEN, json.dumps(list(names)).encode())


def chosen_repositories(context: BuildContext) -> tuple[str, ...]:
    """The repositories that an earlier stage stored."""
    found = context.recall(_CHOSEN)
    return tuple(json.loads(found)) if found else ()


# --- the change ----------------------------------------------------------------------------------------------------


def case_id(pull: PullRequest) -> str:
    """`owner/name/pull/12`."""
    return f"{pull.repo}/pull/{pull.number}"


def code_of(pull: PullRequest) -> Repository | None:
    """The mirror with its commits, None where there is none."""
    return Repository(Path(pull.git)) if pull.git and Path(pull.git).is_dir() else None


def merge_base(repository: Repository, base: str, head: str, merged_as: str | None = None) -> str | None:
    """The commit where `head` branched off from `base`; None where it is unknown.

    A base that already contains the head was read after the merge: then the first parent of the merge is used.
    """
    for tip in (base, f"{merged_as}^1" if merged_as else None):
        if tip is None:
            continue
        try:
            found = repository.run("merge-base", "--end-of-options", tip, head).decode("ascii").strip()
        except UserError:
            continue
        if found and found != head:
            return found
    return None


def change_at(pull: PullRequest, revision: Revision) -> Change | str:
    """The change at `revision` with its title then, or the reason why there is none. The final state needs no git."""
    repository, title = code_of(pull), title_at(pull, revision)
    if repository is None or not repository.exists(revision.head):
        final = revision.head == pull.head and pull.files
        return change_of(pull, pull.base, revision.head, pull.files, title) if final else NO_CODE
    base = revision.base
    if base is None or not repository.exists(base):
        tip = pull.base if pull.base is not None and repository.exists(pull.base) else None
        base = merge_base(repository, tip, revision.head, pull.merge_commit) if tip is not None else None
    if base is None:
        return NO_BASE
    try:
        files = repository.changed_files(base, revision.head, LARGEST_FILE)
    except UserError:  # an invalid path or a damaged object: only this state is lost
        return NO_DIFF
    return change_of(pull, base, revision.head, files, title) if files else NO_FILES


def change_of(
    pull: PullRequest, base: str | None, head: str | None, files: Sequence[ChangedFile], title: str | None = None
) -> Change:
    """The change of a pull request between two commits."""
    return Change(
        repo=pull.repo,
        base=base,
        head=head,
        title=pull.title if title is None else title,
        description=pull.body,
        url=pull.url or None,
        files=tuple(files),
        git=pull.git,
    )


# --- the references ------------------------------------------------------------------------------------------------


def is_review(pull: PullRequest, thread: Thread) -> bool:
    """Whether a person other than the author opened the thread with a review comment."""
    return is_other(pull, thread.opened_by) and bot_noise(thread.remarks[0].body, True) is None


def thread_comment(thread: Thread, span: Span | None) -> Comment:
    """The first message of a thread as a comment at `span`."""
    first = thread.remarks[0]
    said, suggestion, lines = split_suggestion(first.body)
    extra = {
        **lines,
        "thread": thread.id,
        "url": first.url or None,
        "association": first.author.association or None,
        "resolved": thread.resolved,
        "answers": len(thread.remarks) - 1,
        "reactions": dict(first.reactions) or None,
    }
    return Comment(
        id=f"thread-{thread.id}",
        body=said,
        origin=Origin.REVIEW,
        span=span,
        suggestion=suggestion,
        author=first.author.login or None,
        commit=thread.commit,
        created=first.created,
        extra={name: value for name, value in extra.items() if value is not None},
    )


def thread_span(thread: Thread) -> Span:
    """The span of a thread in the state where it was opened."""
    if thread.line is None or thread.whole_file:
        return Span(path=thread.path, side=thread.side)
    return Span(
        path=thread.path, start=min(thread.start or thread.line, thread.line), end=thread.line, side=thread.side
    )


def current_span(thread: Thread) -> Span | None:
    """The span of a thread in the final diff; None once its lines were changed."""
    if thread.outdated:
        return None
    if thread.whole_file:
        return Span(path=thread.path, side=thread.side)
    if thread.now_line is None or not stands(thread):
        return None
    length = (thread.line - thread.start) if thread.line is not None and thread.start is not None else 0
    return Span(path=thread.path, start=max(1, thread.now_line - length), end=thread.now_line, side=thread.side)


def references_at(pull: PullRequest, head: str) -> tuple[Comment, ...]:
    """One comment per thread that a person opened on the state `head`."""
    return _references(pull, ((thread, thread_span(thread)) for thread in pull.threads if thread.commit == head))


def final_references(pull: PullRequest) -> tuple[Comment, ...]:
    """One comment per thread of a person on the final state, or on lines that are still there."""
    placed = (
        (thread, thread_span(thread) if thread.commit == pull.head else current_span(thread)) for thread in pull.threads
    )
    return _references(pull, ((thread, span) for thread, span in placed if span is not None))


def _references(pull: PullRequest, placed: Iterable[tuple[Thread, Span]]) -> tuple[Comment, ...]:
    return tuple(thread_comment(thread, span) for thread, span in placed if is_review(pull, thread))


# --- the candidate -------------------------------------------------------------------------------------------------


def final_candidate(pull: PullRequest) -> Candidate:
    """The candidate of a pull request at its final state, with the comments on that state."""
    return _candidate(pull, change_of(pull, pull.base, pull.head, pull.files), final_references(pull))


def candidate_at(item: Candidate, revision: Revision) -> Candidate | str:
    """The candidate at one state of its pull request, or the reason why there is none."""
    if item.pull is None:
        return NO_PULL
    change = change_at(item.pull, revision)
    if isinstance(change, str):
        return change
    change = carry_over(item, change)
    narrowed = _candidate(item.pull, change, references_at(item.pull, revision.head))
    facts = {**item.case.facts, **narrowed.case.facts, **text_facts(item.pull, revision)}
    case = narrowed.case
    return item.with_case(change=change, references=case.references, verdict=case.verdict, facts=facts)


def carry_over(item: Candidate, change: Change) -> Change:
    """`change`, another state of the candidate's change, with the texts, issues and task that earlier stages set."""
    kept, own = item.case.change, item.pull.title if item.pull is not None else None
    update = {"description": kept.description, "issues": kept.issues, "task": kept.task}
    return change.model_copy(update=update if kept.title == own else {**update, "title": kept.title})


def text_facts(pull: PullRequest, revision: Revision) -> dict[str, Fact]:
    """`description_edited`: whether the description was changed after the first comment on the state."""
    edited = description_edited(pull, revision)
    return {} if edited is None else {"description_edited": edited}


def _candidate(pull: PullRequest, change: Change, references: tuple[Comment, ...]) -> Candidate:
    change = change.model_copy(update={"issues": _issues(pull)})
    facts = change_facts(change, created=pull.created, commits=len(pull.commits) or None)
    facts |= {"merged": pull.merged, "threads": len(pull.threads)}
    verdict = False if references else None
    case = Case(id=case_id(pull), change=change, references=references, verdict=verdict, facts=facts)
    return Candidate(case=case, pull=pull)


def _issues(pull: PullRequest) -> tuple[Issue, ...]:
    """The issues that merging closes according to the forge; `link_issues` finds more."""
    closes = pull.extra.get("closes")
    names = closes if isinstance(closes, list) else []
    return tuple(one.issue for one in pull.issues if not one.is_pull and f"{one.repo}#{one.issue.number}" in names)


NEVER = "never"


def looked_at(pull: PullRequest, revision: Revision) -> datetime | None:
    """When a state was first commented on, else when it was pushed; None where neither is known."""
    said = [thread.remarks[0].created for thread in pull.threads if thread.commit == revision.head]
    said += [review.created for review in pull.reviews if review.commit == revision.head]
    return min((time for time in said if time is not None), default=revision.pushed)


def title_at(pull: PullRequest, revision: Revision) -> str:
    """The title when a state was first commented on; the last one where that is unknown."""
    then = looked_at(pull, revision)
    if then is None:
        return pull.title
    renamed = [(event.created, event.before) for event in pull.events if event.kind == RENAMED and event.before]
    later = [(time, before) for time, before in renamed if time is not None and time > then]
    return min(later, key=lambda one: one[0])[1] if later else pull.title


def description_edited(pull: PullRequest, revision: Revision) -> bool | None:
    """Whether the description was changed after the first comment on a state; None where that is unknown."""
    edited, then = pull.extra.get("edited"), looked_at(pull, revision)
    if edited == NEVER:
        return False
    last = when({"edited": edited}, "edited")
    return last > then if last is not None and then is not None else None
