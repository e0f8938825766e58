"""Summarise each review thread as one precise comment; threads without an issue leave the references.

Source: AACR-Bench (arXiv:2601.19494), appendix B.1 and Figure 8, whose prompt this is. The paper does not print how a
conversation is written out: here each message stands behind the role of who said it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate, DecisionKind
from reviewgauge.core.protocols import StageOutput
from reviewgauge.core.records import Comment
from reviewgauge.core.specs import short_spec
from reviewgauge.core.trust import ModelName
from reviewgauge.models.answers.json_values import storable
from reviewgauge.models.answers.prose import is_refusal
from reviewgauge.models.answers.readers import Unreadable, without_reasoning
from reviewgauge.models.request.messages import FENCE_NOTE, Message, fence, system
from reviewgauge.stages.asking.stage import (
    AskingStage,
    Roles,
    Turn,
    code_of,
    decision,
    fenced_conversation,
    own_prompt,
    plain_conversation,
    prompt_pins,
    shown_with,
    turns,
)
from reviewgauge.stages.pull_requests.candidates import replace_references, thread_behind

NO_CODE = "(The diff hunk is not at hand.)"


@dataclass(frozen=True)
class Augment(AskingStage):
    """Rewords each reference by model; the thread is kept in `extra["original"]`. Several issues become several.

    A reference without a thread is summarised by itself, a clean change passes. Threads without an issue
    are left out, as in the paper. `prompt`: the paper's,
    "published" to the letter, or "fenced" with each message and the hunk marked as data.
    """

    model: ModelName
    prompt: Literal["fenced", "published"] = "fenced"

    @override
    def pins(self) -> Mapping[str, str]:
        return prompt_pins(own_prompt("augment"), fenced=self.prompt == "fenced")

    @override
    def each(self, item: Candidate, context: BuildContext) -> StageOutput:
        references = item.case.references
        if not references:
            yield item
            return
        conversations = [self._turns(item, comment) for comment in references]
        code = [code_of(item, comment) for comment in references]
        asked = [at for at, turns in enumerate(conversations) if turns]
        answers = self.ask([self.messages(code[at], conversations[at]) for at in asked], read_summary)
        issues: dict[str, list[str]] = {comment.id: [] for comment in references}
        for at, answer in zip(asked, answers, strict=True):
            issues[references[at].id] = [storable(issue) for issue in answer.value]
            shown = shown_with(item, references[at], plain_conversation(conversations[at]))
            decided = "\n".join(f"- {issue}" for issue in answer.value) or NOTHING
            made = decision(self, item, shown=shown, decided=decided)
            yield made.on(DecisionKind.COMMENT, references[at].id)
        by = short_spec(self)
        reworded = {
            c.id: _in_other_words(c, turns, issues[c.id], by)
            for c, turns in zip(references, conversations, strict=True)
        }
        if not any(reworded.values()):
            yield self.drop(item.id, "no code issue in any of its threads", f"{len(references)} threads")
            return
        yield replace_references(item, reworded)

    def _turns(self, item: Candidate, comment: Comment) -> list[Turn]:
        """The conversation behind a reference, else its own text."""
        thread = thread_behind(item, comment)
        if item.pull is not None and thread is not None:
            return turns(thread.remarks, Roles(item.pull))
        return [Turn("reviewer", comment.body.strip())] if comment.body.strip() else []

    def messages(self, code: str, turns: Sequence[Turn]) -> tuple[Message, ...]:
        """The paper's prompt, filled."""
        prompt = own_prompt("augment")
        if self.prompt == "published":
            return prompt.messages({"diff_hunk": code or NO_CODE, "review_comments": plain_conversation(turns)})
        values = {"diff_hunk": fence(code) if code else NO_CODE, "review_comments": fenced_conversation(turns)}
        return (system(FENCE_NOTE), *prompt.messages(values))


def _in_other_words(comment: Comment, turns: Sequence[Turn], issues: Sequence[str], by: str) -> list[Comment]:
    """One comment per issue at the reference's place; ids are `id#1`, `id#2` ... where there are several."""
    original = [{"role": turn.role, "body": turn.body} for turn in turns]
    extra = {**comment.extra, "original": original, "augmented_by": by}
    names = [comment.id] if len(issues) == 1 else [f"{comment.id[:480]}#{n}" for n in range(1, len(issues) + 1)]
    return [
        comment.model_copy(update={"id": name, "body": issue, "extra": extra})
        for name, issue in zip(names, issues, strict=True)
    ]


NOTHING = "No code issues identified."
LONGEST = 2_000  # characters of one issue; the prompt asks for one or two sentences
MOST = 20
_NOTHING = re.compile(r"[\W_]*no code issues? (?:were |was |have been |are )?identified[\W_]*", re.IGNORECASE)
_SAYS_NOTHING = re.compile(r"no code issues? (?:were |was |have been |are )?identified", re.IGNORECASE)
_BULLET = re.compile(r"(?<![ \t])[ \t]*(?:[-*•–]|\d{1,2}[.)])[ \t]+(?=\S)")
_HEADING = re.compile(
    r"[ \t]*(?:#{1,6}[ \t]+\S.*|\*\*[^*\n]{1,80}\*\*:?[ \t]*"
    r"|(?:[\w*]+[ \t]+){0,5}\**(?:issues?|summary|feedback|concerns?|background)\**:\**[ \t]*)",
    re.IGNORECASE,
)


def read_summary(text: str) -> list[str]:
    """The issues of a thread, one text each; an empty list where there is none. Raises Unreadable."""
    answer = _unfenced(without_reasoning(text))
    if _NOTHING.fullmatch(answer):
        return []
    if _SAYS_NOTHING.search(answer):
        raise Unreadable("it says that there are no code issues, and more than that")
    if is_refusal(answer) or any(own_prompt("augment").is_repeated_by(line) for line in answer.splitlines()):
        raise Unreadable("it is not a summary of the conversation")
    issues = _issues(answer)
    if not issues:
        raise Unreadable("it holds no text")
    if len(issues) > MOST:
        raise Unreadable(f"it lists {len(issues)} issues, and no thread has more than {MOST}")
    if (longest := max(map(len, issues))) > LONGEST:
        raise Unreadable(f"one issue has {longest:,} characters, and one or two sentences are asked for")
    if len(set(issues)) < len(issues):
        raise Unreadable("it lists the same issue twice")
    return issues


def _unfenced(answer: str) -> str:
    """Without a code fence around the whole of it."""
    found = re.fullmatch(r"```\w*\n(.*)\n```", answer, re.DOTALL)
    return found[1].strip() if found and "```" not in found[1] else answer


def _issues(answer: str) -> list[str]:
    """The bullet points of the outermost level, where there are two or more; else the whole answer.

    What stands before the first of several bullet points is background to all of them and is put before each.
    """
    lines = [line for line in answer.split("\n") if not _HEADING.fullmatch(line)]
    marked = [(at, len(line) - len(line.lstrip())) for at, line in enumerate(lines) if _BULLET.match(line)]
    outermost = min((indent for _, indent in marked), default=0)
    starts = [at for at, indent in marked if indent == outermost]
    if len(starts) < 2:
        return [text] if (text := _joined(lines)) else []
    background = _joined(lines[: starts[0]])
    bodies = [_joined(lines[a:b]) for a, b in pairwise([*starts, len(lines)])]
    return [f"{background} {body}".strip() for body in bodies if body]


def _joined(lines: Sequence[str]) -> str:
    """The lines as one text, without the mark of a bullet point that it begins with."""
    text = "\n".join(line.rstrip() for line in lines).strip()
    return _BULLET.sub("", text, count=1) if _BULLET.match(text) else text
