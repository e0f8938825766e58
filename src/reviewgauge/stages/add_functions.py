"""Add the code around each hunk, before and after: the smallest function, method or class, as a benchmark's context.

Source: ContextCRBench (arXiv:2511.07017), 2.2.2: the file at base and head, its syntax tree by tree-sitter, the
smallest enclosing scope of the hunk's lines; empty on the side where the file does not exist. The paper does not say
what it takes for a hunk in no function or class; here that is the whole file.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

from typing_extensions import override

from reviewgauge.core.base import Fact
from reviewgauge.core.building import BuildContext, Candidate, CardSection
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Stage, StageOutput
from reviewgauge.core.records import Case, Side
from reviewgauge.repo.diff.diffs import parse_patch
from reviewgauge.repo.git.blobs import BlobReader
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.syntax.around_hunks import AroundHunks, Found

_AHEAD = 8  # candidates in progress at a time
_THREADS = 2
_KINDS = ("function", "method", "class", "file", "window")


@dataclass(frozen=True)
class AddFunctions(Stage):
    """Snippets of both sides, one for each scope, for the hunks of the change, or of its `focus` alone.

    `changed`: by the changed lines; otherwise by all lines of the hunk, context included, as the paper has it. A scope
    of more than 1,000 lines becomes a window of 20 lines on either side of the hunk. So does code whose syntax is not
    known; the card counts them.
    """

    changed: bool = False

    @override
    def apply(self, items: Iterable[Candidate], context: BuildContext) -> StageOutput:
        kinds: Counter[tuple[str, Side]] = Counter()
        reasons: Counter[str] = Counter()
        entries = _Entries()
        with ExitStack() as stack:
            reader = cache(lambda git: stack.enter_context(BlobReader(Repository(Path(git)))))
            threads = stack.enter_context(ThreadPoolExecutor(_THREADS))
            around = AroundHunks(self.changed)
            for item, result in _ahead(items, lambda item: around.find(item.case.change, reader), threads):
                try:
                    found = result.result()
                except UserError as error:
                    yield self.drop(item.id, "the code cannot be read", str(error))
                    continue
                if isinstance(found, str):
                    yield self.drop(item.id, *found.split("\n"))
                    continue
                snippets = tuple(snippet for snippet, _ in found if snippet is not None)
                kinds.update((snippet.kind, snippet.side) for snippet in snippets)
                reasons.update(reason for _, reason in found if reason)
                made = item.with_change(snippets=snippets)
                entries.add(made.case)
                yield made
        context.report(_section(kinds, reasons))
        context.report(entries.section())


class _Entries:
    """Counts as in ContextCRBench's Table 2: of all entries, and of those that could not be merged."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[str]] = {}
        self._languages: dict[str, set[Fact]] = {}

    def add(self, case: Case) -> None:
        """Count an entry."""
        change = case.change
        texts = (change.title, change.description, *(text for one in change.issues for text in (one.title, one.body)))
        more = Counter(
            entries=1,
            hunks=sum(len(hunk.lines) for file in change.files for hunk in parse_patch(file.patch or "")),
            text=sum(map(len, texts)),
            code=sum(len(one.text.splitlines()) for one in change.snippets),
        )
        for group in ("all", "unmerged")[: 1 + (case.verdict is False)]:
            self._counts.setdefault(group, Counter()).update(more)
            self._languages.setdefault(group, set()).update(
                {case.facts["language"]} if "language" in case.facts else ()
            )

    def section(self) -> CardSection:
        """The table."""
        rows = [
            (group, count["entries"], len(self._languages[group] - {""}), count["hunks"], count["text"], count["code"])
            for group, count in self._counts.items()
        ]
        return CardSection(
            by="add_functions",
            title="Entries and their context",
            text="As in ContextCRBench's Table 2, before a sample is drawn: assess takes all, locate and comment"
            " the unmerged ones. Text is title, description and issues, in characters; the paper names no unit.",
            columns=("entries", "number", "languages", "lines of hunks", "length of text", "lines of code"),
            rows=tuple(rows),
        )


def _section(kinds: Counter[tuple[str, Side]], reasons: Counter[str]) -> CardSection:
    """How many snippets of each kind there are, and why some are windows or missing."""
    rows = [(kind, kinds[kind, Side.OLD], kinds[kind, Side.NEW]) for kind in _KINDS]
    listed = "; ".join(f"{reason} ({count})" for reason, count in reasons.most_common())
    text = "The smallest scope around each hunk, by tree-sitter."
    return CardSection(
        by="add_functions",
        title="Code before and after",
        text=f"{text} Why no scope: {listed}." if listed else text,
        columns=("kind", "before", "after"),
        rows=tuple(row for row in rows if any(row[1:])),
    )


def _ahead(
    items: Iterable[Candidate], work: Callable[[Candidate], list[Found] | str], threads: ThreadPoolExecutor
) -> Iterator[tuple[Candidate, Future[list[Found] | str]]]:
    """Each item with its result, in order, while later ones are in progress."""
    waiting: deque[tuple[Candidate, Future[list[Found] | str]]] = deque()
    source = iter(items)
    while True:
        for item in islice(source, _AHEAD - len(waiting)):
            waiting.append((item, threads.submit(work, item)))
        if not waiting:
            return
        yield waiting.popleft()
