"""The claims of a change from each source: `offline_claims` by its lines and by analysers, `model_claims` by a model.

Source of the issues of analysers: CRScore (arXiv:2409.19801), 3.2, which takes PyScent's smells, PMD and JSHint; here
every tool of `repo/analysers` that is installed. Rules about security and performance are sources of their own.

What a change does, in sentences, line by line of its patches: no model, no repository.

Source: ours, in the place of the claims that CRScore (arXiv:2409.19801) has a model write. Sentences by the syntax of
the hunks agreed no better with people (docs/reference/crscore.md).
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from reviewgauge.claims.model import ask_claims
from reviewgauge.core.records import Change, ChangedFile, Claim, FileStatus, Severity
from reviewgauge.models.text.words import raw_words, stem
from reviewgauge.repo.analysers.run import TOOLS, AnalyserSettings, Finding, analyse, installed, versions
from reviewgauge.repo.diff.diffs import Hunk, normal, parse_patch
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.processes import RecentlyUsed
from reviewgauge.repo.syntax.around_hunks import in_focus
from reviewgauge.repo.syntax.languages import language, not_product

SOURCE = "diff"
SENTENCES = "3"  # counted up when the claims of some change become others
MOST = 40  # claims of a change, and sentences about one hunk
MOST_HUNKS = 200  # of a change that are looked at
MOST_LINES_OF_ALL = 20_000  # lines of a change that are looked at
MOST_LINES = 2000  # of a hunk that are looked at
LONGEST_LINE = 1000  # characters of a line that are looked at
LONGEST_QUOTE = 160  # characters of code in a sentence
_WHOLE = (FileStatus.ADDED, FileStatus.DELETED)
_REMOVED_FILE, _FILE, _LINES, _COMMENTS, _SPACE = 5, 35, 80, 90, 95  # the lower, the more telling
_ASIDE = 25  # how much less telling tests and documentation are beside the code itself
_ALIKE = 0.5  # from which on one line is another form of the other
_MOST_PAIRS = 12  # lines of a block that are compared with each other
_EMPTY = re.compile(r"[\W_]*(?:(?:else|try|finally|do|begin|end|done|fi|then|esac|endif)\b[\W_]*)*")
_COMMENT = re.compile(
    r"\s*(?:#(?!!|\s*(?:include|if|ifdef|ifndef|endif|define|else|pragma)\b)"
    r"|//|/\*|\*(?:[\s/]|$)|--\s|;;|<!--|\"\"\"|''')"
)


class Statement(NamedTuple):
    """A sentence about a file or a hunk. The lower `rank`, the more telling; `line` is that of the new version."""

    rank: int
    line: int
    text: str


def change_claims(change: Change) -> tuple[Claim, ...]:
    """The claims of a change, the most telling first, at most MOST; none without a patch. The ids count from 1.

    With a `focus` only hunks in it are told. A claim's line is that of the new version.
    """
    found: list[tuple[ChangedFile, Statement]] = []
    for file, hunks in _files(change):
        found += [(file, statement) for statement in _file_statements(file, hunks)]
    paths = {file.path for file, _ in found}
    several = len(paths) > 1
    aside = {path for path in paths if not_product(path)}
    later = _ASIDE if aside != paths else 0

    def order(pair: tuple[ChangedFile, Statement]) -> int:  # stable: the order of the change within one rank
        return pair[1].rank + later * (pair[0].path in aside)

    found.sort(key=order)
    seen: dict[str, Claim] = {}
    for file, statement in found:
        body = f"{file.path}: {statement.text}" if several else statement.text
        if body not in seen and len(seen) < MOST:
            line = statement.line or None
            seen[body] = Claim(id=str(len(seen) + 1), body=body, kind="claim", source=SOURCE, line=line)
    return tuple(seen.values())


def _files(change: Change) -> Iterator[tuple[ChangedFile, Sequence[Hunk]]]:
    left, lines = MOST_HUNKS, MOST_LINES_OF_ALL
    for file in change.files:
        hunks: list[Hunk] = []
        for hunk in parse_patch(file.patch or ""):
            if left > 0 and lines > 0 and in_focus(change, file, hunk):
                hunks.append(hunk)
                left, lines = left - 1, lines - len(hunk.lines)
        if hunks or (change.focus is None and (_moved(file) or file.status in _WHOLE)):
            yield file, hunks


def _moved(file: ChangedFile) -> bool:
    return file.old_path not in (None, file.path)


def _file_statements(file: ChangedFile, hunks: Sequence[Hunk]) -> Iterator[Statement]:
    yield from _about_file(file)
    for hunk in hunks:
        yield from islice(_hunk_statements(_blocks(hunk), code=bool(language(file.path))), MOST)


def _about_file(file: ChangedFile) -> Iterator[Statement]:
    if file.status is FileStatus.ADDED:
        yield Statement(_FILE, 1, f"The file `{file.path}` is added.")
    elif file.status is FileStatus.DELETED:
        yield Statement(_REMOVED_FILE, 1, f"The file `{file.path}` is removed.")
    elif _moved(file) and file.status is FileStatus.COPIED:
        yield Statement(_FILE, 1, f"The file `{file.path}` is a copy of `{file.old_path}`.")
    elif _moved(file):
        yield Statement(_FILE, 1, f"The file `{file.old_path}` is renamed to `{file.path}`.")


class _Row(NamedTuple):
    """A changed line. `line` is that of the new version; of a removed row, the line that follows it."""

    number: int
    line: int
    text: str


_Block = tuple[list[_Row], list[_Row]]
"""The removed and the added rows of one run of changed lines."""


def _blocks(hunk: Hunk) -> list[_Block]:
    blocks: list[_Block] = []
    at, inside = max(hunk.new_start + (hunk.new_count == 0), 1), False
    for number, line in enumerate(hunk.lines[:MOST_LINES]):
        changed = line.kind != " "
        if changed and not inside:
            blocks.append(([], []))
        if changed:
            blocks[-1][line.kind == "+"].append(_Row(number, line.new or at, line.text[:LONGEST_LINE].rstrip("\r")))
        inside = changed
        at = at if line.new is None else line.new + 1
    return blocks


def _hunk_statements(blocks: Sequence[_Block], *, code: bool) -> Iterator[Statement]:
    """A sentence for each changed line that tells something. `code`: some lines may be comments."""
    said, moved = False, _moved_rows(blocks)
    for block in blocks:
        olds, news = ([row for row in rows if row.number not in moved and _tells(row.text)] for rows in block)
        for before, after in _matched(olds, news):
            said = True
            yield from _line(before, after, code)
    if not said and blocks:
        yield _only_space(blocks)


def _moved_rows(blocks: Sequence[_Block]) -> set[int]:
    """The rows whose text is both removed and added: moved, or indented anew."""
    sides = [[row for block in blocks for row in block[which]] for which in (0, 1)]
    old, new = (Counter(normal(row.text) for row in rows) for rows in sides)
    found: set[int] = set()
    for rows in sides:
        left = old & new
        for row in rows:
            if left[normal(row.text)] > 0:
                left[normal(row.text)] -= 1
                found.add(row.number)
    return found


def _tells(text: str) -> bool:
    return _EMPTY.fullmatch(text.strip()) is None


def _matched(olds: Sequence[_Row], news: Sequence[_Row]) -> Iterator[tuple[_Row | None, _Row | None]]:
    """Rows that are forms of one line, in order; the rest alone."""
    left = list(news)
    for row in olds:
        rated = [(_similarity(row.text, other.text), -other.number, other) for other in left[:_MOST_PAIRS]]
        best = max(rated, default=None)
        if best is None or best[0] <= _ALIKE:
            yield row, None
            continue
        left.remove(best[2])
        yield row, best[2]
    yield from ((None, row) for row in left)


def _similarity(old: str, new: str) -> float:
    """How much of two texts is the same, 0 to 1."""
    return SequenceMatcher(None, old.strip()[:300], new.strip()[:300], autojunk=False).ratio()


def _line(before: _Row | None, after: _Row | None, code: bool) -> Iterator[Statement]:
    """A line that is changed, removed (no `after`) or added (no `before`)."""
    rows = [row for row in (before, after) if row is not None]
    comment = code and all(_COMMENT.match(row.text) for row in rows)
    rank, what = (_COMMENTS, "The comment") if comment else (_LINES, "The line")
    if before is None or after is None:
        text = f"{what} {_quoted(rows[0].text)} is {'added' if before is None else 'removed'}."
    elif before.text.split() == after.text.split():
        return
    else:
        text = f"{what} changes from {_from_to(before.text.strip(), after.text.strip())}."
    yield Statement(rank, rows[-1].line, text)


def _only_space(blocks: Sequence[_Block]) -> Statement:
    """What can be said of a hunk without a telling line."""
    sides = [[row for block in blocks for row in block[which]] for which in (0, 1)]
    old, new = (sorted(filter(None, (normal(row.text) for row in rows))) for rows in sides)
    if not old and not new:
        text = "Blank lines are changed."
    elif all(_joined(removed) == _joined(added) for removed, added in blocks):
        text = "Only white space and line breaks are changed."
    else:
        text = "Lines are moved." if old == new else "Only punctuation is changed."
    return Statement(_SPACE, (sides[1] or sides[0])[0].line, text)


def _joined(rows: Sequence[_Row]) -> str:
    return normal("".join(row.text for row in rows))


def _quoted(code: str) -> str:
    """A piece of code in back-quotes, in one line, cut where it is long."""
    text = " ".join(code.split()).replace("`", "'")
    if len(text) > LONGEST_QUOTE:
        text = text[: LONGEST_QUOTE - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"
    return f"`{text}`"


def _from_to(old: str, new: str) -> str:
    """`a` to `b`, cut so that the difference shows."""
    if max(len(old), len(new)) <= LONGEST_QUOTE:
        return f"{_quoted(old)} to {_quoted(new)}"
    start = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    start = max(0, old.rfind(" ", 0, max(start - 20, 0)) + 1)
    dots = "\N{HORIZONTAL ELLIPSIS}" if start else ""
    return f"{_quoted(dots + old[start:])} to {_quoted(dots + new[start:])}"


EXACT = frozenset({SOURCE})  # sources whose sentences differ where what they say differs
ALIKE = 0.8  # Jaccard similarity of the stemmed words from which on two claims are one
MOST_ISSUES = 40  # issues of a change
SECURITY, PERFORMANCE = "security", "performance"
_SECURITY_RULE = re.compile(r"ruff:S\d")
_ORDER = {grade: number for number, grade in enumerate(Severity)}


def offline_claims(change: Change, *, tools: bool = True) -> tuple[Claim, ...]:
    """What the change does, line by line, and with `tools` what static analysers find where its code is at hand.

    The same for the same change, as long as the same analysers are installed. Raises AnalyserTimeout, AnalyserCrash.
    """

    def make() -> tuple[Claim, ...]:
        return merged(change_claims(change), finding_claims(change) if tools else ())

    key = f"{tools} {change.model_dump_json()}".encode("utf-8", "surrogatepass")
    return _MADE.of(hashlib.blake2b(key, digest_size=16).digest(), make, lambda claims: len(claims) + 1)


def offline_pins(*, tools: bool = True) -> Mapping[str, str]:
    """What the claims rest on: the version of the sentences, and with `tools` those of the analysers."""
    return {"sentences": SENTENCES, **(versions() if tools else {})}


def model_claims(change: Change, language: str, model: str) -> tuple[Claim, ...]:
    """What `model` says that the change does and implies. Raises Failed where no answer can be read."""
    return merged(ask_claims(change, language, model))


_MADE: RecentlyUsed[bytes, tuple[Claim, ...]] = RecentlyUsed(20_000)  # the reviews of one change come one by one


def merged(*sources: Sequence[Claim]) -> tuple[Claim, ...]:
    """The claims of all sources in order, with the ids "1", "2" ...

    Of claims with the same words, or nearly the same, the first stays, and its source names the others' too, joined
    with "+". Claims at different lines are different, and those of one exact source are as long as a sign differs.
    """
    kept: list[Claim] = []
    words: list[frozenset[str]] = []
    for claim in (one for source in sources for one in source):
        mine = frozenset(map(stem, raw_words(claim.body)))
        if not claim.body.strip():
            continue
        at = next((i for i, other in enumerate(kept) if _same(claim, other, mine, words[i])), None)
        if at is None:
            kept.append(claim)
            words.append(mine)
        else:
            names = dict.fromkeys([*kept[at].source.split("+"), *claim.source.split("+")])
            kept[at] = kept[at].model_copy(update={"source": "+".join(filter(None, names))})
    return tuple(claim.model_copy(update={"id": str(i)}) for i, claim in enumerate(kept, 1))


def _same(claim: Claim, other: Claim, mine: frozenset[str], theirs: frozenset[str]) -> bool:
    if claim.body == other.body:
        return True
    if claim.line and other.line and claim.line != other.line:
        return False
    if claim.source == other.source in EXACT or min(len(mine), len(theirs)) < ALIKE * max(len(mine), len(theirs), 1):
        return False
    shared = len(mine & theirs)
    return shared > 0 and shared >= ALIKE * (len(mine) + len(theirs) - shared)


def finding_claims(change: Change) -> tuple[Claim, ...]:
    """The findings on changed lines of the head version, the most severe first; none where no code is at hand.

    The sources are the tools that agree, and "security" or "performance" for such a rule, joined with "+". Raises
    AnalyserTimeout and AnalyserCrash.
    """
    if change.git is None or change.head is None or not change.has_diff:
        return ()
    settings = AnalyserSettings(tools=tuple(tool for tool in TOOLS if tool in installed()))
    found = analyse(Repository(Path(change.git)), change, settings).findings
    chosen = sorted(found, key=lambda one: _ORDER[one.severity])[:MOST_ISSUES]
    several = len(change.files) > 1
    return tuple(
        Claim(
            id=str(number),
            body=_sentence(one, several),
            kind="issue",
            source="+".join(dict.fromkeys(_sources(one))),
            line=one.start,
        )
        for number, one in enumerate(chosen, 1)
    )


def _sources(finding: Finding) -> Iterator[str]:
    yield finding.tool
    rules = [f"{finding.tool}:{finding.rule}", *finding.agree]
    yield from (rule.partition(":")[0] for rule in rules)
    if any(_SECURITY_RULE.match(rule) for rule in rules) or SECURITY in finding.category.lower():
        yield SECURITY
    if any(rule.startswith("ruff:PERF") for rule in rules) or PERFORMANCE in finding.category.lower():
        yield PERFORMANCE


def _sentence(finding: Finding, several: bool) -> str:
    message = " ".join(finding.message.replace("\x00", "").split()).rstrip(".")
    place = f"{finding.path}, line {finding.start}" if several else f"Line {finding.start}"
    if finding.rule == "cyclomatic" and finding.function:
        message = f"`{finding.function}` is hard to follow: {message}"
    elif finding.function and finding.tool != "smells":
        message += f" (in `{finding.function}`)"
    return f"{place}: {message}."
