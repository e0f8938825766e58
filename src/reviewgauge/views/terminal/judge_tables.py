"""The check of a judge as sections of text, which the terminal and the page share. `--json` has every figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.console import Group, RenderableType
from rich.text import Text

from reviewgauge.core.reports.judge_check import Injection, JudgeAgreement, JudgeCost, JudgeReport, ProbeRow
from reviewgauge.core.reports.validity import Figure
from reviewgauge.views import figures
from reviewgauge.views.terminal.tables import Fitted, bare_table, notes_below, number_column, plain

SHORT_DIRECTIONS = {"up": "yes / best", "down": "no / worst"}


class Section(NamedTuple):
    """One table: title, column heads (the first column is text), rows, and notes."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def shown(figure: Figure | None, digits: int = 2) -> str:
    """`.82 [.77, .87]`, a dash if undefined."""
    if figure is None:
        return figures.UNDEFINED
    bounds = figures.interval(figure.low, figure.high, digits=digits)
    return f"{figures.number(figure.value, digits=digits)} {bounds}".rstrip()


def headline(report: JudgeReport) -> str:
    """The judge, its test set, and whether its model is fake."""
    fake = " (fake)" if report.fake else ""
    return f"{report.judge}{fake} on {report.on}"


def sections(report: JudgeReport) -> Iterator[Section]:
    """The sections of the requested parts."""
    if report.agreement:
        yield _agreement(report, report.agreement)
    if report.drift is not None:
        yield _agreement(report, (report.drift,), "drift: the judge now and then")
    if report.repeats is not None:
        yield _repeats(report)
    probes = [*report.order, *(report.length.padding if report.length else ()), *report.rewording, *report.irrelevant]
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


def gate_line(report: JudgeReport) -> str:
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


def footnotes(report: JudgeReport) -> list[str]:
    """Settings and warnings; warnings begin with `!`."""
    how = f"95% intervals from {report.resamples:,} resamples of whole changes, seed {report.seed}; –: undefined"
    lines = [how] if report.spent.questions else []
    if report.left_out:
        lines.append("left out: " + ", ".join(f"{n:,} {why}" for why, n in report.left_out.items()))
    if report.estimate_note:
        lines.append(f"! {report.estimate_note}")
    if report.fake:
        lines.append("! a fake model answered: these figures do not apply to a real one")
    if report.stopped:
        lines.append(f"! the check was stopped early: {report.stopped}")
    return [*lines, *(f"! {warning}" for warning in report.warnings), report.signature]


def _agreement(report: JudgeReport, rows: Sequence[JudgeAgreement], title: str = "agreement") -> Section:
    head: tuple[str, ...] = ("rater", "rows", "Spearman", "within systems", "QWK", "AUC > lowest")
    if report.kind == "pairs":
        head = ("rater", "rows", "kappa", "AUC", "F1", "yes", "judge's yes")
    cells = []
    for row in rows:
        measured: list[Figure | None] = [row.spearman, row.spearman_within, row.kappa, row.auc]
        rates: list[Figure | None] = []
        if report.kind == "pairs":
            measured, rates = [row.kappa, row.auc, row.f1], [row.base_rate, row.judge_rate]
        shares = (figures.number(rate.value if rate else None) for rate in rates)
        cells.append((row.rater, f"{row.rows:,}", *(shown(f, 3) for f in measured), *shares))
    notes = [f"{row.rater}: {why}" for row in rows if (why := row.kappa.reason)]
    notes += [words for row in rows if (words := _unasked(row))]
    left = [
        f"{row.rater}: left out {', '.join(f'{n:,} {why}' for why, n in row.left_out.items())}"
        for row in rows
        if row.left_out
    ]
    return Section(f"{title} ({rows[0].clusters} clusters)", head, tuple(cells), tuple(dict.fromkeys([*notes, *left])))


def _unasked(row: JudgeAgreement) -> str:
    """The kappa without the rows on which nothing is asked; empty without such rows."""
    if not row.unasked:
        return ""
    asked = f"on the other {row.rows - row.unasked:,} kappa is {shown(row.kappa_asked, 3)}"
    return f"{row.rater}: {row.unasked:,} rows have a review without comments, so nothing is asked; {asked}"


def _repeats(report: JudgeReport) -> Section:
    found = report.repeats
    assert found is not None
    again = "" if found.models else "no model is asked, so more than 0 flips are a defect"
    agreed = "kappa between repeats" if report.kind == "pairs" else "alpha between repeats"
    row = (f"{found.repeats} times", str(found.flips.n), shown(found.flips), shown(found.kappa), shown(found.spread, 3))
    return Section("the same question again", ("asked", "n", "flips", agreed, "SD"), (row,), (again,) if again else ())


def _probes(report: JudgeReport, probes: Sequence[ProbeRow]) -> Section:
    rows, notes = [], []
    for probe in probes:
        shift = figures.signed(probe.shift.value) if probe.shift is not None else figures.UNDEFINED
        towards = (figures.number(probe.up), figures.number(probe.down))
        failed = f"{probe.failed}!" if probe.failed else ""
        rows.append((f"{probe.group}: {probe.name}", str(probe.flips.n), shown(probe.flips), *towards, shift, failed))
        if probe.reason:
            notes.append(f"{probe.name}: {probe.reason}")
    head = ("edit that should change nothing", "n", "flips", "up", "down", "shift", "failed")
    lines = (f"{report.probed} questions; a flip: {report.flip_is}; up: towards yes or a better grade", *notes)
    return Section("sensitivity", head, tuple(rows), lines)


def _biases(report: JudgeReport) -> Section:
    rows: list[tuple[str, ...]] = []
    notes: list[str] = []
    if report.length is not None:
        rho = report.length.correlation
        rows.append(("rho of its error with the length", shown(rho), str(rho.n)))
    found = report.self_preference
    if found is not None and found.reason:
        notes.append(f"self-preference: {found.reason}")
    elif found is not None:
        errors = {
            f"its own family ({', '.join(found.families)})": found.own,
            "other families": found.others,
            "own less others": found.difference,
        }
        rows += [(f"error on {what}", shown(f), str(f.n)) for what, f in errors.items() if f is not None]
    return Section("bias (above 0: too kind)", ("bias", "value", "n"), tuple(rows), tuple(notes))


def _injection(found: Injection) -> Section:
    rows = []
    for row in (*found.rows, *found.total):
        bounds = figures.interval(row.low, row.high)
        name = "all techniques" if row.technique == "all" else row.technique
        failed = f"{row.failed}!" if row.failed else ""
        share = f"{figures.number(row.share)} {bounds}".rstrip()
        rows.append((name, SHORT_DIRECTIONS[row.direction], f"{row.flipped}/{row.tried}", share, failed))
    padded = (("up", found.padding_up), ("down", found.padding_down))
    shares = [f"{figures.number(v)} {SHORT_DIRECTIONS[way]}" for way, v in padded if v is not None]
    notes = [f"neutral padding alone turns {' and '.join(shares)}: the rest is obedience"] if shares else []
    head = ("technique", "told to say", "obeyed", "share, Wilson's 95%", "failed")
    return Section(
        f"prompt injection, {found.attacks} attacks", head, tuple(rows), (*notes, *filter(None, [found.reason]))
    )


def _corrected(report: JudgeReport) -> Section:
    rows, notes = [], []
    for row in report.corrected:
        checked = f"{row.checked}/{row.reviews}" + (f" {row.failed}!" if row.failed else "")
        estimates = (figures.number(row.raw), shown(row.people), shown(row.corrected), figures.number(row.trust))
        rows.append((f"{row.system}: {row.measure}", checked, *estimates))
        if row.failed:
            notes.append(f"{row.system}: {row.failed} reviews without an answer of the judge are left out")
        if row.corrected.reason:
            notes.append(f"{row.system}: {row.corrected.reason}")
    head = ("score", "checked", "raw", "people alone", "corrected", "trust")
    how = "corrected: prediction-powered (PPI++); trust: the weight of the judge, 0 to 1"
    return Section("scores corrected for the judge's errors", head, tuple(rows), (how, *dict.fromkeys(notes)))


def _spent(spent: JudgeCost) -> Section:
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
    return Section("cost", ("", "all", "a decision"), rows)


def _each(value: float | None) -> str:
    return figures.UNDEFINED if value is None else f"{value:.2f}"


FIRST = 12  # least width of the first column in characters
MAIN, MAIN_FIRST = ("kappa", "corrected"), 2  # columns to keep on narrow screens: these, and the first ones


def judge_report(report: JudgeReport) -> RenderableType:
    """Every section, the gate and the footnotes."""
    parts: list[RenderableType] = [plain(headline(report), 500, "bold"), Text("")]
    for section in sections(report):
        parts += [_table(section), Text("")]
    if line := gate_line(report):
        parts += [plain(line, 500, "bold"), Text("")]
    return Group(*parts, notes_below(*footnotes(report)))


def _table(section: Section) -> RenderableType:
    def build(width: int) -> RenderableType:
        keep = _kept(section, width)
        table = bare_table(section.title)
        table.add_column(Text(section.head[0]), overflow="fold", min_width=FIRST)
        for at in keep:
            number_column(table, section.head[at])
        for row in section.rows:
            table.add_row(plain(row[0], 200), *(Text(row[at]) for at in keep))
        return Group(*([table] if section.rows else [plain(section.title, 200, "bold")]), notes_below(*section.notes))

    return Fitted(build)


def _kept(section: Section, width: int) -> list[int]:
    """The columns that fit beside the first one: main ones before others, left before right; figures are never cut."""
    order = sorted(range(1, len(section.head)), key=lambda at: (section.head[at] not in MAIN and at > MAIN_FIRST, at))
    room = width - FIRST
    kept = []
    for at in order:
        room -= 1 + max(len(cell) for cell in (section.head[at], *(row[at] for row in section.rows)))
        if room < 0:
            break
        kept.append(at)
    return sorted(kept)
