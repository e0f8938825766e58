"""One report on the whole change: the files that matter under a budget, few and severe findings, ranked.

Source: PR-Review, the best system of SWR-Bench (arXiv:2509.01494, IV-B2): one consolidated diff, files prioritised
where the context is short, a report structured into tests, security and other. The paper puts its lead down to few
false positives: 1.49 findings a review, the most severe of all systems. Our own implementation of that description,
with our own prompt (`prompt="own"`). With `context="static"` it is the paper's Hybrid-Review on top of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Change, ChangedFile, Task
from reviewgauge.core.results import Drop
from reviewgauge.core.trust import ModelName, PluginSpec
from reviewgauge.models.answers.records import answer_schema
from reviewgauge.models.request.messages import FENCE_NOTE, Message, fence, load_prompt
from reviewgauge.models.request.messages import Prompt as Template
from reviewgauge.repo.diff.diffs import parse_patch
from reviewgauge.repo.syntax.languages import is_documentation, is_generated_or_vendored, is_test, language
from reviewgauge.reviewers.reading.change_text import Piece, Pieces, diff_text, pieces_of
from reviewgauge.reviewers.reading.context_text import BUDGET, CHARACTERS, load_contexts, pin_contexts
from reviewgauge.reviewers.reading.model_answers import PieceReview
from reviewgauge.reviewers.reading.model_reviewer import ModelReviewer
from reviewgauge.reviewers.reading.report_answers import RankedReport, read_ranked_report

# A whole change as one diff within a budget, its most important files first. What is left out is named.


_MOST_NAMES = 50  # of files that are not shown


def prioritised(change: Change, tokens: int) -> Pieces:
    """One piece with as much of the change as fits into `tokens` by estimate.

    First come source files, then tests, other text, documentation, generated and vendored files; within each those
    that add most lines. Files that only delete, and files without hunks, come last. A file that does not fit is left
    out; where the first does not, the change is cut off.
    """
    ranked = change.model_copy(update={"files": tuple(sorted(change.files, key=_rank))})
    whole = pieces_of(ranked, "change")
    left = tokens * CHARACTERS
    if not whole.pieces or len(whole.pieces[0].text) <= left:
        return whole
    shown: list[ChangedFile] = []
    unread = list(whole.unread)
    for file in ranked.files:
        length = len(diff_text(Change(repo="one", files=(file,)))) + 1
        if length <= left:
            shown.append(file)
            left -= length
        else:
            unread.append(f"{file.path}: left out for the budget of {tokens:,} tokens")
    if not shown or shown[0] is not ranked.files[0]:
        return pieces_of(ranked, "change", tokens * CHARACTERS)
    kept = change.model_copy(update={"files": tuple(shown)})
    return Pieces([Piece("the change", diff_text(kept), kept)], unread)


def _rank(file: ChangedFile) -> tuple[int, int, str]:
    """The smaller, the more important."""
    hunks = parse_patch(file.patch or "")
    added = sum(line.kind == "+" for hunk in hunks for line in hunk.lines)
    return (_kind(file.path) if added else 5 if hunks else 6, -added, file.path)


def _kind(path: str) -> int:
    if is_generated_or_vendored(path):
        return 4
    if is_documentation(path):
        return 3
    if is_test(path):
        return 1
    return 0 if language(path) else 2


@dataclass(frozen=True)
class PrReview(ModelReviewer):
    """Asks `model` once about a change, of which `tokens` by estimate are shown, for at most `most` findings.

    The trace has what it said about tests and security, and what was not shown. `context` and `budget`: see `prompt`.
    """

    model: ModelName
    most: int = 3
    tokens: int = 24_000
    prompt: Literal["own"] = "own"
    context: PluginSpec | tuple[PluginSpec, ...] = ()
    budget: int = BUDGET

    def __post_init__(self) -> None:
        load_contexts(self.context)  # refuses what is not a context before anything is read

    @property
    def _tasks(self) -> tuple[Task, ...]:
        return (Task.REVIEW, Task.ASSESS)

    @property
    def _template(self) -> Template:
        return load_prompt("reviewgauge.reviewers", "pr_review")

    def pins(self) -> Mapping[str, str]:
        """The words of the prompt, and what the contexts rest on."""
        return {"prompt": self._template.fenced_digest} | pin_contexts(self._contexts)

    def prepare(self, changes: Sequence[Change]) -> Sequence[Drop]:
        """Name the changes that it cannot read and the files that it does not show. Raises UserError."""
        if self.most < 1 or self.tokens < 1:
            raise UserError(f"most and tokens must be positive, got {self.most} and {self.tokens}")
        return super().prepare(changes)

    def _pieces(self, change: Change) -> Pieces:
        return prioritised(change, self.tokens)

    def _answers(self, change: Change, pieces: Sequence[Piece], contexts: Sequence[str]) -> Sequence[PieceReview]:
        (piece,), (context,) = pieces, contexts
        return self._ask(pieces, [self.question(change, piece, context)], self.read, answer_schema(RankedReport))

    def question(self, change: Change, piece: Piece, context: str = "") -> tuple[Message, ...]:
        """What the model is asked about the piece of a change that fits."""
        return self._template.messages(
            {
                "fence_note": FENCE_NOTE,
                "pr_title": fence(change.title),
                "pr_description": fence(change.description),
                "diff_hunk": fence(piece.text),
                "omitted": _omitted(change, piece),
                "context": f"\nContext:\n{fence(context)}\n" if context else "",
                "most": str(self.most),
            }
        )

    def read(self, text: str) -> PieceReview:
        """The answer, its findings not placed yet. Raises Unreadable."""
        found, report = read_ranked_report(text, self._template)
        extra = len(found) - self.most
        more = [f"{extra} more than the {self.most} most severe findings were left out"] if extra > 0 else []
        remark = "\n".join([f"tests: {report.tests}", f"security: {report.security}", *more])
        return PieceReview(comments=found[: self.most], remark=remark)


def _omitted(change: Change, piece: Piece) -> str:
    """The names of the files that are not shown, for the prompt; empty where all are."""
    shown = {file.path for file in piece.change.files}
    names = [file.path for file in change.files if file.path not in shown]
    if not names:
        return ""
    more = [f"and {len(names) - _MOST_NAMES:,} more"] if len(names) > _MOST_NAMES else []
    return "\nAlso changed, and not shown:\n" + fence("\n".join([*names[:_MOST_NAMES], *more])) + "\n"
