"""A chat model with one prompt, asked about every hunk, about the whole change, or one of the three small questions.

Sources of the presets: `aacr` is AACR-Bench's prompt (arXiv:2601.19494, Figure 16; Figure 17 with a context), to the
letter with `prompt="published"`, with the text under review fenced as data with `prompt="fenced"`. The others ask what
a paper describes whose prompt it does not print, in our own words (`prompt="own"`): `contextcrbench_assess`, `_locate`
and `_comment` are the questions of ContextCRBench (arXiv:2511.07017), `swr` is the LLM-Review of SWR-Bench
(arXiv:2509.01494), `crscore` asks as CRScore (arXiv:2409.19801) does, with three fixed examples, which are ours.
AACR-Bench ran all models at temperature .7, top-p .95 and top-k 20, ContextCRBench at temperature 0, SWR-Bench at .2.
That stands in the model's name: `?temperature=0.7&top_p=0.95&top_k=20`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from reviewgauge.core.errors import UserError
from reviewgauge.core.files import read_file
from reviewgauge.core.records import Change, Task
from reviewgauge.core.results import Drop
from reviewgauge.core.trust import FilePath, ModelName, PluginSpec
from reviewgauge.models.request.messages import Message, fence, load_prompt, read_prompt
from reviewgauge.models.request.messages import Prompt as Template
from reviewgauge.reviewers.reading.change_text import Piece, Pieces, Scope
from reviewgauge.reviewers.reading.context_text import BUDGET, load_contexts, pin_contexts
from reviewgauge.reviewers.reading.model_answers import PieceReview
from reviewgauge.reviewers.reading.model_reviewer import ModelReviewer
from reviewgauge.reviewers.reading.presets import PRESETS, Preset, PresetName, check_template, completed


@dataclass(frozen=True)
class Prompt(ModelReviewer):
    """Asks `model` with the prompt of `preset`, once a hunk or once for the whole change.

    `scope` is that of the preset's source unless given. The small tasks are asked once, about the hunk in focus.
    `prompt` is "own" for a preset whose source prints none. A piece longer than `truncate` characters is cut off at a
    line's end, which the review's trace says; 0 cuts nothing. `context` is what the model is given beside the piece:
    one context, or several whose excerpts are added, within `budget` tokens by estimate. The trace says what did not
    fit. `template` is a file with words of your own, what to look for, say; the diff, the form of answer and the note
    on fenced texts follow, as the preset has them. With a line `[user]` or `[system]` it stands for the whole prompt
    (`reviewgauge info prompt --show swr` prints one to begin with, `reviewgauge evolve` writes such files).
    """

    advice: ClassVar[str] = "take"

    model: ModelName
    scope: Scope | Literal[""] = ""
    preset: PresetName = "aacr"
    prompt: Literal["fenced", "published", "own"] = "fenced"
    truncate: int = 0
    context: PluginSpec | tuple[PluginSpec, ...] = ()
    budget: int = BUDGET
    template: FilePath = ""

    def __post_init__(self) -> None:
        load_contexts(self.context)  # refuses what is not a context before anything is read
        if self.template and self.prompt == "published":
            raise ValueError("a template of your own is not the published prompt")
        if not self._preset.printed and self.prompt == "fenced":  # our own words are always fenced
            object.__setattr__(self, "prompt", "own")
        if self._preset.printed == (self.prompt == "own"):
            known = "is published" if self._preset.printed else "has our own words, as its source prints none"
            raise ValueError(f"the prompt of {self.preset} {known}, not prompt={self.prompt!r}")
        if self.scope and self._preset.numbered:
            raise ValueError(f"preset={self.preset!r} shows the hunk in focus: leave scope={self.scope!r} out")

    @property
    def _preset(self) -> Preset:
        return PRESETS[self.preset]

    @property
    def _tasks(self) -> tuple[Task, ...]:
        return self._preset.tasks

    def words(self, context: bool = False) -> Template:
        """The prompt: the user's own, completed, or the preset's. Raises UserError."""
        return _own_template(self.template, self.shipped(context), context) if self.template else self.shipped(context)

    def shipped(self, context: bool = False) -> Template:
        """The preset's own words."""
        name = self.preset + "_context" * (context and self._preset.printed) + "_fenced" * (self.prompt == "fenced")
        return load_prompt("reviewgauge.reviewers", name)

    def pins(self) -> Mapping[str, str]:
        """The words of the prompt, without context and with it, and what the contexts rest on."""
        if self.prompt == "own" or self.template:
            return {"prompt": self.words(False).fenced_digest} | pin_contexts(self._contexts)
        found = {"prompt": self.words(False).digest}
        if self.context:
            found["prompt with context"] = self.words(True).digest
        return found | pin_contexts(self._contexts)

    def prepare(self, changes: Sequence[Change]) -> Sequence[Drop]:
        """Name the changes that it cannot read, which will be failures, and count the files. Raises UserError."""
        if self.truncate < 0:
            problem = f"truncate of prompt must not be negative, got {self.truncate}"
            raise UserError(problem, remedy="truncate=0 shows everything")
        if self.template and (wrong := self.template_problem(self.words(bool(self.context)))):
            raise UserError(f"{self.template}: {wrong}", remedy=f"reviewgauge info prompt --show {self.preset}")
        return super().prepare(changes)

    def template_problem(self, template: Template) -> str:
        """Why a prompt cannot stand in the place of the preset's own; empty where it can."""
        return check_template(template, self.shipped(), bool(self.context))

    @property
    def _called(self) -> str:
        return f"preset={self.preset!r}"

    def _pieces(self, change: Change) -> Pieces:
        return self._preset.pieces(change, self.scope, self.truncate)

    def _messages(self, change: Change, piece: Piece, context: str = "") -> tuple[Message, ...]:
        dress = str if self.prompt == "published" else fence
        return self._preset.messages(self.words(bool(context)), change, piece, dress, context)

    def _answers(self, change: Change, pieces: Sequence[Piece], contexts: Sequence[str]) -> Sequence[PieceReview]:
        preset, shipped = self._preset, self.shipped()  # words of a template of one's own are no echo
        talks = [self._messages(change, piece, context) for piece, context in zip(pieces, contexts, strict=True)]
        return self._ask(pieces, talks, lambda text: preset.reader(text, change, shipped), preset.schema)


def _own_template(path: str, shipped: Template, context: bool) -> Template:
    try:
        text = read_file(Path(path)).decode("utf-8-sig").replace("\r\n", "\n")
        if not text.strip():
            raise UserError(f"{path} is empty", remedy="write into it what the reviewer should look for")
        return read_prompt(completed(text, shipped, context), path)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}", remedy="check template=") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not UTF-8", remedy="save it as UTF-8") from None
