"""The lines that later changes rewrote, whatever their messages say.

Some defects are mended in silence ("Small change", "Use the other one"), or by what sounds like other work. Git shows
only that the lines did not stay, so a change whose lines a small change rewrote is no clean case, nor is one of which
any change rewrote a part within days: it was unfinished. Lines are known again by their text: blaming every commit of a
history would take hours.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from reviewgauge.core.records import ChangedFile
from reviewgauge.repo.diff.diffs import Kind, parse_patch
from reviewgauge.repo.syntax.languages import not_product, trivial
from reviewgauge.stages.history.lines import normal, texts

_SHORT = 8  # characters of a line, without blanks, from which on it is known again


@dataclass
class Rewrites:
    """The rewritten lines, each with the numbers of the changes that rewrote it.

    A change is small up to `most_files` files and `most_lines` rewritten lines of product code; what a larger one
    rewrites says little about what was there, unless it comes soon.
    """

    most_files: int
    most_lines: int
    _by_line: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    _large: set[int] = field(default_factory=set)

    def add(self, number: int, files: Sequence[ChangedFile]) -> None:
        """Remember what the change of that number rewrites."""
        kept = texts(files, "+")
        lines = {(path, text) for path, text in _product_lines(files, "-") if text not in kept}
        if len({path for path, _ in lines}) > self.most_files or len(lines) > self.most_lines:
            self._large.add(number)
        for line in lines:
            self._by_line[hash(line)].append(number)

    def after(self, number: int, files: Sequence[ChangedFile]) -> list[tuple[int, bool]]:
        """The later changes that rewrote a line which the change of that number adds: number, and whether small."""
        found = {later for line in _product_lines(files, "+") for later in self._by_line.get(hash(line), ())}
        return sorted((later, later not in self._large) for later in found if later > number)


def _product_lines(files: Sequence[ChangedFile], kind: Kind) -> Iterator[tuple[str, str]]:
    """(path, text without blanks) of the lines of product code of one kind in a diff, of those that say something."""
    for file in files:
        path = file.path if kind == "+" else file.old_path or file.path
        if not not_product(path):
            for line in (line for hunk in parse_patch(file.patch or "") for line in hunk.lines):
                if line.kind == kind and not trivial(line.text) and len(text := normal(line.text)) >= _SHORT:
                    yield path, text
