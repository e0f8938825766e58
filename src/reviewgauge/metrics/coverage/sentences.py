"""Cuts the text of a review into sentences."""

from __future__ import annotations

import re

_FENCED = re.compile(r"^[^\S\n]*(```|~~~).*?(?:^[^\S\n]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_MARKER = re.compile(r"^\s*(?:(?:[-*+>]|#{1,6}|\d{1,3}[.)])\s+)*")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|resp|approx|incl|no|fig)|(?<!\w)\w)\.$", re.IGNORECASE)
_LONGEST_ABBREVIATION = 10  # characters
_END = re.compile(r"(?<=[.!?…])(?P<closing>[\"')\]*_]*)\s+|(?<=[。！？])(?P<nothing>)")
_WORD = re.compile(r"\w")
_ADDRESS = re.compile(r"<?\bhttps?://\S+")
_CODE_SPAN = re.compile(r"`[^`\n]*`")
_DELIMITERS = re.compile(r"\. |\? ")


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a review in order, without list marks and without code blocks.

    A text of nothing but code is one sentence; without any word, or with no other than those of addresses, there is
    none. No sentence ends inside of `code` or after an abbreviation.
    """
    prose = [sentence for line in _FENCED.sub("\n", text).splitlines() for sentence in _of_line(line)]
    code = " ".join(text.split())
    return tuple(prose) or ((code,) if _tells(code) else ())


def published_sentences(text: str) -> tuple[str, ...]:
    """As the published code of CRScore cuts: at the ends of lines, ". " and "? "; one empty sentence for a blank text.

    Source: `split_claims` in src/metrics/claim_based/relevance_score.py of github.com/atharva-naik/CRScore.
    """
    return tuple(part for line in text.split("\n") if line.strip() for part in _DELIMITERS.split(line)) or ("",)


def _of_line(line: str) -> list[str]:
    line = _MARKER.sub("", line).strip()
    masked = _CODE_SPAN.sub(lambda found: "x" * len(found[0]), line)
    found, start = list[str](), 0
    for end in _END.finditer(masked):
        if not _ABBREVIATION.search(masked, max(start, end.start() - _LONGEST_ABBREVIATION), end.start()):
            found.append(line[start : end.end(end.lastgroup or 0)])
            start = end.end()
    return [sentence.strip() for sentence in [*found, line[start:]] if _tells(sentence)]


def _tells(text: str) -> bool:
    return _WORD.search(_ADDRESS.sub("", text)) is not None
