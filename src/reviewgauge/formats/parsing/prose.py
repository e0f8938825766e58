"""Rules for reading reviews in prose: blocks of Markdown, places, quoted code, severities."""

from __future__ import annotations

import re
from dataclasses import dataclass
from textwrap import dedent
from typing import Literal

from reviewgauge.core.records import Location, Severity
from reviewgauge.formats.parsing.comments import severity_of
from reviewgauge.repo.diff.quotes import weight

_HEADING = re.compile(r" {0,3}(?:#{1,6}\s+(.+?)\s*#*|\*\*([^*]{1,200})\*\*:?)\s*")
_ITEM = re.compile(r"( {0,3})(?:[-*+•]|\d{1,4}[.)])\s+(?=\S)")
_FENCE = re.compile(r"\s{0,8}(`{3,}|~{3,})")
_REPORT = re.compile(
    r"\W*(?:\d+\W+)?(?:summary|overview|walkthrough|conclusion|verdict|strengths|positives?|what(?:'s| is) good|praise"
    r"|good (?:points|practices|things)|changes(?: made)?|description|tests? run|recommendation|overall(?: assessment)?"
    r"|next steps|notes? on scope|files? (?:reviewed|changed))\b.{0,40}",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"pyi?|[mc]?[jt]sx?|go|rs|java|kts?|cc?|cpp|cxx|hpp?|hh|cs|rb|php|swift|mm?|scala|sh|bash|zsh|ps1|sql|ya?ml|json|toml"
    r"|ini|cfg|xml|html?|s?css|less|vue|svelte|tf|proto|graphql|lua|p[lm]|r|jl|dart|exs?|erl|hs|mli?|clj|gradle|cmake|mk"
    r"|md|rst|txt|lock|dockerfile",
    re.IGNORECASE,
)
_URL = re.compile(r"https?://[^\s)>\]]{1,2000}")
_BLOB = re.compile(r"https?://[^\s)>\]]{1,300}?/blob/[^/\s]{1,200}/([^\s)>\]]{1,500})")
_PLACE = re.compile(
    r"(?<![\w/.\\-])(?P<path>(?:[A-Za-z]:|~|\.{1,2})?/?(?:[\w.@+-]{1,100}/){0,30}[\w.@+-]{1,100})"
    r"(?:`|\*\*)?(?:::?\s?(?:L|lines?\s)?(?P<a>\d{1,9})(?:\s?[-–]\s?L?(?P<b>\d{1,9}))?(?::\d{1,6})?"
    r"|#L(?P<c>\d{1,9})(?:C\d{1,6})?(?:-L?(?P<d>\d{1,9}))?"
    r"|,?\s\(?(?:at |on |around )?(?:L|lines?\s)(?P<e>\d{1,9})(?:\s?(?:[-–]|to)\s?(?P<f>\d{1,9}))?)?"
)
_LINE = re.compile(r"\b[Ll]ines?\s(\d{1,9})(?:\s?(?:[-–]|to)\s?(\d{1,9}))?")
_WORD = re.compile(
    r"[\[(*_:#\s]*\b(critical|blocker|high|major|medium|moderate|minor|low|trivial|nit(?:pick)?|info|warning|error|p[0-3])"
    r"(?:[ -](?:severity|priority|risk|issues?))?\b\s*[\])*_:/–-]",
    re.IGNORECASE,
)
_FENCED = re.compile(r"^\s{0,8}(`{3,}|~{3,})([\w+-]*)[^\n]*\n(.*?)^\s{0,8}\1", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"(?<!`)`([^`\n]{8,200})`(?!`)")
_PROPOSAL = re.compile(
    r"suggest|fix|instead|should be|recommend|replace|change (?:it )?to|e\.g\.|consider", re.IGNORECASE
)
_SIGNS = re.compile(r"[(=\[{;]|->|::")


@dataclass(frozen=True)
class Block:
    """A top-level piece of Markdown; an item comes with all that is indented below it."""

    kind: Literal["heading", "item", "text", "fence"]
    text: str


def blocks(text: str) -> list[Block]:
    """The blocks of a document, in its order."""
    found: list[Block] = []
    kind: Literal["item", "text", "fence"] = "text"
    pending: list[str] = []
    fence = ""

    def close() -> None:
        if "".join(pending).strip():
            found.append(Block(kind, "\n".join(pending).strip("\n")))
        pending.clear()

    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            pending.append(line)
            if mark is not None and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
                if kind == "fence":
                    close()
                    kind = "text"
            continue
        if mark is not None:
            if not (kind == "item" and pending and line.startswith(" ")):
                close()
                kind = "fence"
            fence = mark[1]
            pending.append(line)
            continue
        heading = _HEADING.fullmatch(line)
        item = _ITEM.match(line)
        if heading is not None:
            close()
            kind = "text"
            found.append(Block("heading", heading[1] or heading[2]))
        elif item is not None and (len(item[1]) < 2 or kind != "item"):
            close()
            kind = "item"
            pending.append(line[item.end() :])
        elif not line.strip() and kind != "item":
            close()
            kind = "text"
        elif kind == "item" and pending and not pending[-1].strip() and line.strip() and not line.startswith(" "):
            close()
            kind = "text"
            pending.append(line)
        else:
            pending.append(line.strip() if kind == "item" else line)
    close()
    return found


def title(heading: str) -> str:
    """A heading's words, without marks."""
    return re.sub(r"[*_`#]+", "", heading).strip()


def is_report(heading: str) -> bool:
    """Whether a section speaks of the change or the review, and raises nothing."""
    return _REPORT.fullmatch(title(heading)) is not None and place_in(heading) is None


def place_in(text: str) -> Location | None:
    """The first place that a text names: `src/a.py:12-14`, `src/a.py` (lines 12-14), a link to a blob; None if none.

    What only looks like a path (`self.items`, `e.g.`) is none: it must hold a slash and a dot, or end as code does.
    """
    text = _URL.sub(" ", _BLOB.sub(r" \1 ", text[:20_000]))
    for match in _PLACE.finditer(text):
        path = match["path"].rstrip(".")
        first = match["a"] or match["c"] or match["e"]
        last = match["b"] or match["d"] or match["f"]
        if _is_path(path, first is not None):
            after = None if first else _LINE.search(text, match.end(), match.end() + 400)
            if after is not None:
                first, last = after[1], after[2]
            return Location(path=path, start=int(first) if first else None, end=int(last or first) if first else None)
    alone = _LINE.search(text[:2000])
    return Location(start=int(alone[1]), end=int(alone[2] or alone[1])) if alone is not None else None


def _is_path(path: str, lined: bool) -> bool:
    name, dot, ending = path.rpartition("/")[2].rpartition(".")
    known = bool(dot) and _CODE.fullmatch(ending) is not None
    if not name and not known:
        return False
    return known or (lined and bool(dot) and ending.isalnum() and not ending.isdigit() and bool(name))


def severity_in(text: str) -> Severity | None:
    """The severity that a text opens with: in brackets, in bold, or before a colon."""
    opening = text.lstrip(" -*#\U0001f534\U0001f7e0\U0001f7e1\U0001f7e2\U0001f535⚠️❗\t")[:60]
    match = _WORD.match(opening + ":" if len(opening.split()) <= 2 else opening)
    return severity_of(match[1]) if match is not None else None


def fences(text: str, lined: bool) -> tuple[str | None, str | None, str | None]:
    """(quote, suggestion, diff) among the code of a finding. Inline code is a quote only where no line is named."""
    quote = suggestion = hunk = None
    for match in _FENCED.finditer(text):
        language, code = match[2].lower(), dedent(match[3]).rstrip("\n")
        before = text[max(match.start() - 80, 0) : match.start()]
        if language in ("diff", "patch"):
            hunk = hunk or code
        elif language == "suggestion" or _PROPOSAL.search(before):
            suggestion = suggestion if suggestion is not None else code
        else:
            quote = quote or code
    if quote is None and not lined:
        inline = [c for c in _INLINE.findall(_FENCED.sub("", text)) if _SIGNS.search(c) and weight(c) >= 6]
        quote = max(inline, key=weight, default=None)
    return quote or None, suggestion, hunk or None
