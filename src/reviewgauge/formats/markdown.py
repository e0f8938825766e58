"""Free text: a review in Markdown or prose, split by rules (read).

Source: CommonMark for headings, lists and fences; no tool's own format. A list item, a heading with what stands under
it, or a paragraph that names a place becomes a candidate comment; `path:line` and quoted code become its claim. Prose
needs a model to be split well: each comment says that none was used (`extra["split"] == "rules"`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from reviewgauge.core.errors import BadInput
from reviewgauge.core.protocols import Format, Parsed
from reviewgauge.core.records import Location
from reviewgauge.core.results import Drop
from reviewgauge.formats.parsing.comments import Collector
from reviewgauge.formats.parsing.documents import decode, peek
from reviewgauge.formats.parsing.prose import Block, blocks, fences, is_report, place_in, severity_in, title
from reviewgauge.repo.forge.comment_text import bot_noise


@dataclass(frozen=True)
class Markdown(Format):
    """Candidates by rules; sections such as "Summary" and prose between findings are counted, not kept."""

    suffixes: ClassVar[tuple[str, ...]] = (".md", ".markdown", ".txt")

    def read(self, data: bytes, source: str) -> list[Parsed]:
        """One Parsed. Raises BadInput for what is not text."""
        text = decode(data, source)
        if not text.strip():
            raise BadInput(source, "is empty", remedy="an empty review is written as a sentence, such as: No issues.")
        found = Collector(source, "markdown")
        for number, finding in enumerate(_findings(blocks(text), found), 1):
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

    text: str
    heading: str = ""
    headed: bool = False


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
                findings.append(_Finding(heading, heading, headed=True))
        elif report:
            collector.skip(block.text, f"section {report!r}")
        elif block.kind == "item":
            last = findings[-1] if findings else None
            if last is not None and last.headed and last.heading == heading and place_in(block.text) is None:
                last.text += f"\n{block.text}"  # the points of one finding, not findings of their own
            else:
                findings.append(_Finding(block.text, heading))
        elif (findings and findings[-1].headed and findings[-1].heading == heading) or (
            block.kind == "fence" and findings
        ):
            findings[-1].text += f"\n\n{block.text}"
        elif place_in(block.text) is not None or open_heading:
            findings.append(_Finding(block.text, heading))
        else:
            loose.append((block, heading))
    if findings or (structured and not loose):
        for block, _ in loose:
            collector.skip(block.text, "prose between findings")
        return _without_bare_headings(findings, collector)
    return [_Finding(block.text, under) for block, under in loose if block.kind == "text"]


def _without_bare_headings(findings: list[_Finding], collector: Collector) -> list[_Finding]:
    """A heading that only names the file of the findings below it is not a finding."""
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
        extra={"split": "rules"} | ({"heading": title(finding.heading)[:200]} if finding.heading else {}),
    )
