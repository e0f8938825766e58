"""Logs of inspect_ai: the output of each sample, read as a review in any of the other formats (read).

Source: inspect_ai 0.3.285, `EvalLog` in `inspect_ai/log/_log.py`, version 2 of the log format: JSON as it is, `.eval`
through the package. A sample's id names the change, its epoch is the attempt. Logs that ReviewGauge wrote hold its own
reviews and failures in the samples' metadata, and these come back as they were.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import ClassVar

from reviewgauge.core.errors import BadInput
from reviewgauge.core.json_reader import Node, build, clean, object_node
from reviewgauge.core.parsing import parse_json
from reviewgauge.core.protocols import Format, Parsed
from reviewgauge.core.results import Failure, FailureKind, Outcome
from reviewgauge.formats.parsing.comments import detect, has, peek

OURS, LAYOUT, LOG_VERSION = "reviewgauge", 1, 2
_ZIP = b"PK\x03\x04"
_LIMITS = {"time": FailureKind.TIMEOUT, "working": FailureKind.TIMEOUT, "operator": FailureKind.CRASH}


def carried(outcome: Outcome) -> dict[str, object]:
    """What a sample's metadata hold under `OURS`, so that `Inspect` reads the outcome back."""
    return {"layout": LAYOUT, "outcome": outcome.model_dump(mode="json", exclude_defaults=True)}


@dataclass(frozen=True)
class Inspect(Format):
    """One system's reviews of a benchmark, as inspect_ai logs them."""

    suffixes: ClassVar[tuple[str, ...]] = (".eval",)

    def read(self, data: bytes, source: str) -> list[Parsed]:
        """The samples, each with its id as key. Raises BadInput, also for a log of another version."""
        log = object_node(_unpacked(data, source) if data.startswith(_ZIP) else parse_json(data, source), source)
        version = log["version"]
        if version.as_integer() != LOG_VERSION:
            problem = f"is an inspect log of version {version.value}, and {LOG_VERSION} is read"
            raise version.error(problem, remedy="inspect_ai 0.3 writes that version")
        system, seen = log.node("eval").text("model"), set()
        found: list[Parsed] = []
        for at, item in enumerate(log.nodes("samples")):
            sample = Node(item.value, source, f"samples[{at}]")
            name = clean(str(sample["id"].value)), sample["epoch"].as_integer()
            if name in seen:
                raise sample.error(f"is the second one of sample {name[0]}, epoch {name[1]}")
            seen.add(name)
            named = {"key": name[0], "attempt": name[1], "system": system}
            found += (one.model_copy(update=named) for one in _sample(sample, name))
        if not found:
            raise BadInput(source, "holds no samples", remedy="log them: inspect eval --log-samples")
        return found

    def recognises(self, data: bytes) -> bool:
        """A log as JSON, or an archive with an inspect log's header."""
        if data.startswith(_ZIP):
            return b"header.json" in data
        return has(value := peek(data), "eval", "status", "version") and has(value, "samples")


def _unpacked(data: bytes, source: str) -> object:
    try:
        from inspect_ai.log import read_eval_log
    except ImportError:
        problem = "is an .eval log, which inspect_ai reads, and that is not installed"
        remedy = "pip install inspect_ai, or make JSON of it: inspect log convert --to json"
        raise BadInput(source, problem, remedy=remedy) from None
    try:
        return read_eval_log(BytesIO(data), resolve_attachments=True).model_dump()
    except Exception as error:  # the package raises what its zip reader and its models raise
        raise BadInput(source, f"cannot be read by inspect_ai: {error}", remedy="is the file complete?") from None


def _sample(sample: Node, name: tuple[str, int]) -> Iterator[Parsed]:
    if sample.get("invalidation") is not None:
        yield _failed(FailureKind.CRASH, "the sample was declared invalid in inspect_ai")
    elif (ours := sample.node("metadata").get(OURS)) is not None:
        yield _own(ours, name)
    elif (error := sample.get("error")) is not None:
        yield _failed(FailureKind.CRASH, error.text("message") or "the sample ended in an error")
    else:
        yield from read_output(sample.node("output"), sample.node("limit").text("type"))


def _own(ours: Node, name: tuple[str, int]) -> Parsed:
    if (layout := ours["layout"].as_integer()) != LAYOUT:
        remedy = "read it with the reviewgauge that wrote it"
        raise ours.error(f"is of another reviewgauge: layout {layout}, and {LAYOUT} is read", remedy=remedy)
    at = ours["outcome"]
    outcome = build(Outcome, at, **at.as_object())
    if (outcome.case, outcome.attempt) != name:
        raise at.error(f"is about {outcome.case}, attempt {outcome.attempt}: the log was edited")
    if (outcome.review is None) == (outcome.failure is None):
        raise at.error("should hold a review or a failure: the log was edited")
    return Parsed(answer=outcome.review or outcome.failure)


def read_output(output: Node, limit: str | None = None) -> Iterator[Parsed]:
    """A model's output as comments, in any other format, or why it is none; `limit` stopped the sample."""
    choice = next(iter(output.nodes("choices")), None)
    if output.text("error") or (choice and choice.text("stop_reason") == "content_filter"):
        yield _failed(FailureKind.REFUSAL, output.text("error") or "the output was filtered")
        return
    text = output.text("completion") or (_text(choice.node("message")) if choice else "")
    try:
        if not text.strip():
            raise BadInput("the output", "is empty")
        yield from detect(text.encode(), "the output").read(text.encode(), "the output")
    except BadInput as error:
        kind = _LIMITS.get(limit, FailureKind.BUDGET) if limit else FailureKind.UNREADABLE
        why = f"stopped by the limit of {limit}: {error}" if limit else str(error)
        yield _failed(kind, why, text)


def _text(message: Node) -> str:
    """A message's text: a string, or the text parts of a list."""
    if isinstance(message.as_object().get("content"), str):
        return message.text("content") or ""
    return "\n".join(filter(None, (part.text("text") for part in message.nodes("content"))))


def _failed(kind: FailureKind, message: str, raw: str = "") -> Parsed:
    return Parsed(answer=Failure(kind=kind, message=message, raw=raw or None))
