"""Leaderboards and slices as documents, and the answer that they give in one or two sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType

from reviewgauge.core.document import Column, Document, Plot, Table, Text, Value, columns_of
from reviewgauge.core.errors import one_line
from reviewgauge.core.reports.leaderboard import Comparison, ComparisonTable, Leaderboard, SliceSummary, SystemSummary
from reviewgauge.views import figures
from reviewgauge.views.comparisons import found, p_of
from reviewgauge.views.values import counted, note, or_dash

SHORT = {
    "comments_per_change": "c/chg",
    "clean_left_alone": "clean",
    "line_recall": "on line",
    "noise": "FDR",
    "augmented_precision": "aug. P",
    "augmented_recall": "aug. R",
    "alarms_per_change": "alarms/chg",
}
NAMED = 4  # systems: more are counted, not named
BASELINES = "baselines:"
_SAID = (
    ("comments",),
    ("predicted",),
    ("alarms", "found", "safe_alarms", "line_alarms", "line_found"),
)  # parts: counts


# --- leaderboard ---------------------------------------------------------------------------------------------------


def leaderboard_table(
    board: Leaderboard,
    systems: Sequence[SystemSummary] | None = None,
    title: str = "",
    prices: Mapping[str, float | None] = MappingProxyType({}),
) -> Table:
    """Every system with its measures and its coverage, headline first, baselines last.

    `prices`: dollars a review by system, shown where one is known.
    """
    ranked = sorted(board.systems if systems is None else systems, key=lambda system: system.baseline)
    known = figures.measures(board)
    main = known[:3] if {"precision", "recall"} & set(known) else [board.headline]
    extras = [r for r in figures.EXPLAINED if r in known] or [r for r in known if r not in main][:4]
    extras = [r for r in extras if r not in main and any(figures.defined(figures.estimate(s, r).value) for s in ranked)]
    columns = [Column(key="system", kind="name", priority=0)]
    columns += [_column(r, priority=0 if r == board.headline else 1) for r in main]
    range_of = {figures.RANGE: {"key": "f1_range", "kind": "range"}}
    columns += [_column(r, **{"kind": "figure", "priority": 2, **range_of.get(r, {})}) for r in extras]
    columns.append(Column(key="scored", kind="of"))
    columns += [Column(key="failed", kind="figure")] if any(s.failed for s in ranked) else []
    rows = [[_cell(system, column) for column in columns] for system in ranked]
    if any(price is not None for price in prices.values()):
        columns.append(Column(key="$/review", kind="figure", priority=3, help="mean dollars of a review, as recorded"))
        for system, row in zip(ranked, rows, strict=True):
            row.append(or_dash(prices.get(system.system), "dollars", reason="not recorded", fake=system.fake))
    first = next((at for at, system in enumerate(ranked) if system.baseline), 0)
    return Table(
        name="leaderboard",
        title=title,
        columns=tuple(columns),
        rows=tuple(map(tuple, rows)),
        sections={first: BASELINES} if first else {},
        shown=1_000_000,
        plot=Plot(kind="forest", columns=(1,)),
    )


def _column(measure: str, **more: object) -> Column:
    words = {"title": figures.column(measure), "help": figures.EXPLAINED.get(measure, "")}
    return Column.model_validate({"key": measure, "short": SHORT.get(measure, ""), **words, **more})


def _cell(system: SystemSummary, column: Column) -> Value:
    fake = system.fake
    if column.key == "system":
        return Value(text=system.system, fake=fake)
    if column.key == "scored":
        return Value(value=float(system.scored), n=system.cases, unit="count", fake=fake)
    if column.key == "failed":
        return Value(value=float(system.failed), unit="count", fake=fake)
    if column.kind == "range":
        least, most = (figures.estimate(system, f"f1_{end}") for end in ("least", "most"))
        if not (figures.defined(least.value) and figures.defined(most.value)):
            return Value(text=figures.UNDEFINED, fake=fake)
        return Value(low=least.value, high=most.value, n=least.n, unit=least.unit, fake=fake)
    return or_dash(system.estimate(column.key), fake=fake)


def leaderboard_document(
    board: Leaderboard, comparisons: ComparisonTable | None = None, explain: bool | None = False
) -> Document:
    """The leaderboard, the answer that it gives, and the most serious caveat.

    `explain` adds the settings and every caveat; None leaves the caveat out, too, and the slices.
    """
    if not board.systems:
        return Document(blocks=(Text(text="no system was scored"),))
    first, *more = [*caveats(board), ""]
    if explain:
        lines = [*_explained(board), first, *more]
    else:
        lines = [f"{first} (and {len(more) - 1} more: --explain)" if len(more) > 1 else first]
    said = Text(text=answer(board, comparisons), kind="strong")
    if explain is None:
        return Document(blocks=(leaderboard_table(board), said))
    below = [note(line) for line in lines if line]
    return Document(blocks=(leaderboard_table(board), said, *below, *slice_tables(board)))


def _explained(board: Leaderboard) -> list[str]:
    """The settings behind the figures."""
    changes = f"{figures.scored_of(board)} changes, {board.clusters} clusters by {board.clustered_by}"
    resampled = f"{figures.percent(board.level)} intervals from {board.resamples:,} resamples, seed {board.seed}"
    lines = [
        f"n = {changes}; {resampled}; –: undefined",
        f"{board.label or board.metric} on {board.dataset}, benchmark {figures.short_hash(board.benchmark)}; "
        f"all systems were scored on {board.common} changes",
    ]
    return lines + [f"{one_line(s.system, 60)}: {text}" for s in board.systems if (text := figures.spread_words(s))]


def caveats(board: Leaderboard) -> list[str]:
    """What limits the figures, the most serious first."""
    lines = []
    failing: dict[str, list[str]] = {}
    for s in board.systems:
        if s.failed or s.missing or s.not_applicable:
            failing.setdefault(_kinds(s, board.headline), []).append(s.system)
    if failing:
        names = {k: ", ".join(own) if len(own) <= NAMED else f"{len(own)} systems" for k, own in failing.items()}
        text = "; ".join(f"{systems}: {kinds}" for kinds, systems in names.items())
        lines.append(f"! not scored (never counted as 0): {text}")
    lines += [f"! {warning}" for warning in (*board.warnings, board.estimate_note) if warning]
    if not any(s.failed or s.missing for s in board.systems):  # where a metric does not apply nothing is lost
        lines = lines[len(failing) > 0 :] + lines[: len(failing) > 0]
    return lines + [f"! {count} reviews break an identity: {words}" for words, count in board.broken.items()]


def _kinds(system: SystemSummary, measure: str) -> str:
    kinds = ", ".join(f"{kind} {count}" for kind, count in system.failures.items())
    counts = {
        "failed" + (f" ({kinds})" if kinds else ""): system.failed,
        "not applicable": system.not_applicable,
        "missing": system.missing,
    }
    parts = [f"{n} {what}" for what, n in counts.items() if n]
    e = figures.estimate(system, measure)
    if system.failed and figures.defined(e.worst) and figures.defined(e.best):  # missing cases have no bounds
        bounds = f"{figures.number(e.worst, e.unit)} to {figures.number(e.best, e.unit)}"
        parts.append(f"{figures.label(measure)} {bounds} with the failed as worst and best")
    return ", ".join(parts)


# --- slices and coverage -------------------------------------------------------------------------------------------


def slice_tables(board: Leaderboard) -> list[Table]:
    """The headline of every system on every slice, one table a fact; n stands beside each name."""
    return [
        slice_table(board, fact, measure, values)
        for fact, group in groupby(board.slices, key=lambda s: s.fact)
        for values in [list(group)]
        for measure in figures.slice_measures(board, values)
    ]


def slice_table(board: Leaderboard, fact: str, measure: str, values: Sequence[SliceSummary]) -> Table:
    """One measure of every system on the slices of one fact."""
    kind = "changes that have any" if any(value.facet for value in values) else "changes"
    found = [{system.system: system for system in value.systems} for value in values]
    columns = [Column(key=value.value, title=f"{one_line(value.value, 40)} (n={value.n})") for value in values]
    return Table(
        name=f"{measure} by {fact}",
        title=f"{figures.label(measure)} by {figures.label(fact)} (n counts {kind})",
        columns=(Column(key="system", kind="name", priority=0), *columns),
        rows=tuple(
            (Value(text=s.system, fake=s.fake), *(_on_slice(own.get(s.system), measure) for own in found))
            for s in board.systems
        ),
    )


def _on_slice(system: SystemSummary | None, measure: str) -> Value:
    return or_dash(system.estimate(measure) if system else None, fake=bool(system and system.fake))


def coverage_table(board: Leaderboard) -> Table:
    """How many changes were scored for every system, what became of the others, and what that does to the headline."""
    counts = ("changes", "scored", "failed", "not applicable", "missing", "attempts")
    rows = []
    for s in board.systems:
        e = figures.estimate(s, board.headline)
        numbers = (s.cases, s.scored, s.failed, s.not_applicable, s.missing, s.attempts)
        bounds = Value(low=e.worst, high=e.best, unit=e.unit) if s.failed and e.worst is not None else Value(text="–")
        kinds = Value(text=", ".join(f"{kind} {count}" for kind, count in s.failures.items()))
        rows.append((Value(text=s.system, fake=s.fake), *map(counted, numbers), kinds, bounds))
    return Table(
        name="coverage",
        title=f"Scored changes of {board.dataset}; {board.common} were scored for every system",
        columns=(
            *columns_of("name", "system"),
            *columns_of("figure", *counts),
            *columns_of("text", "failures"),
            Column(key=f"{figures.label(board.headline)}, worst to best", kind="range"),
        ),
        rows=tuple(rows),
        shown=1_000_000,
    )


def measures_table(board: Leaderboard) -> Table:
    """Every measure of every system, one row a measure."""
    known = figures.measures(board)
    return Table(
        name="measures",
        title="Every measure of every system",
        columns=(Column(key="measure", kind="name", priority=0), *(Column(key=s.system) for s in board.systems)),
        rows=tuple(
            (Value(text=figures.label(r)), *(or_dash(s.estimate(r), fake=s.fake) for s in board.systems)) for r in known
        ),
        notes=("least and most: if all that is unsure is wrong, and if it is right",) * ("f1_least" in known),
        shown=1_000_000,
    )


# --- the answer ----------------------------------------------------------------------------------------------------


def answer(board: Leaderboard, table: ComparisonTable | None = None) -> str:
    """The result in words: who leads, by how much, and which systems cannot be separated."""
    name = figures.label(board.headline)
    ranked = [s for s in board.systems if figures.defined(figures.estimate(s, board.headline).value)]
    if not board.systems:
        return "No system was scored."
    if not ranked:
        return f"{name} is undefined for every system on these changes."
    ranked = contenders(ranked) or ranked
    silent = [s for s in board.systems if not s.baseline and _said_nothing(s)]
    nothing = [f"{joined(silent, 'and')} said nothing that counts"] if silent else []
    return "; ".join([*_standing(board, table, ranked), *_never_quiet(ranked), *nothing]) + "."


def contenders(systems: Sequence[SystemSummary]) -> list[SystemSummary]:
    """Those that can be praised: no baselines, and none that said nothing on any change unless all did."""
    rivals = [s for s in systems if not s.baseline]
    return [s for s in rivals if not _said_nothing(s)] or rivals


def _said_nothing(system: SystemSummary) -> bool:
    counts = next((names for names in _SAID if names[0] in system.parts), ())
    return bool(counts) and not any(system.parts.get(name) for name in counts)


def _standing(board: Leaderboard, table: ComparisonTable | None, ranked: Sequence[SystemSummary]) -> list[str]:
    """Who leads, and who cannot be told from whom."""
    lead = ranked[0]
    if len(ranked) == 1 or lead.baseline:
        return [_scored(one, board.headline) for one in ranked[:NAMED]]
    tested = [(other, _difference(table, board.headline, lead.system, other.system)) for other in ranked[1:]]
    known = [(other, c) for other, c in tested if c is not None and p_of(c) is not None]
    if not known:
        second = figures.estimate(ranked[1], board.headline)
        value = figures.number(second.value, second.unit)
        return [_scored(lead, board.headline), f"{text_name(ranked[1])} comes next with {value}, which was not tested"]
    beaten = [(other, c) for other, c in known if found(c)]
    tied = [other for other, c in known if not found(c)]
    sentences = []
    if beaten and beaten[0][0] is ranked[1]:
        sentences.append(_leads(lead, *beaten[0]))
        if tied:
            sentences += _cannot_tell(known, [lead, *tied], board.headline)
    else:
        top, name = figures.estimate(lead, board.headline), figures.label(board.headline)
        level = [s for s in ranked if figures.estimate(s, board.headline).value == top.value]
        if len(level) > 1:
            sentences.append(f"{joined(level, 'and')} score the same, {figures.number(top.value, top.unit)} {name}")
        else:
            sentences.append(f"{_scored(lead, board.headline)} and comes first")
        if tied := [other for other in tied if other not in level]:
            sentences += _cannot_tell(known, [lead, *tied], board.headline)
        if beaten:
            sentences.append(_leads(lead, *beaten[0]))
    return sentences


def _never_quiet(ranked: Sequence[SystemSummary]) -> list[str]:
    """Who comments on every clean change."""
    noisy = [s for s in ranked if s.parts.get("clean") and not s.parts.get("clean_quiet")]
    verb = "leaves" if len(noisy) == 1 else "leave"
    return [f"{joined(noisy, 'and')} {verb} no clean change alone"] if noisy else []


def text_name(system: SystemSummary) -> str:
    """The name of a system in a sentence."""
    return f"{system.system} (fake)" if system.fake else system.system


def _scored(system: SystemSummary, measure: str) -> str:
    e = figures.estimate(system, measure)
    figure = f"{figures.number(e.value, e.unit)} {figures.label(measure)} {figures.interval(e.low, e.high, e.unit)}"
    return f"{text_name(system)} scores {figure.rstrip()} on {figures.counted(e.n, 'change')}"


def joined(systems: Sequence[SystemSummary], word: str) -> str:
    """`A, B and C`; of many the first few and a count."""
    names = [text_name(s) for s in systems]
    if len(names) > NAMED:
        names = [*names[: NAMED - 1], f"{len(names) - NAMED + 1} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def _leads(lead: SystemSummary, other: SystemSummary, c: Comparison) -> str:
    size = figures.number(None if c.difference is None else abs(c.difference), c.unit)
    low, high = c.low, c.high
    if c.difference is not None and c.difference < 0 and low is not None and high is not None:
        low, high = -high, -low
    figure = f"{size} {figures.label(c.measure)} {figures.interval(low, high, c.unit)}".rstrip()
    holm = " (Holm)" if c.p_holm is not None and c.p_holm != c.p else ""
    return f"{text_name(lead)} leads {text_name(other)} by {figure}, {figures.p_clause(p_of(c))}{holm}"


def _cannot_tell(
    known: Sequence[tuple[SystemSummary, Comparison]], systems: Sequence[SystemSummary], measure: str
) -> Iterator[str]:
    """Who cannot be told from whom; and whether any system reaches the smallest difference that would show."""
    changes = figures.counted(known[0][1].n, "change")
    yield f"{changes} cannot tell {text_name(systems[0])} from {joined(systems[1:], 'or')}"
    best, gaps = figures.estimate(systems[0], measure), [c.detectable for s, c in known if s in systems]
    needed = min((gap for gap in gaps if gap is not None), default=0.0)
    if best.unit == "share" and needed > (best.value or 0.0):
        short = f"{figures.number(needed)} {figures.label(measure)} is the least that would show"
        yield f"{short}, and no system has more than {figures.number(best.value)}: this benchmark cannot decide"


def _difference(table: ComparisonTable | None, measure: str, first: str, second: str) -> Comparison | None:
    comparisons = [c for c in table.comparisons if c.measure == measure] if table else []
    return next((c for c in comparisons if {c.first, c.second} == {first, second}), None)
