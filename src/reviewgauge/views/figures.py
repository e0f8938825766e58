"""Formats of numbers and labels, shared by terminal, report and files. Undefined is a dash, never a 0."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from reviewgauge.core.reports.leaderboard import Estimate, Leaderboard, SliceSummary, SystemSummary
from reviewgauge.core.results import CommentState

UNDEFINED = "–"
LABELS = {
    "f1": "F1",
    "f2": "F2",
    "f0.5": "F0.5",
    "comments_per_change": "comments per change",
    "comments_per_hunk": "comments per hunk",
    "clean_left_alone": "clean left alone",
    "line_f1": "line F1",
    "line_recall": "on the line",
    "noise": "false discovery",
    "d_prime": "d′",
    "f1_least": "F1 least",
    "f1_most": "F1 most",
    "line_d_prime": "d′ by line",
}
RANGE = "f1_least"  # its column shows f1_most too
EXPLAINED = {
    RANGE: "F1 if all that is unsure is wrong, and if it is right; the figures count it as its probability",
    "line_recall": "share of the findings with a comment on their very lines, whatever it says",
    "comments_per_change": "comments per change",
    "clean_left_alone": "share of the clean changes left alone",
    "noise": "share of the comments that surely match no finding",
    "sensitivity": "share of the planted defects that were told",
    "false_alarm": "share of the same places that were told of the twin without the defect",
    "safe_alarm": "share of the edits of the same kind that do no harm and were told all the same",
    "alarms_per_change": "comments on planted lines of a twin, whatever they say",
    "d_prime": "how far defects are told apart from the same code without them, in standard deviations: "
    "0 for whoever says the same of both, 1 is fair, 3 nearly perfect",
    "line_d_prime": "d′ by the lines alone, whatever the comments say",
    "augmented_precision": "share of the comments that are right, golden or not",
    "augmented_recall": "novel right comments count too: each system has its own denominator, so it must not rank",
}
"""What the columns of a leaderboard beside precision, recall and F say."""
STATES: dict[str, tuple[str, str]] = {
    CommentState.MATCHED: ("●", "the comment raises a reference finding and is credited for it"),
    CommentState.UNSURE: ("◌", "may raise a finding: right words elsewhere, or the right lines in other words"),
    CommentState.DUPLICATE: ("◐", "raises a finding that another comment was already credited for"),
    CommentState.NEUTRAL: ("○", "neither right nor wrong: it is not counted"),
    CommentState.FALSE: ("✕", "raises no known finding: it counts against precision"),
    "rejected": ("⊘", "matches no finding, and is known to be wrong"),
    "right": ("✓", "the verdict is true, or the ranked line is one of a finding"),
    "wrong": ("✕", "the verdict is not true, or the ranked line is none of a finding"),
    "scored": ("·", "the metric measures the review as a whole, not each comment"),
    "unscored": ("·", "the review was not scored, or nobody knows what is right"),
    "hit": ("✓", "the finding was raised by a comment of the system"),
    "missed": ("◇", "no comment of the system was credited with the finding"),
}


def state_name(state: str, n: int = 1) -> str:
    """The display name of a state of one comment, or of several."""
    return ("matches no finding" if n == 1 else "match no finding") if state == CommentState.FALSE else state


def label(measure: str) -> str:
    """The display name of a measure."""
    return LABELS.get(measure, measure.replace("_", " "))


def defined(value: float | None) -> bool:
    """Whether there is a finite number to show."""
    return value is not None and math.isfinite(value)


def number(value: float | None, unit: str = "share", digits: int = 2) -> str:
    """A measure: `.62` for a share, `3.4` in other units, a dash if undefined."""
    if value is None or not math.isfinite(value):
        return UNDEFINED
    text = f"{value:.{digits}f}" if unit == "share" or abs(value) < 10 else f"{value:,.1f}"
    if float(text.replace(",", "")) == 0:
        text = text.removeprefix("-")
    return re.sub(r"^(-?)0\.", r"\1.", text) if unit == "share" else text


def column(measure: str) -> str:
    """The name of a leaderboard's column."""
    return "F1 range" if measure == RANGE else label(measure)


def count(n: float | None) -> str:
    """`5,164`, one digit for a mean count, a dash if undefined."""
    if n is None:
        return UNDEFINED
    return f"{n:,.0f}" if n == round(n) else f"{n:,.1f}"


def counted(n: int, what: str) -> str:
    """`1 case`, `3 cases`."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def dollars(value: float | None) -> str:
    """`$1,234.50`, a dash if unknown."""
    return UNDEFINED if value is None else f"${value:,.2f}"


def signed(value: float | None, unit: str = "share", digits: int = 2) -> str:
    """A difference with its sign, which one that rounds to 0 keeps."""
    text = number(value, unit, digits).removeprefix("-")
    return text if text == UNDEFINED else f"{'-' if (value or 0.0) < 0 else '+'}{text}"


def interval(low: float | None, high: float | None, unit: str = "share", gap: str = " ", digits: int = 2) -> str:
    """`[.55, .69]`, empty where the bounds are undefined."""
    if not (defined(low) and defined(high)):
        return ""
    return f"[{number(low, unit, digits)},{gap}{number(high, unit, digits)}]"


def p_value(p: float | None) -> str:
    """A p-value: `.34`, `.021`, `<.001`."""
    if p is None or not math.isfinite(p):
        return UNDEFINED
    if p < 0.001:
        return "<.001"
    return number(p, digits=3 if p < 0.1 else 2)


def p_clause(p: float | None) -> str:
    """`p = .02` or `p < .001`, for a sentence."""
    text = p_value(p)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def percent(level: float) -> str:
    """`95%`."""
    return f"{level * 100:g}%"


def estimate(system: SystemSummary, measure: str) -> Estimate:
    """The estimate of a measure, or an undefined one."""
    return system.estimate(measure) or Estimate(measure=measure, value=None, n=0, clusters=0)


def spread_words(system: SystemSummary) -> str:
    """The variation between attempts of a system, in words; empty with one attempt a change."""
    s = system.spread
    if s is None:
        return ""
    unit = "" if s.unit == "share" else f" {s.unit}"
    digits = 3 if s.unit == "share" else 2
    again = f"{number(s.again, s.unit, digits)}{unit} (SD)"
    text = f"{label(s.measure)} would vary by {again} if all {s.attempts} attempts at {s.n} changes were repeated; "
    if s.within_share is None:
        return f"{text}the attempts have no variance"
    return f"{text}{percent(round(s.within_share, 2))} of the variance lies between attempts, the rest between changes"


def scored_of(board: Leaderboard) -> str:
    """The number of scored changes: `30`, or `7 of 13` if no system was scored on all."""
    scored = max((s.scored for s in board.systems), default=0)
    cases = max((s.cases for s in board.systems), default=0)
    return str(cases) if scored == cases else f"{scored} of {cases}"


def measures(board: Leaderboard) -> list[str]:
    """The measures of the board: headline, precision, recall, then the metric's own order."""
    found = dict.fromkeys(e.measure for system in board.systems for e in system.estimates)
    first = [r for r in (board.headline, "precision", "recall") if r in found or r == board.headline]
    return list(dict.fromkeys([*first, *found]))


def slice_measures(board: Leaderboard, values: Sequence[SliceSummary]) -> list[str]:
    """The measures to show on slices: the headline, or for facets the one that is defined most often.

    A facet has the findings (or the comments) of one kind only, so often only recall (or precision) is defined. One
    that defines recall, precision and the headline shows all three.
    """
    if not any(value.facet for value in values):
        return [board.headline]
    often = {
        measure: sum(defined(estimate(s, measure).value) for value in values for s in value.systems)
        for measure in ("recall", "precision", board.headline)
    }
    return list(often) if len(often) == 3 and all(often.values()) else [max(often, key=lambda measure: often[measure])]


def short_hash(digest: str) -> str:
    """The first 12 digits of a hash."""
    return digest[:12]


def visible(text: str) -> str:
    """`text` with control and direction-changing characters made visible."""
    return _HIDDEN.sub(_show, text)


_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def _show(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code == 0x0D:
        return ""
    return chr(0x2400 + code) if code < 32 else f"[U+{code:04X}]"


def web_url(url: str | None) -> str | None:
    """`url` if it is a valid http or https address, else None."""
    if not url or any(c.isspace() or not c.isprintable() for c in url):
        return None
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return None
    return url if parts.scheme.lower() in {"http", "https"} and host else None
