"""SARIF 2.1.0, the format of static analysers (read).

Source: OASIS, Static Analysis Results Interchange Format Version 2.1.0. Suppressed results, results that passed and
results gone since the baseline are not comments. URIs are percent-decoded and put together from `uriBaseId`. An end
column is exclusive: one at column 1 ends on the line before. A quoted snippet finds the place when lines moved. An
empty list of results is a silent review; a log without one (3.14.23: the scan did not happen), without a run, or of a
tool that failed is an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import unquote

from typing_extensions import override

from reviewgauge.core.json_reader import Node, object_node
from reviewgauge.core.parsing import parse_json
from reviewgauge.core.protocols import Format, Parsed
from reviewgauge.core.records import Location, Severity
from reviewgauge.formats.parsing.comments import Collector, has, peek
from reviewgauge.repo.diff.edits import EDITS

_READ = {"error": Severity.HIGH, "warning": Severity.MEDIUM, "note": Severity.LOW, "none": Severity.INFO}
_CVSS = ((9.0, Severity.CRITICAL), (7.0, Severity.HIGH), (4.0, Severity.MEDIUM))
_NO_RUN = "a tool that found nothing writes one run with an empty list of results"
LONGEST = 1_000_000  # characters of a message into which arguments were put
_SILENT = {"pass": "passed", "notApplicable": "not applicable", "open": "not decided by the tool"}


@dataclass(frozen=True)
class Sarif(Format):
    """A log of runs; each run is one Parsed, keyed by its automation id, else by its revision."""

    suffixes: ClassVar[tuple[str, ...]] = (".sarif", ".sarif.json")

    @override
    def read(self, data: bytes, source: str) -> list[Parsed]:
        document = object_node(parse_json(data, source), source)
        runs = [Node(run.value, source, f"runs[{i}]") for i, run in enumerate(document.nodes("runs"))]
        if not runs:
            raise document.error("is empty" if has(document.value, "runs") else "is missing", "runs", _NO_RUN)
        return [_read_run(run, source) for run in runs]

    def recognises(self, data: bytes) -> bool:
        """An object with runs that have a tool."""
        value = peek(data)
        runs = value.get("runs") if isinstance(value, dict) else None
        return isinstance(runs, list) and (not runs or has(runs[0], "tool") or has(value, "$schema"))


def _read_run(run: Node, source: str) -> Parsed:
    driver = run.node("tool").node("driver")
    found = Collector(source, "sarif", key=_key(run), system=driver.text("name") or None)
    bases = {name: _base(run.node("originalUriBaseIds"), name) for name in run.node("originalUriBaseIds").as_object()}
    found.root = max((base for base in bases.values() if base.startswith("/")), key=len, default=None)
    rules = [driver.nodes("rules"), *(extension.nodes("rules") for extension in run.node("tool").nodes("extensions"))]
    by_id = {rule.text("id"): rule for group in reversed(rules) for rule in group}
    artifacts = run.nodes("artifacts")
    for i, item in enumerate(_results(run)):
        result = Node(item.value, source, f"{run.record}.results[{i}]")
        reason = _unwanted(result)
        if reason is not None:
            found.skip(str(result.record), reason)
            continue
        rule = _rule(result, rules[0], by_id)
        _add(found, result, rule, bases, artifacts)
    parsed = found.parsed()
    if not parsed.comments and _failed(run):
        raise run.error("says that the tool failed, and has no result", "invocations", "run the tool again")
    return parsed


def _results(run: Node) -> list[Node]:
    """The results of a run. Raises BadInput where there are none to read: an empty list says that nothing was found."""
    if run.node("externalPropertyFileReferences").as_object().get("results"):
        raise run.error("keeps its results in other files", "externalPropertyFileReferences.results", "write one file")
    if run.as_object().get("results") is None:
        problem = "is null" if "results" in run.as_object() else "is missing"
        raise run.error(f"{problem}: the tool did not look", "results", "an empty list says that nothing was found")
    return run.nodes("results")


def _failed(run: Node) -> bool:
    return any(item.as_object().get("executionSuccessful") is False for item in run.nodes("invocations"))


def _key(run: Node) -> str | None:
    revisions = (item.text("revisionId") for item in run.nodes("versionControlProvenance"))
    return run.node("automationDetails").text("id") or next((r for r in revisions if r), None)


def _base(bases: Node, name: str, depth: int = 0) -> str:
    """The folder behind a base id: a path, absolute where the log says so."""
    base = bases.node(name)
    folder = _path(base.text("uri") or "")
    parent = base.text("uriBaseId")
    if parent and parent in bases.as_object() and depth < 8 and not folder.startswith("/"):
        return _base(bases, parent, depth + 1).rstrip("/") + "/" + folder
    return folder


def _path(uri: str) -> str:
    """The path of a URI: decoded, without `file://` and its host."""
    if uri.lower().startswith("file:"):
        return "/" + _unquoted(re.sub(r"^file:(?://[^/]*)?", "", uri, flags=re.IGNORECASE)).lstrip("/")
    return _unquoted(uri)


def _unquoted(uri: str) -> str:
    """The text of a URI; %00, which no path holds, becomes a mark."""
    return unquote(uri).replace("\0", "\ufffd")


def _unwanted(result: Node) -> str | None:
    kind = result.text("kind") or "fail"
    if kind in _SILENT:
        return _SILENT[kind]
    if result.text("baselineState") == "absent":
        return "gone since the baseline"
    states = [item.text("status") for item in result.nodes("suppressions")]
    if states and not any(state in ("rejected", "underReview") for state in states):
        return "suppressed"
    return None


def _rule(result: Node, rules: list[Node], by_id: Mapping[str | None, Node]) -> Node:
    reference = result.node("rule")
    name = result.text("ruleId") or reference.text("id")
    index = result.integer("ruleIndex") if result.integer("ruleIndex") is not None else reference.integer("index")
    if name in by_id:
        return by_id[name]
    if index is not None and 0 <= index < len(rules) and not reference.node("toolComponent").value:
        return rules[index]
    return Node({"id": name}, result.source, result.record, "rule")


def _add(found: Collector, result: Node, rule: Node, bases: Mapping[str, str], artifacts: list[Node]) -> None:
    locations = result.nodes("locations")
    physical = locations[0].node("physicalLocation") if locations else Node({}, result.source, result.record)
    region = physical.node("region")
    start, end = region.integer("startLine"), region.integer("endLine")
    columns = region.integer("startColumn"), region.integer("endColumn")
    if start is not None and end is not None and end > start and columns[1] == 1:
        end -= 1
    level = result.text("level") or rule.node("defaultConfiguration").text("level") or "warning"
    found.add(
        _message(result, rule),
        Location(
            path=_uri(physical.node("artifactLocation"), bases, artifacts),
            start=start,
            end=end if end is not None else start,
            start_column=columns[0],
            end_column=columns[1],
        ),
        record=result.record,
        quote=region.node("snippet").text("text"),
        category=result.text("ruleId") or rule.text("id"),
        severity=_severity(rule, level),
        suggestion=_fix(result),
        extra=_edits(result, bases, artifacts),
    )


def _uri(artifact: Node, bases: Mapping[str, str], artifacts: list[Node]) -> str | None:
    index = artifact.integer("index")
    uri = artifact.text("uri")
    if uri is None and index is not None and 0 <= index < len(artifacts):
        artifact = artifacts[index].node("location")
        uri = artifact.text("uri")
    if uri is None:
        return None
    path = _path(uri)
    base = bases.get(artifact.text("uriBaseId") or "", "")
    return path if not base or path.startswith("/") else f"{base.rstrip('/')}/{path}"


def _message(result: Node, rule: Node) -> str:
    message = result.node("message")
    text = message.text("text") or message.text("markdown")
    identity = message.text("id")
    if text is None and identity is not None:
        text = rule.node("messageStrings").node(identity).text("text")
    text = text or rule.node("shortDescription").text("text") or rule.node("fullDescription").text("text")
    if text is None:
        raise result.error("is missing", "message.text")
    given = message.texts("arguments")
    pieces = re.split(r"\{(\d{1,3})\}", text)
    for i in range(1, len(pieces), 2):
        pieces[i] = given[int(pieces[i])] if int(pieces[i]) < len(given) else f"{{{pieces[i]}}}"
    if (size := sum(map(len, pieces))) > max(len(text), LONGEST):
        raise result.error(f"has {size:,} characters with its arguments, over {LONGEST:,}", "message.text")
    return "".join(pieces)


def _severity(rule: Node, level: str) -> Severity | None:
    score = rule.node("properties").as_object().get("security-severity")
    if isinstance(score, str) and re.fullmatch(r"\d{1,2}(\.\d{1,3})?", score):  # a CVSS score, written as text
        cvss = float(score)
        return next((s for floor, s in _CVSS if cvss >= floor), Severity.LOW)
    return _READ.get(level)


def _fix(result: Node) -> str | None:
    for fix in result.nodes("fixes"):
        for change in fix.nodes("artifactChanges"):
            for replacement in change.nodes("replacements"):
                return replacement.node("insertedContent").text("text") or ""
    return None


def _edits(result: Node, bases: Mapping[str, str], artifacts: list[Node]) -> dict[str, object]:
    """The first fix as edits with their places; empty where it has none, or a place in bytes or characters alone."""
    found: list[dict[str, object]] = []
    for change in next(iter(result.nodes("fixes")), Node({}, result.source, result.record)).nodes("artifactChanges"):
        path = _uri(change.node("artifactLocation"), bases, artifacts)
        for replacement in change.nodes("replacements"):
            region = replacement.node("deletedRegion")
            start = region.integer("startLine")
            if path is None or start is None:
                return {}
            columns = region.integer("startColumn") or 1, region.integer("endColumn")
            text = replacement.node("insertedContent").text("text") or ""
            end = region.integer("endLine") or start
            edit = {"path": path, "start": start, "end": end, "start_column": columns[0], "text": text}
            found.append(edit if columns[1] is None else {**edit, "end_column": columns[1]})
    return {EDITS: found} if found else {}
