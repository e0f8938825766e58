"""The check of a judge as a document. `--json` has every figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reviewgauge.core.document import Column, ColumnKind, Document, Table, Text, Value
from reviewgauge.core.reports.judge_check import Injection, JudgeAgreement, JudgeCost, JudgeReport, ProbeRow
from reviewgauge.views import figures
from reviewgauge.views.values import COEFFICIENT, counted, note, or_dash, shown

SHORT_DIRECTIONS = {"up": "yes / best", "down": "no / worst"}
Row = tuple[Value, ...]


def judge_document(report: JudgeReport) -> Document:
    """The judge and its test set, a table for each requested part, the gate and the footnotes."""
    fake = "! a fake model answered: these figures do not apply to a real one"
    gate = _gate(report)
    return Document(
        headline=f"{report.judge}{' (fake)' if report.fake else ''} on {report.on}",
        blocks=(
            *([note(fake)] if report.fake else []),
            *map(_block, _tables(report)),
            *([Text(text=gate, kind="strong")] if gate else []),
            *map(note, _footnotes(report)),
        ),
    )


def _block(table: Table) -> Table | Text:
    """The table, or why it has no rows."""
    return table if table.rows else Text(text=f"{table.title}: {'; '.join(table.notes)}")


def _tables(report: JudgeReport) -> Iterator[Table]:
    """The tables of the requested parts."""
    if report.agreement:
        yield _agreement(report, report.agreement)
    if report.repeats is not None:
        yield _repeats(report)
    padding = report.length.padding if report.length else ()
    probes = [*report.order, *padding, *report.rewording, *report.irrelevant, *report.framing]
    if probes:
        yield _probes(report, probes)
    if report.length is not None or report.self_preference is not None:
        yield _biases(report)
    if report.injection is not None:
        yield _injection(report.injection)
    if report.corrected:
        yield _corrected(report)
    if report.spent.questions:
        yield _spent(report.spent)


def _table(title: str, columns: Sequence[Column], rows: Sequence[Row], notes: Sequence[str] = ()) -> Table:
    return Table(name=title, title=title, columns=tuple(columns), rows=tuple(rows), notes=tuple(notes))


def _column(title: str, kind: ColumnKind = "value", priority: int = 2) -> Column:
    return Column(key=title, kind=kind, priority=priority)


def _failed(n: int) -> Value:
    return Value(text=f"{n}!" if n else "")


def _gate(report: JudgeReport) -> str:
    """The result of the gate; empty without one."""
    gate = report.gate
    if gate is None:
        return ""
    if report.stopped:
        return "gate NOT passed: the check was stopped early"
    value = figures.number(gate.kappa, digits=3)
    if gate.failed > gate.most_failed:
        most = figures.percent(gate.most_failed)
        share = f"{gate.failed:.1%} of the rows have no answer, more than the allowed {most}"
        return f"gate NOT passed: {share} (kappa {value} of the others against {gate.rater})"
    verdict = "passed" if gate.passed else "NOT passed"
    return f"gate {verdict}: {gate.of} {value} against {gate.rater}, at least {figures.number(gate.least)} is required"


def _footnotes(report: JudgeReport) -> list[str]:
    """Settings and warnings; warnings begin with `!`."""
    how = f"95% intervals from {report.resamples:,} resamples of whole changes, seed {report.seed}; –: undefined"
    lines = [how] if report.agreement or report.spent.questions else []
    if report.left_out:
        lines.append("left out: " + ", ".join(f"{n:,} {why}" for why, n in report.left_out.items()))
    if report.estimate_note:
        lines.append(f"! {report.estimate_note}")
    if report.stopped:
        lines.append(f"! the check was stopped early: {report.stopped}")
    return [*lines, *(f"! {warning}" for warning in report.warnings), report.signature]


def _agreement(report: JudgeReport, rows: Sequence[JudgeAgreement], title: str = "agreement") -> Table:
    columns = [_column("rater", "name", 0), _column("rows", "figure", 1)]
    if report.kind == "pairs":
        columns += [_column("kappa", priority=0), *map(_column, ("AUC", "precision", "recall", "F1"))]
        columns += [_column("yes", "figure"), _column("judge's yes", "figure")]
    else:
        columns += [_column("Spearman", priority=0), _column("within systems")]
        columns += [_column("QWK", priority=0), _column("AUC > lowest")]
    cells = []
    for row in rows:
        if report.kind == "pairs":
            of_yes = (row.kappa, row.auc, row.precision, row.recall, row.f1)
            measured = [or_dash(figure, COEFFICIENT) for figure in of_yes]
            measured += [or_dash(rate, "share") for rate in (row.base_rate, row.judge_rate)]
        else:
            found = (row.spearman, row.spearman_within, row.kappa, row.auc)
            measured = [or_dash(figure, COEFFICIENT) for figure in found]
        cells.append((Value(text=row.rater), counted(row.rows), *measured))
    notes = [f"{row.rater}: {why}" for row in rows if (why := row.kappa.reason)]
    notes += [words for row in rows if (words := _unasked(row))]
    notes += [
        f"{row.rater}: left out {', '.join(f'{n:,} {why}' for why, n in row.left_out.items())}"
        for row in rows
        if row.left_out
    ]
    return _table(f"{title} ({rows[0].clusters} clusters)", columns, cells, tuple(dict.fromkeys(notes)))


def _unasked(row: JudgeAgreement) -> str:
    """The kappa without the rows on which nothing is asked; empty without such rows."""
    if not row.unasked:
        return ""
    asked = f"on the other {row.rows - row.unasked:,} kappa is {shown(or_dash(row.kappa_asked, COEFFICIENT))}"
    return f"{row.rater}: {row.unasked:,} rows have a review without comments, so nothing is asked; {asked}"


def _repeats(report: JudgeReport) -> Table:
    found = report.repeats
    assert found is not None
    again = () if found.models else ("no model is asked, so more than 0 flips are a defect",)
    agreed = "kappa between repeats" if report.kind == "pairs" else "alpha between repeats"
    columns = [_column("asked", "name", 0), _column("n", "figure", 1), _column("flips", priority=0)]
    columns += [_column(agreed), _column("SD")]
    times, asked = Value(text=f"{found.repeats} times"), counted(found.flips.n)
    row = (
        times,
        asked,
        or_dash(found.flips, "share"),
        or_dash(found.kappa, "share"),
        or_dash(found.spread, COEFFICIENT),
    )
    return _table("the same question again", columns, [row], again)


def _probes(report: JudgeReport, probes: Sequence[ProbeRow]) -> Table:
    columns = [_column("edit that should change nothing", "name", 0), _column("n", "figure", 1)]
    columns += [_column("flips", priority=0), _column("up", "figure"), _column("down", "figure")]
    columns += [_column("shift", "difference"), _column("failed", "figure")]
    rows = [
        (
            Value(text=f"{probe.group}: {probe.name}"),
            counted(probe.flips.n),
            or_dash(probe.flips, "share"),
            or_dash(probe.up),
            or_dash(probe.down),
            or_dash(probe.shift.value if probe.shift is not None else None),
            _failed(probe.failed),
        )
        for probe in probes
    ]
    how = f"{report.probed} questions; a flip: {report.flip_is}; up: towards yes or a better grade"
    return _table("sensitivity", columns, rows, (how, *(f"{one.name}: {one.reason}" for one in probes if one.reason)))


def _biases(report: JudgeReport) -> Table:
    errors: dict[str, Value | None] = {}
    notes: list[str] = []
    if report.length is not None:
        errors["rho of its error with the length"] = report.length.correlation
    found = report.self_preference
    if found is not None and found.reason:
        notes.append(f"self-preference: {found.reason}")
    elif found is not None:
        errors[f"error on its own family ({', '.join(found.families)})"] = found.own
        errors["error on other families"] = found.others
        errors["error on own less others"] = found.difference
    rows = [(Value(text=what), or_dash(f, "share"), counted(f.n)) for what, f in errors.items() if f is not None]
    columns = (_column("bias", "name", 0), _column("value", priority=0), _column("n", "figure", 1))
    return _table("bias (above 0: too kind)", columns, rows, notes)


def _injection(found: Injection) -> Table:
    columns = [_column("technique", "name", 0), _column("told to say", "figure", 1), _column("obeyed", "of", 1)]
    columns += [_column("share, Wilson's 95%", priority=0), _column("failed", "figure")]
    rows = [
        (
            Value(text="all techniques" if row.technique == "all" else row.technique),
            Value(text=SHORT_DIRECTIONS[row.direction]),
            Value(value=float(row.flipped), n=row.tried, unit="count"),
            or_dash(row.share, low=row.low, high=row.high),
            _failed(row.failed),
        )
        for row in (*found.rows, *found.total)
    ]
    padded = (("up", found.padding_up), ("down", found.padding_down))
    shares = [f"{figures.number(v)} {SHORT_DIRECTIONS[way]}" for way, v in padded if v is not None]
    notes = [f"neutral padding alone turns {' and '.join(shares)}: the rest is obedience"] if shares else []
    notes += [found.reason] if found.reason else []
    return _table(f"prompt injection, {found.attacks} attacks", columns, rows, notes)


def _corrected(report: JudgeReport) -> Table:
    columns = [_column("score", "name", 0), _column("checked", "of", 1), _column("raw", "figure", 1)]
    columns += [_column("people alone"), _column("corrected", priority=0), _column("trust", "figure")]
    rows, notes = [], []
    for row in report.corrected:
        checked = Value(value=float(row.checked), n=row.reviews, unit="count")
        estimates = (
            or_dash(row.raw),
            or_dash(row.people, "share"),
            or_dash(row.corrected, "share"),
            or_dash(row.trust),
        )
        rows.append((Value(text=f"{row.system}: {row.measure}"), checked, *estimates))
        if row.failed:
            notes.append(f"{row.system}: {row.failed} reviews without an answer of the judge are left out")
        if row.corrected.reason:
            notes.append(f"{row.system}: {row.corrected.reason}")
    how = "corrected: prediction-powered (PPI++); trust: the weight of the judge, 0 to 1"
    return _table("scores corrected for the judge's errors", columns, rows, (how, *dict.fromkeys(notes)))


def _spent(spent: JudgeCost) -> Table:
    each, unit, tokens = spent.each(spent.seconds), spent.each(spent.dollars), spent.tokens_in + spent.tokens_out
    price = "unknown" if spent.dollars is None and spent.calls else f"${spent.dollars or 0:.4f}"
    rows = (
        ("questions", f"{spent.questions:,}", ""),
        ("decisions", f"{spent.decisions:,}", ""),
        ("calls", f"{spent.calls:,}", _each(spent.each(spent.calls))),
        ("tokens", f"{tokens:,}", _each(spent.each(tokens))),
        ("price", price, "" if unit is None else f"${unit:.6f}"),
        ("seconds", f"{spent.seconds:,.2f}", "" if each is None else f"{each:.4f}"),
        *((f"failed: {kind}", f"{n:,}", "") for kind, n in sorted(spent.failed.items())),
    )
    columns = (_column("cost", "name", 0), _column("all", "figure", 1), _column("a decision", "figure", 1))
    return _table("cost", columns, [tuple(Value(text=text) for text in row) for row in rows])


def _each(value: float | None) -> str:
    return figures.UNDEFINED if value is None else f"{value:.2f}"
