"""pr-agent's YAML answers: key issues of `/review`, code suggestions of `/improve` (read).

Source: qodo-ai/pr-agent, `settings/pr_reviewer_prompts.toml` and the code suggestion prompts. Models wrap the YAML in
fences or prose and forget block scalars: both are put right where it is clear what was meant. Numbers may be text. A
"no" in `security_concerns` is not a comment.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from typing_extensions import override

from reviewgauge.core.errors import BadInput
from reviewgauge.core.json_reader import Node, object_node
from reviewgauge.core.protocols import Format, Parsed
from reviewgauge.core.records import Location
from reviewgauge.formats.parsing.comments import Collector, decode, severity_of

if TYPE_CHECKING:
    import yaml

_FENCED = re.compile(r"```ya?ml\s*\n(.*?)(?:\n```|\Z)", re.DOTALL | re.IGNORECASE)
_START = re.compile(r"^(?:review|code_suggestions):", re.MULTILINE)
_TEXT_KEYS = (
    "relevant_file|issue_header|issue_content|security_concerns|relevant_tests|existing_code|improved_code"
    "|suggestion_content|one_sentence_summary|label"
)
_LOOSE = re.compile(rf"^( *(?:- )?)({_TEXT_KEYS}): +(?![|>\"'&*])(\S.*)$", re.MULTILINE)
_DIGITS = re.compile(r"[\d:_.+-]+")
LONGEST = 1_000_000  # characters
DEEPEST = 30
MOST_EVENTS = 200_000
MOST_KEYS = 1000  # of one mapping: numbers may be chosen so that all have one hash, and then time is quadratic
_NONE = re.compile(r"\s*(?:no|none|n/a)\b.{0,80}", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class PrAgent(Format):
    """The model's answer as pr-agent keeps it, YAML or JSON."""

    suffixes: ClassVar[tuple[str, ...]] = (".pr-agent.yaml", ".pr-agent.yml")

    @override
    def read(self, data: bytes, source: str) -> list[Parsed]:
        answer = object_node(_load(decode(data, source), source), source)
        if not answer.as_object().keys() & {"review", "code_suggestions"}:
            raise answer.error("is missing", "review")
        found = Collector(source, "pr_agent", system="pr-agent")
        review = answer.node("review")
        for i, item in enumerate(review.nodes("key_issues_to_review")):
            _add_issue(found, Node(item.value, source, f"review.key_issues_to_review[{i}]"))
        for i, item in enumerate(answer.nodes("code_suggestions")):
            _add_suggestion(found, Node(item.value, source, f"code_suggestions[{i}]"))
        concerns = _text(review, "security_concerns")
        if _NONE.fullmatch(concerns):
            found.skip("review.security_concerns", "says that there is nothing to say")
        elif concerns:
            found.add(concerns, Location(), record="review.security_concerns", category="security")
        return [found.parsed()]

    def recognises(self, data: bytes) -> bool:
        """YAML or JSON with pr-agent's own keys."""
        return (b"key_issues_to_review" in data and b"review" in data) or (
            b"code_suggestions" in data and b"relevant_file" in data
        )


def _load(text: str, source: str) -> object:
    if len(text) > LONGEST:
        raise BadInput(source, f"has {len(text):,} characters, over {LONGEST:,}", remedy="one answer a file")
    fenced = _FENCED.search(text)
    text = fenced[1] if fenced else text
    start = _START.search(text)
    text = text[start.start() :] if start and not text.lstrip().startswith("{") else text
    text = text.replace("\t", "    ")
    first = _parse(text)
    if isinstance(first, str):
        repaired = _parse(_LOOSE.sub(_as_block, text))
        if isinstance(repaired, str):
            raise BadInput(source, f"is not readable YAML: {first}", remedy="is the answer complete?")
        return repaired
    return first


def _as_block(match: re.Match[str]) -> str:
    return f"{match[1]}{match[2]}: |\n{' ' * (len(match[1]) + 2)}{match[3]}"


def _parse(text: str) -> object:
    """The document; text for what went wrong (no answer of pr-agent is a bare text)."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # which is 20 times as fast, and does not count its depth
    try:
        if problem := _refused(yaml.parse(text, Loader=loader)):
            return problem
        return yaml.load(text, Loader=loader)  # both are safe loaders
    except yaml.MarkedYAMLError as error:
        where = f" (line {error.problem_mark.line + 1})" if error.problem_mark else ""
        return f"{error.problem or error.context}{where}"
    except (yaml.YAMLError, ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        return str(error).partition("\n")[0] or type(error).__name__


def _refused(events: Iterable[yaml.Event]) -> str:
    """What makes a document too costly to be made: it is small, and may stand for more than any machine can hold."""
    import yaml

    room: list[float] = []  # how many more nodes each open collection may hold
    for count, event in enumerate(events):
        if room and isinstance(event, yaml.CollectionStartEvent | yaml.ScalarEvent):
            room[-1] -= 1
        if room and room[-1] < 0:
            return f"it holds an object of more than {MOST_KEYS:,} keys"
        if isinstance(event, yaml.CollectionStartEvent):
            room.append(2 * MOST_KEYS if isinstance(event, yaml.MappingStartEvent) else math.inf)
        elif isinstance(event, yaml.CollectionEndEvent):
            room.pop()
        if len(room) > DEEPEST or count > MOST_EVENTS:
            return "it holds too many values" if count > MOST_EVENTS else f"it is nested more than {DEEPEST} deep"
        if isinstance(event, yaml.ScalarEvent) and (
            (event.value == "<<" and event.implicit[0]) or (event.tag or "").endswith(":merge")
        ):
            return "it merges objects"  # into one of any size
        if isinstance(event, yaml.AliasEvent):
            return "it holds an alias"
        if isinstance(event, yaml.ScalarEvent) and len(event.value) > 100 and _DIGITS.fullmatch(event.value):
            return "it holds a number that is too long"  # 1:1:1 is one in base 60, made in quadratic time
    return ""


def _text(node: Node, key: str) -> str:
    value = node.as_object().get(key)
    if value is None or isinstance(value, bool):
        return "" if value is None else "yes" if value else "no"  # YAML reads a bare "No" as false
    return (str(value) if isinstance(value, int | float) else node.text(key) or "").strip()


def _line(node: Node, key: str) -> int | None:
    value = node.as_object().get(key)
    if isinstance(value, str):
        number = re.fullmatch(r"\s*(?:L|line )?(\d{1,9})\s*", value, re.IGNORECASE)
        if number is None and value.strip():
            raise node.error(f"should be a line number, not {value.strip()!r:.40}", key)
        return int(number[1]) if number else None
    return node.integer(key)


def _add_issue(found: Collector, node: Node) -> None:
    header, content = _text(node, "issue_header"), _text(node, "issue_content")
    body = "\n\n".join(part for part in (header, content) if part)
    if not body:
        raise node.error("is missing", "issue_content")
    found.add(
        body,
        Location(
            path=_text(node, "relevant_file") or None, start=_line(node, "start_line"), end=_line(node, "end_line")
        ),
        record=node.record,
        category=header or None,
        severity=severity_of(_text(node, "severity")),
    )


def _add_suggestion(found: Collector, node: Node) -> None:
    body = _text(node, "suggestion_content") or _text(node, "one_sentence_summary")
    if not body:
        raise node.error("is missing", "suggestion_content")
    found.add(
        body,
        Location(
            path=_text(node, "relevant_file") or None,
            start=_line(node, "relevant_lines_start"),
            end=_line(node, "relevant_lines_end"),
        ),
        record=node.record,
        quote=_text(node, "existing_code"),
        category=_text(node, "label") or None,
        suggestion=_text(node, "improved_code") or None,
    )
