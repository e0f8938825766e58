"""Review threads for filters: who opened them, whether they are current, and removing or replacing references."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from reviewgauge.core.building import Candidate
from reviewgauge.core.history import Account, AccountType, PullRequest, Remark, Thread
from reviewgauge.core.records import Comment, findings


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


def left_out(comment: Comment, by: str, reason: str) -> Comment:
    """The comment for the neutral ones, with the reason why it is not a reference."""
    return comment.model_copy(update={"same_as": None, "extra": {**comment.extra, "left_out": reason, "by": by}})


NO_PULL = "no pull request behind it"


def is_bot(account: Account) -> bool:
    """Whether the account is an app or a bot."""
    return account.standing is AccountType.BOT


def by_others(pull: PullRequest, remarks: Iterable[Remark]) -> Iterator[Remark]:
    """The remarks of people other than the author; a deleted account counts as another person."""
    for remark in remarks:
        if not is_bot(remark.author) and (not remark.author.login or remark.author.login != pull.author.login):
            yield remark


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


def keep_threads(item: Candidate, wanted: Callable[[Thread], bool]) -> Candidate:
    """The candidate with the wanted threads only, and without the references made from others."""
    if item.pull is None:
        return item
    kept = tuple(thread for thread in item.pull.threads if wanted(thread))
    if len(kept) == len(item.pull.threads):
        return item
    gone = {thread.id for thread in item.pull.threads} - {thread.id for thread in kept}
    pull = item.pull.model_copy(update={"threads": kept})
    return without_references(item, gone).model_copy(update={"pull": pull})


def without_references(item: Candidate, threads: Collection[str]) -> Candidate:
    """The candidate without the references made from these threads. The rest of a finding stays one finding."""
    gone = {comment.id for comment in item.case.references if thread_of(comment) in threads}
    if not gone:
        return item
    return replace_references(item, {c.id: () if c.id in gone else (c,) for c in item.case.references})
