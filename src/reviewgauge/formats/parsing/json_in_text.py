"""JSON that stands where free text is expected: cut off, damaged, or an answer between other words.

Read as free text it would be a review with odd comments or none, and nobody would know.
"""

from __future__ import annotations

import json
import re
from bisect import bisect
from functools import cache

from reviewgauge.core.errors import BadInput
from reviewgauge.core.parsing import enclosed, parse_json

SUFFIXES = (".json", ".jsonl", ".ndjson", ".sarif", ".rdjson", ".rdjsonl")
_OPENING = r"(?:\{\s*(?:\"|\}|\Z)|\[\s*(?:\{\s*(?:\"|\}|\Z)|\"|\Z))"
_AT_START = re.compile(r"\s*(?:(?:`{3,}|~{3,})\w*\s*)?(?=" + _OPENING + ")")
_AT_LINE = re.compile(r"^(?=" + _OPENING + ")", re.MULTILINE)
_FENCE = re.compile(r"^(`{3,20}|~{3,20})[^\n]*+\n", re.MULTILINE)
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
    quoted = [(start.start(), end.start()) for start, end in enclosed(text, _FENCE, _closing)]
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
