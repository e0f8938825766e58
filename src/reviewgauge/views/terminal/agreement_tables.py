"""The result of `agree` in the terminal: coefficients, batches, and a matrix of raters for each dimension.

It fits 100 columns and shows less on 80. `--json` has every figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.text import Text

from reviewgauge.core.document import Value
from reviewgauge.core.errors import one_line
from reviewgauge.core.reports.agreement import (
    AgreementReport,
    BatchAgreement,
    ClaimShares,
    Coefficient,
    DimensionAgreement,
    PairAgreement,
)
from reviewgauge.views import figures
from reviewgauge.views.terminal.tables import NARROW, Fitted, bare_table, notes_below, number_column, plain

DIGITS = 4  # as the papers print them
FEW_RATERS = 3  # least raters for a matrix
MATRIX_CELL = 6  # columns of the terminal
WEAKEST = 10  # listed pairs where the matrix does not fit
NAME = 20
SHORT = {
    "percent agreement": "percent",
    "Cohen's kappa": "Cohen",
    "Fleiss' kappa": "Fleiss",
    "Krippendorff's alpha (nominal)": "alpha nom.",
    "Krippendorff's alpha (ordinal)": "alpha ord.",
    "Krippendorff's alpha (interval)": "alpha int.",
}
CORRECTED = ("Krippendorff's alpha (ordinal)", "Cohen's kappa", "Krippendorff's alpha (interval)")


def agreement(report: AgreementReport) -> RenderableType:
    """Every dimension, and the settings of the intervals."""
    parts: list[RenderableType] = []
    for dimension in report.dimensions:
        parts += [*_dimension(dimension), Text("")]
    for _, same in groupby(report.claims, key=lambda one: one.dimension):
        parts += [*_claims(list(same)), Text("")]
    how = "no intervals: no resamples"
    if report.resamples:
        how = f"95% intervals from {report.resamples:,} resamples of whole cases, seed {report.seed}"
    lines = [f"{report.source}; {how}", *(f"! {warning}" for warning in report.warnings)]
    return Group(*parts, notes_below(*lines))


def _dimension(one: DimensionAgreement) -> Iterator[RenderableType]:
    yield plain(f"{one.dimension}: {_about(one)}", 400, "bold")
    yield plain(_raters(one.kinds), 600, "dim")
    if reason := _same_reason(one.coefficients):
        yield plain(f"agreement is undefined: {reason}", 600)
    else:
        yield Text("")
        yield Fitted(lambda width: _coefficients(one.coefficients, width))
        if one.batches:
            yield Text("")
            yield Fitted(lambda width: _batches(one.batches, width))
        if len(one.kinds) >= FEW_RATERS:
            yield Text("")
            yield Fitted(lambda width: _matrix(one, width))
    left_out = ", ".join(f"{count:,} {why}" for why, count in one.left_out.items())
    warnings = [f"! {warning}" for warning in one.warnings]
    if left_out or warnings:
        yield Text("")
        yield notes_below(f"labels left out: {left_out}" if left_out else "", *warnings)


def _claims(groups: Sequence[ClaimShares]) -> Iterator[RenderableType]:
    """The shares of the claims with each value; one group a language, and all."""
    table = bare_table()
    table.add_column("language", overflow="fold", max_width=NAME)
    table.add_column("said of claims", overflow="fold")
    for name in ("claims", "of", "share", "interval"):
        number_column(table, name)
    for group in groups:
        for at, one in enumerate(group.shares):
            language = (group.language or "all") if at == 0 else ""
            interval = figures.interval(one.share.low, one.share.high, digits=3) or figures.UNDEFINED
            cells = (f"{one.claims:,}", f"{group.claims:,}", _value(one.share), interval)
            table.add_row(plain(language, NAME), plain(one.value, 60), *cells)
    whole = groups[-1]
    notes = [f"labels left out: {', '.join(f'{n:,} {word}' for word, n in whole.left_out.items())}"]
    if whole.split:
        notes.append(f"on {whole.split:,} claims raters differ: what most said counts, of a tie the first label")
    yield plain(f"claims, {whole.dimension}: {whole.claims:,} of {whole.changes:,} changes", 400, "bold")
    yield table
    yield notes_below(*notes[not whole.left_out :])


def _about(one: DimensionAgreement) -> str:
    scale = "" if one.scale is None else f", {one.scale.low:g} to {one.scale.high:g}"
    return f"{one.judged_twice:,} of {one.items:,} items with two raters or more, {one.labels:,} labels{scale}"


def _raters(kinds: Mapping[str, str]) -> str:
    count = {kind: [rater for rater, of in kinds.items() if of == kind] for kind in dict.fromkeys(kinds.values())}
    parts = [
        f"{len(names)} {kind}{'' if len(names) == 1 else 's'} ({', '.join(names[:8])}{' …' if len(names) > 8 else ''})"
        for kind, names in count.items()
    ]
    return "raters: " + ", ".join(parts)


def _same_reason(coefficients: Sequence[Coefficient]) -> str:
    """The one reason why no coefficient has a value; empty otherwise."""
    reasons = {c.figure.reason for c in coefficients}
    undefined = all(c.figure.value is None for c in coefficients)
    return reasons.pop() if undefined and len(reasons) == 1 else ""


def _coefficients(rows: Sequence[Coefficient], width: int) -> RenderableType:
    table = bare_table()
    table.add_column("coefficient", overflow="fold", min_width=min(16, width // 3))
    for name in ("value", "interval", "items", "raters") if width >= NARROW else ("value", "interval", "items"):
        number_column(table, name)
    reasons: dict[str, list[str]] = {}
    for row in rows:
        interval = figures.interval(row.figure.low, row.figure.high, digits=3) or figures.UNDEFINED
        cells = [_value(row.figure), interval, f"{row.items:,}"]
        table.add_row(plain(row.name), *cells, *([f"{row.raters}"] if width >= NARROW else []))
        if row.figure.reason:
            reasons.setdefault(row.figure.reason, []).append(row.name)
    notes = [
        f"! {'all of these' if len(names) == len(rows) else ', '.join(names)}: {reason}"
        for reason, names in reasons.items()
    ]
    return Group(table, notes_below(*notes)) if notes else table


def _value(figure: Value | None) -> str:
    return figures.number(figure.value if figure else None, digits=DIGITS)


def _batches(batches: Sequence[BatchAgreement], width: int) -> RenderableType:
    table = bare_table()
    table.add_column("batch", overflow="fold", min_width=min(9, width // 3), max_width=24)
    names = [c.name for c in batches[0].coefficients]
    number_column(table, "items")
    shown = names if width >= NARROW else names[:1] + names[-1:]
    for name in shown:
        number_column(table, SHORT.get(name, name))
    for batch in batches:
        known = _known(batch)
        cells = (_value(known.get(name)) for name in shown)
        table.add_row(plain(batch.batch, 60), f"{batch.items:,}", *cells)
    return Group(Text("by batch, in the order of the labels"), table)


def _matrix(one: DimensionAgreement, width: int) -> RenderableType:
    """Chance-corrected agreement above the diagonal, plain agreement below; or the weakest pairs if too wide."""
    raters = list(one.kinds)
    plainly, corrected = _two_names(one.pairs)
    name = min(NAME, max(len(one_line(rater, NAME)) for rater in raters)) + 6
    if name + (MATRIX_CELL + 1) * len(raters) > width:
        return _weakest(one.pairs, plainly, corrected)
    by_pair = {frozenset((pair.first, pair.second)): _known(pair) for pair in one.pairs}
    table = bare_table()
    table.add_column("", no_wrap=True)
    for at in range(len(raters)):
        number_column(table, f"{at + 1}")
    for row, rater in enumerate(raters):
        label = plain(f"{row + 1} {one_line(rater, NAME)}", NAME + 6)
        if one.kinds[rater] == "model" and len(set(one.kinds.values())) > 1:
            label.append(" *")
        cells = []
        for column, other in enumerate(raters):
            figure = by_pair.get(frozenset((rater, other)), {}).get(corrected if column > row else plainly)
            cells.append("·" if row == column else figures.number(figure.value if figure else None))
        table.add_row(label, *cells)
    mixed = "* a model. " if len(set(one.kinds.values())) > 1 else ""
    head = Text(f"pairs of raters: {corrected} above the diagonal, {plainly} below")
    return Group(head, table, notes_below(f"{mixed}–: no common items, or undefined; --json has n and intervals"))


def _two_names(pairs: Sequence[PairAgreement]) -> tuple[str, str]:
    """The names of the plain and the corrected coefficient of the matrix."""
    names = [c.name for c in pairs[0].coefficients]
    corrected = next((name for name in CORRECTED if name in names), names[-1])
    near = [name for name in names if name.startswith("within")]
    return (near or names)[0], corrected


def _known(measured: PairAgreement | BatchAgreement) -> dict[str, Value]:
    return {c.name: c.figure for c in measured.coefficients}


def _weakest(pairs: Sequence[PairAgreement], plainly: str, corrected: str) -> RenderableType:
    known = [(pair, own) for pair in pairs if (own := _known(pair))[corrected].value is not None]
    defined = sorted(known, key=lambda entry: entry[1][corrected].value or 0.0)
    table = bare_table()
    table.add_column("first", overflow="fold", max_width=24)
    table.add_column("second", overflow="fold", max_width=24)
    for name in (SHORT.get(corrected, corrected), SHORT.get(plainly, plainly), "items"):
        number_column(table, name)
    for pair, of in defined[:WEAKEST]:
        cells = (figures.number(of[name].value) for name in (corrected, plainly))
        table.add_row(plain(pair.first), plain(pair.second), *cells, f"{pair.items:,}")
    undefined = len(pairs) - len(defined)
    more = f"{undefined:,} pairs have no {corrected}: too few common items. " if undefined else ""
    head = Text(f"the pairs of raters with the lowest agreement, of {len(pairs):,}")
    return Group(head, table, notes_below(f"{more}--json has all pairs"))
