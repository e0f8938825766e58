"""The result of `agree` as a document: coefficients, batches, a matrix of raters, shares of claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from reviewgauge.core.document import Block, Column, Document, Table, Text, Value, columns_of
from reviewgauge.core.reports.agreement import (
    AgreementReport,
    BatchAgreement,
    ClaimShares,
    Coefficient,
    DimensionAgreement,
    PairAgreement,
)
from reviewgauge.views.values import counted, note, or_dash

DIGITS = 4  # as the papers print them
FEW_RATERS = 3  # least raters for a matrix
NAMED = 8  # raters of one kind
SHORT = {
    "percent agreement": "percent",
    "Cohen's kappa": "Cohen",
    "Fleiss' kappa": "Fleiss",
    "Krippendorff's alpha (nominal)": "alpha nom.",
    "Krippendorff's alpha (ordinal)": "alpha ord.",
    "Krippendorff's alpha (interval)": "alpha int.",
}
CORRECTED = ("Krippendorff's alpha (ordinal)", "Cohen's kappa", "Krippendorff's alpha (interval)")


def agreement_document(report: AgreementReport) -> Document:
    """Every dimension, the claims, and the settings of the intervals."""
    blocks: list[Block] = [block for dimension in report.dimensions for block in _dimension(dimension)]
    blocks += [_claims(list(same)) for _, same in groupby(report.claims, key=lambda one: one.dimension)]
    how = "no intervals: no resamples"
    if report.resamples:
        how = f"95% intervals from {report.resamples:,} resamples of whole cases, seed {report.seed}"
    lines = [f"{report.source}; {how}", *(f"! {warning}" for warning in report.warnings)]
    return Document(blocks=(*blocks, *map(note, lines)))


def _dimension(one: DimensionAgreement) -> Iterator[Block]:
    scale = "" if one.scale is None else f", {one.scale.low:g} to {one.scale.high:g}"
    about = f"{one.judged_twice:,} of {one.items:,} items with two raters or more, {one.labels:,} labels{scale}"
    yield Text(text=f"{one.dimension}: {about}", kind="strong")
    yield note(_raters(one.kinds))
    reasons = {c.figure.reason for c in one.coefficients}
    if len(reasons) == 1 and all(c.figure.value is None for c in one.coefficients):
        yield Text(text=f"agreement is undefined: {reasons.pop()}")
    else:
        yield _coefficients(one.coefficients)
        if one.batches:
            yield _batches(one.batches)
        if len(one.kinds) >= FEW_RATERS:
            yield _matrix(one)
    if one.left_out:
        yield note(f"labels left out: {', '.join(f'{count:,} {why}' for why, count in one.left_out.items())}")
    yield from (note(f"! {warning}") for warning in one.warnings)


def _raters(kinds: Mapping[str, str]) -> str:
    count = {kind: [rater for rater, of in kinds.items() if of == kind] for kind in dict.fromkeys(kinds.values())}
    parts = [
        f"{len(names)} {kind}{'' if len(names) == 1 else 's'} "
        f"({', '.join(names[:NAMED])}{' …' if len(names) > NAMED else ''})"
        for kind, names in count.items()
    ]
    return "raters: " + ", ".join(parts)


def _coefficients(found: Sequence[Coefficient]) -> Table:
    reasons: dict[str, list[str]] = {}
    for one in found:
        reasons.setdefault(one.figure.reason, []).append(one.name)
    return Table(
        name="coefficients",
        title="",
        columns=(
            *columns_of("name", "coefficient"),
            Column(key="value", priority=0, digits=DIGITS),
            *columns_of("figure", "items"),
            Column(key="raters", kind="figure", priority=2),
        ),
        rows=tuple(
            (Value(text=one.name), or_dash(one.figure, "share"), counted(one.items), counted(one.raters))
            for one in found
        ),
        notes=tuple(
            f"! {'all of these' if len(names) == len(found) else ', '.join(names)}: {reason}"
            for reason, names in reasons.items()
            if reason
        ),
    )


def _batches(batches: Sequence[BatchAgreement]) -> Table:
    first, *others = names = [c.name for c in batches[0].coefficients]
    priority = {name: 1 if name in (first, others[-1] if others else first) else 2 for name in names}
    return Table(
        name="batches",
        title="by batch, in the order of the labels",
        columns=(
            *columns_of("name", "batch"),
            *columns_of("figure", "items"),
            *(
                Column(key=name, title=SHORT.get(name, name), kind="figure", priority=priority[name], digits=DIGITS)
                for name in names
            ),
        ),
        rows=tuple(
            (Value(text=one.batch), counted(one.items), *(or_dash(_known(one).get(name), "share") for name in names))
            for one in batches
        ),
    )


def _matrix(one: DimensionAgreement) -> Table:
    """Chance-corrected agreement above the diagonal, plain agreement below."""
    raters, mixed = list(one.kinds), len(set(one.kinds.values())) > 1
    names = [c.name for c in one.pairs[0].coefficients]
    corrected = next((name for name in CORRECTED if name in names), names[-1])
    plainly = next((name for name in names if name.startswith("within")), names[0])
    by_pair = {frozenset((pair.first, pair.second)): _known(pair) for pair in one.pairs}

    def cell(row: int, column: int) -> Value:
        name = corrected if column > row else plainly
        known = by_pair.get(frozenset((raters[row], raters[column])), {})
        return Value(text="·") if row == column else or_dash(known.get(name), "share")

    places = range(len(raters))
    marks = [" *" * (mixed and one.kinds[rater] == "model") for rater in raters]
    rows = [
        (Value(text=f"{row + 1} {raters[row]}{marks[row]}"), *(cell(row, column) for column in places))
        for row in places
    ]
    return Table(
        name="matrix",
        title=f"pairs of raters: {corrected} above the diagonal, {plainly} below",
        columns=(*columns_of("name", "rater"), *columns_of("figure", *(f"{at + 1}" for at in places))),
        rows=tuple(rows),
        notes=(f"{'* a model. ' if mixed else ''}–: no common items, or undefined; --json has n and intervals",),
    )


def _known(measured: PairAgreement | BatchAgreement) -> dict[str, Value]:
    return {c.name: c.figure for c in measured.coefficients}


def _claims(groups: Sequence[ClaimShares]) -> Table:
    """The shares of the claims with each value; one group a language, and all."""
    whole = groups[-1]
    left = f"labels left out: {', '.join(f'{n:,} {word}' for word, n in whole.left_out.items())}"
    split = f"on {whole.split:,} claims raters differ: what most said counts, of a tie the first label"
    return Table(
        name="claims",
        title=f"claims, {whole.dimension}: {whole.claims:,} of {whole.changes:,} changes",
        columns=(
            *columns_of("name", "language", "said of claims"),
            *columns_of("figure", "claims", "of"),
            Column(key="share", priority=0, digits=DIGITS),
        ),
        rows=tuple(
            (
                Value(text=(group.language or "all") if at == 0 else ""),
                Value(text=one.value),
                counted(one.claims),
                counted(group.claims),
                or_dash(one.share, "share"),
            )
            for group in groups
            for at, one in enumerate(group.shares)
        ),
        notes=tuple(line for line, is_so in ((left, whole.left_out), (split, whole.split)) if is_so),
    )
