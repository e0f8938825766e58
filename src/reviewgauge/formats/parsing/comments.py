"""What the formats share: reading documents, severities, collecting comments, and detecting the format."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache

from pydantic import ValidationError

from reviewgauge.core.base import content_id
from reviewgauge.core.errors import BadInput
from reviewgauge.core.json_reader import clean
from reviewgauge.core.parsing import first_problem, parse_json
from reviewgauge.core.protocols import Format, Parsed
from reviewgauge.core.records import Comment, Location, Severity
from reviewgauge.core.results import Drop
from reviewgauge.core.specs import load, names
from reviewgauge.repo.diff.positions import weight

_WORDS: dict[Severity, tuple[str, ...]] = {
    Severity.CRITICAL: ("critical", "blocker", "blocking", "fatal", "p0", "urgent"),
    Severity.HIGH: ("high", "major", "error", "severe", "important", "p1"),
    Severity.MEDIUM: ("medium", "moderate", "warning", "warn", "minor", "p2", "potential_issue"),
    Severity.LOW: ("low", "trivial", "note", "nit", "nitpick", "suggestion", "style", "p3", "refactor_suggestion"),
    Severity.INFO: ("info", "information", "informational", "none", "notice", "hint", "praise", "question"),
}
_SEVERITIES = {word: severity for severity, words in _WORDS.items() for word in words}


def severity_of(word: str | None) -> Severity | None:
    """The severity that a tool's word means, None for an unknown word."""
    return None if word is None else _SEVERITIES.get(word.strip().lower())


@dataclass
class Collector:
    """Collects the comments of one change, with ids made from content, and what was left out."""

    source: str
    by: str
    key: str | None = None
    system: str | None = None
    root: str | None = None
    comments: list[Comment] = field(default_factory=list)
    skipped: list[Drop] = field(default_factory=list)
    _seen: Counter[str] = field(default_factory=Counter)

    def add(
        self,
        body: str,
        claimed: Location,
        *,
        record: int | str | None = None,
        suggestion: str | None = None,
        **fields: object,
    ) -> None:
        """Add a comment with these `fields`, where they say something. Equal ones are numbered. Raises BadInput."""
        key = content_id(claimed.path, claimed.start, claimed.end, claimed.side, claimed.hunk, body)
        self._seen[key] += 1
        try:
            name = key if self._seen[key] == 1 else f"{key}-{self._seen[key]}"
            own = {field: value for field, value in fields.items() if value not in (None, "")}
            comment = Comment.model_validate(
                {"id": name, "body": body, "claimed": claimed, "suggestion": suggestion, **own}
            )
        except ValidationError as error:
            where, problem = first_problem(error)
            raise BadInput(self.source, problem, record=record, field=where) from None
        self.comments.append(comment)

    def skip(self, item: str, reason: str) -> None:
        """Record something that is not a review comment."""
        self.skipped.append(Drop(item=item[:200], by=self.by, reason=reason))

    def parsed(self) -> Parsed:
        """The result. Raises BadInput for a key or a name that no record can hold."""
        return Parsed(
            key=self.key,
            system=self.system,
            root=self.root,
            comments=tuple(self.comments),
            skipped=tuple(self.skipped),
        )


_LAST = "markdown"  # any text is Markdown, so it is asked last


@cache
def _formats() -> tuple[list[str], list[Format]]:
    known = sorted(names(Format.kind), key=lambda name: (name == _LAST, name))
    return known, [load(Format, name) for name in known]


class NoPlace(BadInput):
    """A text that names no place in code: a review, or a message of the program that should have made one."""


def detect(data: bytes, source: str) -> Format:
    """The format of `data`. Raises BadInput that names the formats there are, NoPlace for mere words."""
    known, formats = _formats()
    fitting = [form for form in formats[:-1] if form.recognises(data)] or [
        f for f in formats[-1:] if f.recognises(data)
    ]
    named = [form for form in fitting if source.lower().endswith(form.suffixes)]
    if not fitting:
        raise BadInput(source, "is not in a known format", remedy=f"name one of {', '.join(known)}")
    if fitting == formats[-1:]:
        said = [comment for parsed in fitting[0].read(data, source) for comment in parsed.comments]
        if said and not any(c.quote or (c.claimed and (c.claimed.path or c.claimed.start)) for c in said):
            how = 'begin each finding with path:line, or take it as a review in free text: format="markdown"'
            raise NoPlace(source, f"names no place in code: {said[0].body[:80]!r}", remedy=how)
    return (named or fitting)[0]


_INLINE = re.compile(r"(?<!`)`([^`\n]{8,200})`(?!`)")
_CODE = re.compile(r"[(=\[{;]|->|::")


def decode(data: bytes, source: str) -> str:
    """The text of a file: UTF-8, or UTF-16 with a byte order mark. Raises BadInput."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return clean(data.decode(encoding)).replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise BadInput(source, f"is not UTF-8 (byte {error.start})", remedy="save it as UTF-8") from None


def json_lines(data: bytes, source: str) -> Iterator[tuple[int, object]]:
    """(line number, value) of each line that is not blank. Raises BadInput that names the line."""
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if line.strip():
            try:
                yield number, parse_json(line, source)
            except BadInput as error:
                raise BadInput(source, error.problem.partition(": ")[2], record=number, remedy=error.remedy) from None


_NOT_BLANK = re.compile(r"\S")


def json_documents(data: bytes, source: str) -> list[object]:
    """The one JSON document, or pages one after the other as paging clients print them, or one a line."""
    try:
        return [parse_json(data, source)]
    except BadInput:
        text = data.decode("utf-8-sig", "replace").strip()
        if not text.startswith("["):
            return [value for _, value in json_lines(data, source)]
        documents = _pages(text, source)
        if len(documents) < 2:
            raise
        return documents


def _pages(text: str, source: str) -> list[object]:
    decoder, at, pages = json.JSONDecoder(), 0, []
    try:
        while at < len(text):
            page, end = decoder.raw_decode(text, at)
            pages.append(page)
            after = _NOT_BLANK.search(text, end)
            at = after.start() if after else len(text)
    except (ValueError, RecursionError):
        raise BadInput(source, f"is not valid JSON from character {at} on", remedy="is the file complete?") from None
    return pages


def flat(document: object) -> Iterator[object]:
    """The entries of a list, or of a list of lists; what is no list is one entry."""
    for entry in document if isinstance(document, list) else [document]:
        yield from entry if isinstance(entry, list) else [entry]


@lru_cache(maxsize=2)
def peek(data: bytes) -> object:
    """The JSON document in `data`, else the value of its first line, else None: for telling formats apart."""
    for part in (data, data.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")[0]):
        try:
            return parse_json(part, "")
        except BadInput:
            continue
    return None


def inline_quote(text: str) -> str | None:
    """The inline code of a text that says most, where one says enough to be found in a file."""
    inline = [code for code in _INLINE.findall(text) if _CODE.search(code) and weight(code) >= 6]
    return max(inline, key=weight, default=None)


def has(value: object, *keys: str) -> bool:
    """Whether it is an object with all of these keys."""
    return isinstance(value, dict) and all(key in value for key in keys)
