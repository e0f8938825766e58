"""Find the review comments that were acted on: a later commit of the pull request changed their lines.

Source: this project, for the criterion that SWR-Bench, ContextCRBench and AACR-Bench name without a procedure (AACR,
arXiv:2601.19494: "at least one adopted comment that led to code modification"). No model is asked: lines are traced
through the commits. That lines changed is not proof that a comment was right; docs/guides/build.md has the base rate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.building import Candidate
from reviewgauge.core.pull_requests import PullRequest, Thread
from reviewgauge.core.records import Comment, Resolution
from reviewgauge.stages.pull_requests.adoption import Adoption, adoptions, signals
from reviewgauge.stages.pull_requests.candidates import PullStage, is_bot, thread_of


@dataclass(frozen=True)
class FindAdopted(PullStage):
    """Give each reference that was acted on its `resolution`, and each its signals in `extra["adoption"]`.

    The resolution is the commit that changed the lines, the code that it left, and what was answered. The fact
    `adopted` counts the threads of people that were acted on, references or not. Where the commits are not at hand the
    forge's word counts: it calls a thread outdated when its lines were changed; then the final commit stands for the
    one that did it.
    """

    costly: ClassVar[bool] = True

    @override
    def narrow_pull(self, item: Candidate, pull: PullRequest) -> Candidate | str:
        by_thread = adoptions(pull)
        threads = {thread.id: thread for thread in pull.threads}
        references = tuple(_with_adoption(comment, pull, threads, by_thread) for comment in item.case.references)
        adopted = sum(_is_changed(by_thread[thread.id]) for thread in pull.threads if not is_bot(thread.opened_by))
        return item.with_case(references=references).with_facts({"adopted": adopted})


def _is_changed(adoption: Adoption | None) -> bool:
    return adoption is not None and adoption.changed is True


def _with_adoption(
    comment: Comment, pull: PullRequest, threads: dict[str, Thread], by_thread: dict[str, Adoption | None]
) -> Comment:
    """A reference with the adoption of its thread."""
    thread = threads.get(thread_of(comment) or "")
    if thread is None:
        return comment
    adoption = by_thread[thread.id]
    extra = {**comment.extra, "adopted": _is_changed(adoption), "adoption": signals(thread, adoption)}
    update: dict[str, object] = {"extra": extra}
    if adoption is not None and adoption.changed:
        answers = [one.body for one in thread.remarks[1:] if one.author.login == pull.author.login]
        subjects = {commit.id: commit.message.partition("\n")[0] for commit in pull.commits}
        update["resolution"] = Resolution(
            commit=adoption.commit or pull.head,
            snippet=adoption.snippet,
            explanation=(answers[-1] if answers else subjects.get(adoption.commit or "")) or None,
        )
    return comment.model_copy(update=update)
