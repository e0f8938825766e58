"""Free text: a review in Markdown or prose, split by rules (read).

Source: CommonMark for headings, lists and fences; no tool's own format. A list item, a heading with what stands under
it, or a paragraph that names a place becomes a candidate comment; `path:line` and quoted code become its claim. Prose
needs a model to be split well: each comment says that none was used (`extra["split"] == "rules"`).
"""

from __future__ import annotations

import json
import re
from bisect import bisect
from dataclasses import dataclass
from functools import cache
from textwrap import dedent
from typing import ClassVar, Literal

from reviewgauge.core.errors import BadInput
from reviewgauge.core.parsing import enclosed, parse_json
from reviewgauge.core.protocols import Format, Parsed
from reviewgauge.core.records import Location, Severity
from reviewgauge.core.results import Drop
from reviewgauge.formats.parsing.comments import Collector, decode, inline_quote, peek, severity_of
from reviewgauge.repo.forge.accounts import bot_noise


@dataclass(frozen=True)
class Markdown(Format):
    """Candidates by rules; sections such as "Summary" and prose between findings are counted, not kept."""

    suffixes: ClassVar[tuple[str, ...]] = (".md", ".markdown", ".txt")

    def read(self, data: bytes, source: str) -> list[Parsed]:
        """One Parsed. Raises BadInput for what is not text, and for JSON."""
        text = decode(data, source)
        if not text.strip():
            raise BadInput(source, "is empty", remedy="an empty review is written as a sentence, such as: No issues.")
        refuse_json(text, source)
        found, pieces = Collector(source, "markdown"), blocks(text)
        if all(piece.kind == "fence" for piece in pieces):
            raise BadInput(source, "holds code and no words", remedy="if that is another format, name it with format=")
        for number, finding in enumerate(_findings(pieces, found), 1):
            _add(found, finding, f"block {number}")
        parsed = found.parsed()
        how = "read as free text and split by rules, without a model; if it is another format, name it with format="
        return [parsed.model_copy(update={"skipped": (*parsed.skipped, Drop(item=source, by="markdown", reason=how))})]

    def recognises(self, data: bytes) -> bool:
        """Any text that is not JSON."""
        if not data.strip() or b"\x00" in data[:4096] or isinstance(peek(data), dict | list):
            return False
        try:
            data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return False
        return True


@dataclass
class _Finding:
    """A candidate: its text and the heading that it stands under."""

    parts: list[str]
    heading: str = ""
    headed: bool = False

    @property
    def text(self) -> str:
        return "".join(self.parts)


def _findings(found: list[Block], collector: Collector) -> list[_Finding]:
    """The candidates among the blocks; what is left out is skipped with its reason."""
    findings: list[_Finding] = []
    heading, open_heading, report, loose = "", False, "", []
    structured = any(block.kind != "text" for block in found)
    for block in found:
        if block.kind == "heading":
            heading = block.text
            report = title(heading) if is_report(heading) else ""
            open_heading = not report and (place_in(heading) is not None or severity_in(heading) is not None)
            if open_heading and place_in(heading) is not None:
                findings.append(_Finding([heading], heading, headed=True))
        elif report:
            collector.skip(block.text, f"section {report!r}")
        elif block.kind == "item":
            last = findings[-1] if findings else None
            if last is not None and last.headed and last.heading == heading and place_in(block.text) is None:
                last.parts += ["\n", block.text]  # the points of one finding, not findings of their own
            else:
                findings.append(_Finding([block.text], heading))
        elif (findings and findings[-1].headed and findings[-1].heading == heading) or (
            block.kind == "fence" and findings
        ):
            findings[-1].parts += ["\n\n", block.text]
        elif place_in(block.text) is not None or open_heading:
            findings.append(_Finding([block.text], heading))
        else:
            loose.append((block, heading))
    if findings or (structured and not loose):
        for block, _ in loose:
            collector.skip(block.text, "prose between findings")
        return _without_bare_headings(findings, collector)
    return [_Finding([block.text], under) for block, under in loose if block.kind == "text"]


def _without_bare_headings(findings: list[_Finding], collector: Collector) -> list[_Finding]:
    """The findings without headings that only name the file of the findings below."""
    kept = []
    for i, finding in enumerate(findings):
        bare = finding.headed and finding.text == finding.heading
        below = i + 1 < len(findings) and findings[i + 1].heading == finding.heading
        place = place_in(finding.text)
        says_more = place is None or len(title(finding.text)) > len(place.path or "") + 12
        if bare and (below or not says_more):
            collector.skip(finding.text, "heading")
        else:
            kept.append(finding)
    return kept


def _add(found: Collector, finding: _Finding, record: str) -> None:
    claimed = place_in(finding.text) or Location()
    under = place_in(finding.heading)
    if claimed.path is None and under is not None:
        claimed = Location(
            path=under.path,
            start=claimed.start if claimed.start is not None else under.start,
            end=claimed.end if claimed.end is not None else under.end,
        )
    body = finding.text.strip()
    reason = bot_noise(body, claimed.path is not None)
    if reason is not None:
        found.skip(body, reason)
        return
    quote, suggestion, hunk = fences(body, lined=claimed.start is not None)
    if hunk is not None:
        claimed = claimed.model_copy(update={"hunk": hunk})
    found.add(
        body,
        claimed,
        record=record,
        quote=quote,
        severity=severity_in(body) or severity_in(finding.heading),
        suggestion=suggestion,
        extra={"split": "rules"},
    )


_HEADING = re.compile(r" {0,3}(?:#{1,6}\s+(\S.*)|\*\*([^*]{1,200})\*\*:?\s*)")
_OPENS = re.compile(r"[\w./@+-]{1,300}\.\w{1,10}:\d{1,9}(?::\d{1,9})?:?\s")  # a line that begins with its place
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
_OPENING = re.compile(r"^[^\S\n]{0,8}(`{3,20}|~{3,20})([\w+-]*+)[^\n]*+\n", re.MULTILINE)
_PROPOSAL = re.compile(
    r"suggest|fix|instead|should be|recommend|replace|change (?:it )?to|e\.g\.|consider", re.IGNORECASE
)


@cache
def _closing_fence(mark: str) -> re.Pattern[str]:
    return re.compile(rf"^[^\S\n]{{0,8}}{mark}", re.MULTILINE)


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
            words = heading[2] or heading[1].rstrip().rstrip("#").rstrip() or "#"
            found.append(Block("heading", words))
        elif item is not None and (len(item[1]) < 2 or kind != "item"):
            close()
            kind = "item"
            pending.append(line[item.end() :])
        elif (
            pending and not pending[-1].strip() and line.strip() and not line.startswith(" ")
            if kind == "item"
            else not line.strip() or _OPENS.match(line)
        ):
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
    """Whether a section describes the change or the review and raises no finding."""
    return _REPORT.fullmatch(title(heading)) is not None and place_in(heading) is None


def place_in(text: str) -> Location | None:
    """The first place that a text names: `src/a.py:12-14`, `src/a.py` (lines 12-14), a link to a blob; None if none.

    `self.items` and `e.g.` are not paths: a path has a slash and a dot, or the suffix of a code file.
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
    outside, at = [], 0
    for start, end in enclosed(text, _OPENING, _closing_fence):
        outside.append(text[at : start.start()])
        at = end.end()
        language, code = start[2].lower(), dedent(text[start.end() : end.start()]).rstrip("\n")
        before = text[max(start.start() - 80, 0) : start.start()]
        if language in ("diff", "patch"):
            hunk = hunk or code
        elif language == "suggestion" or _PROPOSAL.search(before):
            suggestion = suggestion if suggestion is not None else code
        else:
            quote = quote or code
    if quote is None and not lined:
        quote = inline_quote("".join([*outside, text[at:]]))
    return quote or None, suggestion, hunk or None


SUFFIXES = (".json", ".jsonl", ".ndjson", ".sarif", ".rdjson", ".rdjsonl")
_JSON_OPENING = r"(?:\{\s*(?:\"|\}|\Z)|\[\s*(?:\{\s*(?:\"|\}|\Z)|\"|\Z))"
_AT_START = re.compile(r"\s*(?:(?:`{3,}|~{3,})\w*\s*)?(?=" + _JSON_OPENING + ")")
_AT_LINE = re.compile(r"^(?=" + _JSON_OPENING + ")", re.MULTILINE)
_CODE_FENCE = re.compile(r"^(`{3,20}|~{3,20})[^\n]*+\n", re.MULTILINE)
_ANSWER = re.compile(
    r'"(?:findings|issues|comments?|diagnostics|results|runs|message|severity|start_?[Ll]ine|line)"\s*:'
)
_decoder = json.JSONDecoder(strict=False)


@cache
def _closing(mark: str) -> re.Pattern[str]:
    return re.compile(rf"^{mark}", re.MULTILINE)


def refuse_json(text: str, source: str) -> None:
    """Raise BadInput where a text is JSON, opens JSON that it does not close, or is mostly a review in JSON.

    Code that a review quotes in a closed fence may be cut, as it is not the answer.
    """
    named = source.lower().endswith(SUFFIXES)
    if named or (start := _AT_START.match(text)) is not None:
        bare = text if named or start is None else text[start.end() :].rstrip().rstrip("`~")
        parse_json(bare.encode("utf-8", "surrogatepass"), source)
        raise BadInput(source, "is JSON, not free text", remedy="name its format with format=")
    quoted = [(start.start(), end.start()) for start, end in enclosed(text, _CODE_FENCE, _closing)]
    at = 0
    while (opened := _AT_LINE.search(text, at)) is not None:
        begin = opened.start()
        before = bisect(quoted, begin, key=lambda fence: fence[0]) - 1
        closed = quoted[before][1] if before >= 0 and begin < quoted[before][1] else None
        where = f"from line {text.count(chr(10), 0, begin) + 1} on"
        try:
            _, at = _decoder.raw_decode(text, begin)
        except (ValueError, RecursionError):
            if closed is None:
                raise BadInput(source, f"holds JSON that is cut off or broken, {where}", remedy=_COMPLETE) from None
            at = closed
            continue
        if (at - begin) * 2 > len(text) and _ANSWER.search(text, begin, at):
            raise BadInput(source, f"holds JSON in no known format, {where}", remedy="write the JSON alone")


_COMPLETE = "is the output complete? JSON that is quoted belongs in a fence"
