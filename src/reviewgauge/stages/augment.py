"""Put each review thread into one precise comment; threads that found no issue leave the references.

Source: AACR-Bench (arXiv:2601.19494), appendix B.1 and Figure 8, whose prompt this is. The paper does not print how a
conversation is written out: here each message stands behind the role of who said it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from reviewgauge.core.building import BuildContext, Candidate, Decision
from reviewgauge.core.plugin import short_spec
from reviewgauge.core.records import Comment
from reviewgauge.core.results import Drop
from reviewgauge.models.request.messages import Message, system
from reviewgauge.models.request.prompts import FENCE_NOTE, fence
from reviewgauge.stages.asking.stage import AskingStage, code_of, own_prompt, place_of, prompt_pins, storable
from reviewgauge.stages.asking.summaries import NOTHING, read_summary
from reviewgauge.stages.pull_requests.conversations import (
    Roles,
    Turn,
    fenced_conversation,
    plain_conversation,
    turns_of,
)
from reviewgauge.stages.pull_requests.references import left_out, replace_references
from reviewgauge.stages.pull_requests.threads import thread_of

NO_CODE = "(The diff hunk is not at hand.)"
NO_ISSUE = "no code issue in its thread"


@dataclass(frozen=True)
class Augment(AskingStage):
    """Each reference in the model's words, its own and its replies in `extra["original"]`; several issues are several.

    A reference without a thread is summarised by itself, a clean change passes. `others`: threads without an issue are
    left out as in the paper ("drop"), or stand among the neutral comments with the reason ("neutral"). `prompt`: the
    paper's words, "published" to the letter, or "fenced" with each message and the hunk marked as data.
    """

    model: str
    prompt: Literal["fenced", "published"] = "fenced"
    others: Literal["drop", "neutral"] = "drop"

    def __post_init__(self) -> None:
        """Refuse an unknown model. Raises UserError."""
        self.check()

    def pins(self) -> Mapping[str, str]:
        """The digest of what the model is told."""
        return prompt_pins(own_prompt("augment"), fenced=self.prompt == "fenced")

    def each(self, item: Candidate, place: BuildContext) -> Iterator[Candidate | Drop | Decision]:
        """The candidate with precise comments, or a drop where no thread found an issue. Raises Failed."""
        references = item.case.references
        if not references:
            yield item
            return
        said = [self._said(item, comment) for comment in references]
        code = [code_of(item, comment) for comment in references]
        asked = [at for at, turns in enumerate(said) if turns]
        answers = self.ask([self.messages(code[at], said[at]) for at in asked], read_summary)
        issues: dict[str, list[str]] = {comment.id: [] for comment in references}
        for at, answer in zip(asked, answers, strict=True):
            issues[references[at].id] = [storable(issue) for issue in answer.value]
            conversation = plain_conversation(said[at])
            yield self.decision(
                item,
                shown=f"{place_of(references[at])}\n\n{code[at]}\n\n{conversation}".strip(),
                decided="\n".join(f"- {issue}" for issue in answer.value) or NOTHING,
            )
        by = short_spec(self)
        made = {c.id: _in_other_words(c, turns, issues[c.id], by) for c, turns in zip(references, said, strict=True)}
        if not any(made.values()):
            yield self.drop(item.id, "no code issue in any of its threads", f"{len(references)} threads")
            return
        kept = replace_references(item, made)
        if self.others == "neutral":
            moved = tuple(left_out(comment, by, NO_ISSUE) for comment in references if not made[comment.id])
            kept = kept.with_case(neutral=(*kept.case.neutral, *moved))
        yield kept

    def _said(self, item: Candidate, comment: Comment) -> list[Turn]:
        """The conversation that a reference comes from, else its own words."""
        name = thread_of(comment)
        if item.pull is not None and name is not None:
            roles = Roles(item.pull)
            for thread in item.pull.threads:
                if thread.id == name:
                    return turns_of(thread, roles)
        return [Turn("reviewer", comment.body.strip())] if comment.body.strip() else []

    def messages(self, code: str, said: Sequence[Turn]) -> tuple[Message, ...]:
        """The paper's prompt, filled."""
        prompt = own_prompt("augment")
        if self.prompt == "published":
            return prompt.messages({"diff_hunk": code or NO_CODE, "review_comments": plain_conversation(said)})
        values = {"diff_hunk": fence(code) if code else NO_CODE, "review_comments": fenced_conversation(said)}
        return (system(FENCE_NOTE), *prompt.messages(values))


def _in_other_words(comment: Comment, said: Sequence[Turn], issues: Sequence[str], by: str) -> list[Comment]:
    """One comment an issue, at the place of the first; `id#1`, `id#2` ... where there are several."""
    original = [{"role": turn.role, "body": turn.body} for turn in said]
    extra = {**comment.extra, "original": original, "augmented_by": by}
    names = [comment.id] if len(issues) == 1 else [f"{comment.id[:480]}#{n}" for n in range(1, len(issues) + 1)]
    return [
        comment.model_copy(update={"id": name, "body": issue, "extra": extra})
        for name, issue in zip(names, issues, strict=True)
    ]
