"""What linters and compilers print: `path:line:col: code text`, `path(line,col): text`, lists by file, frames (read).

Source: the output of flake8, pylint, mypy, ruff, gcc, shellcheck, yamllint, ESLint and tsc; no standard. Summaries,
headers, quoted source and carets are passed over; a note without a rule and an indented line belong to the finding
above. All else is counted as left out. A text without a finding must say that there is none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import ClassVar

from reviewgauge.core.errors import BadInput
from reviewgauge.core.protocols import Format, Parsed
from reviewgauge.core.records import Location
from reviewgauge.formats.markdown import place_in
from reviewgauge.formats.parsing.comments import Collector, decode, severity_of

_WORDS = "fatal error|error|warning|note|info|style|convention|refactor|hint|notice|critical|low|medium|high"
_FINDING = re.compile(
    r"(?P<path>(?:[A-Za-z]:[\\/])?[^\s:][^:\n]{0,400}?)"
    r"(?::(?P<line>\d{1,9})(?::(?P<col>\d{1,9}))?(?::\d{1,9}){0,2}(?::| -)"
    r"|\((?P<row>\d{1,9})(?:,(?P<at>\d{1,9}))?(?:,\d{1,9}){0,2}\)\s?:)\s+(?P<text>\S.*)"
)
_FRAME = re.compile(r"\s*-->\s(?P<path>[^\n]{1,400}):(?P<line>\d{1,9}):(?P<col>\d{1,9})\s*")
_ROW = re.compile(r"\s+(?P<line>\d{1,9})(?::(?P<col>\d{1,9}))\s+(?P<text>\S.*)")
_HEADER = re.compile(r"\S[^\n]{0,400}?:?")
_SEVERITY = re.compile(rf"(?i)(?:\[({_WORDS})\]|({_WORDS})(?=\s*:|\s\s|\s+[A-Z]{{1,9}}\d|\[))\s*:?\s*")
_CODE = re.compile(r"\[?([A-Z][A-Za-z]{0,9}\d{1,6})\b(?:\([^\n)]{1,80}\)[^\n\]]{0,80}|\[\w{1,20})?\]?:?\s+(?:\[\*\] )?")
_RULE = re.compile(r"\[([\w./@=+,-]{1,80})\]|\(([a-z]+(?:-[a-z]+)*)\)|([\w@/-]{1,80})")
_CARETS = re.compile(r"[\s|]*[\^~][\s^~|-]*")
_CLEAN = re.compile(
    r"All checks passed|Success: no issues found|Your code has been rated at 10\.00/10|0$"
    r"|[^\w\s]{0,3}\s?0 (?:issue|problem)"
)
_NOISE = re.compile(
    r"-{5}|={5}|\*{5,20} Module |Your code has been rated |Found \d|\d{1,9}$|\d{1,9}\s{1,9}[A-Z]{1,9}\d|\[\*\] \d"
    r"|[^\w\s]{0,3}\s?\d{1,9} (?:problem|error|warning|issue)|\d{0,9}\s{0,9}\||In file included from |cc1\w{0,9}: "
    r"|[^:\n]{1,400}: (?:In|At) |compilation terminated|> |No fixes available "
)
_MARKUP = re.compile(r"#{1,6} |[-*+] |\d{1,3}[.)] |```|~~~|\*\*")


@dataclass(frozen=True)
class Lines(Format):
    """Findings line by line; which rule and how severe where the line says so."""

    suffixes: ClassVar[tuple[str, ...]] = (".lines", ".log")

    def read(self, data: bytes, source: str) -> list[Parsed]:
        """One Parsed. Raises BadInput for a text that neither holds a finding nor says that there is none."""
        seen = _Output.of(decode(data, source))
        if not seen.findings and not seen.clean:
            remedy = "if that is another format, name it with format="
            raise BadInput(source, "holds no line such as path:line:col: text", remedy=remedy)
        found = Collector(source, "lines")
        for one in seen.findings:
            found.add(one.body, one.place, record=one.number, category=one.rule, severity=severity_of(one.severity))
        for line in seen.rest:
            found.skip(line, "not a finding at a line")
        return [found.parsed()]

    def recognises(self, data: bytes) -> bool:
        """Findings, of which one has a column, a rule or a severity, and no more other lines; or all are findings."""
        try:
            seen = _Output.of(decode(data, ""))
        except BadInput:
            return False
        if any(_MARKUP.match(line) or ((place := place_in(line)) and place.start) for line in seen.rest):
            return False  # prose, which names its places in its own way
        telling = any(one.place.start_column or one.rule or one.severity for one in seen.findings)
        most = len(seen.findings) if telling else 0
        return bool(seen.findings or seen.clean) and len(seen.rest) <= most


@dataclass(frozen=True)
class _Finding:
    number: int
    place: Location
    body: str
    rule: str = ""
    severity: str = ""

    @property
    def is_note(self) -> bool:
        return self.severity == "note" and not self.rule


@dataclass
class _Output:
    """What a program printed: its findings, whether it says that there are none, and the lines that are neither."""

    findings: list[_Finding] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)
    clean: bool = False

    @classmethod
    def of(cls, text: str) -> _Output:
        seen, header, quoting = cls(), "", False
        rows = text.split("\n")
        for number, row in enumerate(rows, 1):
            after = next((line for line in rows[number : number + 3] if line.strip()), "")
            quoting = quoting and bool(row.strip())
            if quoting or not row.strip():
                continue
            if (frame := _FRAME.fullmatch(row)) and seen.rest:
                seen.add(number, frame["path"], frame["line"], frame["col"], seen.rest.pop())
                quoting = True  # until the next blank line
            elif (found := _FINDING.fullmatch(row)) and _is_path(found["path"]) and _speaks(found):
                line, column = found["line"] or found["row"], found["col"] or found["at"]
                seen.add(number, found["path"], line, column, found["text"])
            elif header and (found := _ROW.fullmatch(row)):
                seen.add(number, header, found["line"], found["col"], found["text"])
            elif _HEADER.fullmatch(row) and _is_path(row.rstrip(":")) and _ROW.fullmatch(after):
                header = row.rstrip(":")
            elif _CLEAN.match(row.strip()):
                seen.clean = True
            elif not (
                _NOISE.match(row.strip()) or _CARETS.fullmatch(row) or (seen.findings and _CARETS.fullmatch(after))
            ):
                seen.continue_(row)
        return seen

    def add(self, number: int, path: str, line: str, column: str | None, text: str) -> None:
        """Add a finding; a bare note belongs to the one above, where that is about the same file."""
        place = Location(
            path=path, start=int(line) or None, end=int(line) or None, start_column=int(column or 0) or None
        )
        new = _labelled(number, place, text)
        last = self.findings[-1] if self.findings else None
        if new.is_note and last is not None and last.place.path == path:
            self.findings[-1] = replace(last, body=f"{last.body}\n{new.body}")
        else:
            self.findings.append(new)

    def continue_(self, row: str) -> None:
        """An indented line goes on with the finding above; any other is left out."""
        if self.findings and row[0].isspace():
            self.findings[-1] = replace(self.findings[-1], body=f"{self.findings[-1].body}\n{row.strip()}")
        else:
            self.rest.append(row)


def _labelled(number: int, place: Location, text: str) -> _Finding:
    """The finding that a message makes, without the severity and the rule that it begins or ends with."""
    found = _SEVERITY.match(text)
    severity = (found[1] or found[2]).lower() if found else ""
    body = text[found.end() :] if found else text
    if code := _CODE.match(body):
        return _Finding(number, place, body[code.end() :] or text, code[1], severity)
    words, _, last = body.rpartition(" ")
    if words and (rule := _RULE.fullmatch(last)) and (not rule[3] or words.endswith(" ")):
        return _Finding(number, place, words.rstrip(), rule[1] or rule[2] or rule[3], severity)
    return _Finding(number, place, body or text, severity=severity)


def _speaks(found: re.Match[str]) -> bool:
    """Whether it is a finding for sure: a path with a blank in it, before a bare line number, may be a sentence."""
    label = _labelled(0, Location(), found["text"])
    return " " not in found["path"] or bool(found["col"] or found["row"] or label.rule or label.severity)


def _is_path(text: str) -> bool:
    _, dot, ending = re.split(r"[/\\]", text)[-1].rpartition(".")
    return "://" not in text and ((bool(dot) and ending.isalnum() and not ending.isdigit()) or "/" in text)
