"""Can a model repair the change with this review, and could it without one? Its edits are applied, and the tests run.

Source: c-CRAB (arXiv:2603.23448), where an agent acts on each tool's review. The arm with an empty review, one repair
from each finding alone, and harm are ours. The test of paired proportions is McNemar's (1947), exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Aggregate, Measured
from reviewgauge.core.records import Case, Comment, Review
from reviewgauge.core.results import Vote
from reviewgauge.core.trust import ModelName
from reviewgauge.judges.pairs.asking import all_read
from reviewgauge.metrics.execution.outcomes import matching_of, try_one, wholly
from reviewgauge.metrics.execution.runs import TestedChange, Tried
from reviewgauge.metrics.execution.runs_tests import RunsTests
from reviewgauge.metrics.execution.suggestions import Suggestion, Suggestions
from reviewgauge.metrics.execution.worth import why_worthless
from reviewgauge.models.answers.json_values import storable
from reviewgauge.models.answers.readers import Unreadable
from reviewgauge.models.answers.records import AnswerRecord, answer_schema, read_record
from reviewgauge.models.chat.ask import ask_for_each
from reviewgauge.models.chat.client import chat_model
from reviewgauge.models.request.messages import FENCE_NOTE, Message, Prompt, fence, load_prompt
from reviewgauge.models.request.model_spec import parse_model
from reviewgauge.repo.diff.edits import Block, Refusal

if TYPE_CHECKING:
    from reviewgauge.core.protocols import Numbers

_LONGEST = 120_000  # characters of the files that the model is shown
_NONE = "(The reviewer made no remark.)"
Arm = tuple[str, ...]  # the comments that the model is shown, by their ids


class EditAnswer(AnswerRecord):
    """Lines of one file and those in their place."""

    path: str
    old: str
    new: str


class RepairAnswer(AnswerRecord):
    """The model's answer."""

    edits: list[EditAnswer]


@dataclass(frozen=True)
class UsefulRepairs(RunsTests):
    """`difference`: the share of the verified findings that `model` repairs with the review, less that without it.

    The model is asked once with each comment alone, once with the whole review and once with an empty one, in the same
    words and with the same limits. Its edits are applied and tested as those of `useful_suggestions`; a repair that
    breaks something repairs nothing. `alone`: findings that a single comment repairs, so that success has an author.
    `review_only` and `empty_only` are the findings that only one of the two arms repairs, and `p` is McNemar's exact
    test between them, two-sided, which takes findings as independent.
    """

    example: ClassVar[str] = "useful_repairs(model='fake:example', test='python -m pytest -q {files}')"

    model: ModelName = ""

    headline: ClassVar[str] = "difference"
    units: ClassVar[Mapping[str, str]] = {"p": "p", "seconds": "seconds per change"}
    signed: ClassVar[frozenset[str]] = frozenset({"difference"})
    lower_is_better: ClassVar[frozenset[str]] = frozenset({"broken", "empty_only", "p", "seconds"})

    def __post_init__(self) -> None:
        """Raises ValueError as its base does, UserError for a model that is not named as one."""
        super().__post_init__()
        if self.model:
            parse_model(self.model)

    @property
    def models(self) -> tuple[str, ...]:
        """The model that repairs, and the judge's."""
        return (*((self.model,) if self.model else ()), *super().models)

    def pins(self) -> Mapping[str, str]:
        """The words of the prompt, and the judge's pins."""
        return {"prompt": _prompt().fenced_digest, **super().pins()}

    def unmeasurable(self, case: Case) -> str:
        """Only a change with a verified finding, whose code is at hand, can be repaired."""
        return super().unmeasurable(case) or why_worthless(case)

    def edits_of(self, review: Review) -> int:
        """One without a comment, one a comment, and one of several together."""
        return 1 + len(review.comments) + (len(review.comments) > 1)

    def parts(self, case: Case, review: Review) -> Measured | str:
        """Counts of findings by arm. Raises Failed where an answer fails, UserError without a model or a command."""
        if reason := self.unmeasurable(case):
            return reason
        if not self.model:
            raise UserError("useful_repairs needs a chat model", remedy='useful_repairs(model="openai:gpt-5", ...)')
        model = chat_model(self.model)
        tested = self.change(case)
        if not model.client.settings.dry_run and not tested.to_repair:
            why = f": {tested.problem}" if tested.problem else " each time"
            return f"no finding has tests that fail on the change{why}"
        reader = Suggestions(case, tested, f"{self.test} {self.suite}")
        sets = {_arm(comments): comments for comments in ((), review.comments, *((one,) for one in review.comments))}
        shown = _material(case, tested)
        asked = [_messages(shown, comments) for comments in sets.values()]
        schema = answer_schema(RepairAnswer)
        answers = all_read(ask_for_each(model, asked, _read, schema=schema), "repairs")
        if model.client.settings.dry_run:
            return "a dry run tests nothing"
        read = {arm: _applied(reader, answer.value) for arm, answer in zip(sets, answers, strict=True)}
        tried = {arm: try_one(tested, one) for arm, one in read.items() if isinstance(one, Suggestion)}
        own = {one.id: read[_arm([one])] for one in review.comments}
        alone = {one.id: tried[_arm([one])] for one in review.comments if _arm([one]) in tried}
        matching = matching_of(case, tested, own, alone, noun="repair")
        votes = tuple(
            Vote(rater=f"{self.model} ({_said_by(arm)})", value=len(one.value), reason=storable(one.raw))
            for arm, one in zip(sets, answers, strict=True)
        )
        parts = _counts(tested, tried, review.comments) | self.agreement(case, review, matching)
        fake = review.fake or any(answer.fake for one in answers for answer in one.answers)
        return Measured(parts=parts, matching=matching, votes=votes, fake=fake)

    def combine(self, aggregate: Aggregate) -> Mapping[str, Numbers]:
        """Every total is summed over the changes first."""
        total, ratio = aggregate.total, aggregate.ratio
        review, empty, findings = total("review_only"), total("empty_only"), total("findings")
        return {
            "difference": ratio(review - empty, findings),
            "repaired": ratio(total("with_review"), findings),
            "empty": ratio(total("with_empty"), findings),
            "alone": ratio(total("alone"), findings),
            "p": _mcnemar(review, empty),
            "review_only": ratio(review, findings),
            "empty_only": ratio(empty, findings),
            "broken": ratio(total("broken"), total("applied")),
            "agreement": ratio(total("same"), total("compared")),
            "seconds": ratio(total("seconds"), total("changes")),
        }


def _mcnemar(first: Numbers, second: Numbers) -> Numbers:
    """The exact two-sided p of two counts that are equal in expectation; NaN where both are 0."""
    from scipy.stats import binom

    n = first + second
    found: Numbers = np.minimum(1.0, 2 * binom.cdf(np.minimum(first, second), n, 0.5))
    return np.where(n > 0, found, np.nan)


def _prompt() -> Prompt:
    return load_prompt("reviewgauge.metrics", "useful_repairs")


def _material(case: Case, tested: TestedChange) -> Mapping[str, str]:
    """The change and its files, as the model is shown them."""
    diff = "\n".join(f"--- {file.old_path or file.path}\n+++ {file.path}\n{file.patch}" for file in case.change.files)
    raw = tested.repository.blobs(tested.head, [file.path for file in case.change.files])
    files = "\n".join(
        f"=== {path}\n{text.decode('utf-8', 'replace')}" for path, text in raw.items() if text is not None
    )
    return {"fence_note": FENCE_NOTE, "diff": fence(diff[:_LONGEST]), "files": fence(files[:_LONGEST])}


def _messages(material: Mapping[str, str], comments: Sequence[Comment]) -> tuple[Message, ...]:
    said = [f"{one.span.path}:{one.span.start}: {one.body}" if one.span else one.body for one in comments]
    code = [f"\nSuggested code:\n{one.suggestion}" if one.suggestion else "" for one in comments]
    text = "\n\n".join(f"- {words}{more}" for words, more in zip(said, code, strict=True))
    return _prompt().messages({**material, "remarks": fence(text) if text else _NONE})


def _read(text: str) -> list[Block]:
    """The edits of an answer. Raises Unreadable."""
    edits = read_record(text, RepairAnswer, _prompt()).edits
    if any(not one.old.strip() for one in edits):
        raise Unreadable("an edit has no old lines")
    return [Block(one.path, _lines(one.old), _lines(one.new), None) for one in edits]


def _lines(text: str) -> tuple[str, ...]:
    return tuple(text.removesuffix("\n").split("\n")) if text else ()


def _applied(reader: Suggestions, edits: Sequence[Block]) -> Suggestion | Refusal | None:
    try:
        return reader.applied("", edits) if edits else None
    except Refusal as refusal:
        return refusal


def _arm(comments: Sequence[Comment]) -> Arm:
    return tuple(one.id for one in comments)


def _said_by(arm: Arm) -> str:
    return arm[0] if len(arm) == 1 else f"all {len(arm)} comments" if arm else "empty review"


def _counts(tested: TestedChange, tried: Mapping[Arm, Tried], comments: Sequence[Comment]) -> dict[str, float]:
    """What each arm repairs."""
    done = {arm: set(wholly(tested, one)) if not one.broken else set() for arm, one in tried.items()}
    empty, whole = done.get((), set()), done.get(_arm(comments), set())
    alone = set[str]().union(*(done.get(_arm([one]), set()) for one in comments))
    return {
        "changes": 1.0,
        "findings": float(len(tested.to_repair)),
        "with_review": float(len(whole)),
        "with_empty": float(len(empty)),
        "review_only": float(len(whole - empty)),
        "empty_only": float(len(empty - whole)),
        "alone": float(len(alone)),
        "applied": float(len(tried)),
        "broken": float(sum(bool(one.broken) for one in tried.values())),
        "seconds": sum(one.seconds for one in tried.values()),
    }
