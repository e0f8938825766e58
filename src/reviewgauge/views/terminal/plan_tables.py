"""The terminal tables of `reviewgauge plan`. They fit 100 columns."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from reviewgauge.core.reports.plan import AttemptRow, ChangePlan, PairPlan, Plan, RaterPlan
from reviewgauge.views import figures
from reviewgauge.views.terminal.tables import bare_table, number_column, plain

PAIRS_SHOWN = 12


def plan(found: Plan) -> RenderableType:
    """Every plan, and the notes."""
    parts: list[RenderableType] = []
    for change_plan in found.changes:
        parts += [_change_plan(change_plan), Text("")]
    for rater_plan in found.raters:
        parts += [_rater_plan(rater_plan), Text("")]
    parts += [plain(note, 1000, "yellow") for note in found.notes]
    return Group(*parts)


def _table(first: str, *numbers: str) -> Table:
    table = bare_table()
    table.add_column(Text(first), overflow="fold", max_width=40)
    for name in numbers:
        number_column(table, name)
    return table


def name_of(pair: PairPlan) -> str:
    """The name of the pair."""
    return f"{pair.first} - {pair.second}"


# --- changes and attempts ------------------------------------------------------------------------------------------


def _change_plan(found: ChangePlan) -> RenderableType:
    wanted = f"{found.detect:g}".removeprefix("0" if found.unit == "share" else "")
    title = (
        f"{figures.label(found.measure)} ({found.label}) on {found.dataset}: to detect a difference of {wanted} "
        f"with {figures.percent(found.power)} power at the 5% level"
    )
    parts: list[RenderableType] = [plain(title, 500, "bold"), Text("")]
    shown = found.pairs[found.typical] if found.typical is not None else None
    if len(found.pairs) > 1:
        parts += [_pairs(found), Text("")]
    if shown is not None:
        parts += [_study(shown, found.unit), Text(""), plain(_answer(found, shown, wanted), 1000, "bold")]
    else:
        parts += [plain(f"{name_of(pair)}: {pair.reason}", 500, "yellow") for pair in found.pairs]
    return Group(*parts, *_notes(found, shown))


def _pairs(found: ChangePlan) -> RenderableType:
    table = _table("first - second", "diff", "between", "within", "at hand", "finds now", "changes")
    for pair in found.pairs[:PAIRS_SHOWN]:
        row = pair.rows[0] if pair.rows else AttemptRow(attempts=1, changes=None)
        table.add_row(
            plain(name_of(pair), 200),
            figures.signed(pair.difference, found.unit),
            figures.number(pair.between if pair.rows else None, found.unit),
            _within(pair, found.unit),
            str(pair.changes),
            figures.number(row.detectable, found.unit),
            figures.count(row.changes),
        )
    left = len(found.pairs) - PAIRS_SHOWN
    more = [plain(f"{left} more pairs; --json has all", style="dim")] if left > 0 else []
    note = "standard deviations between changes and within one (one attempt around the mean); changes at 1 attempt"
    return Group(table, *more, plain(note, style="dim"))


def _within(pair: PairPlan, unit: str) -> str:
    parts = [pair.within_first, pair.within_second]
    if not pair.rows or parts == [None, None]:
        return figures.UNDEFINED
    words = [figures.number(part, unit) for part in parts]
    return words[0] if words[0] == words[1] else "/".join(words)


def _study(pair: PairPlan, unit: str) -> Group:
    priced = any(row.dollars is not None for row in pair.rows)
    by_repository = any(row.repositories is not None for row in pair.rows)
    columns = ["attempts at each change", "changes", *["repositories"] * by_repository]
    table = _table(*columns, "reviews", f"{pair.changes} at hand find", *["price"] * priced)
    for row in pair.rows:
        cells = [str(row.attempts), figures.count(row.changes)]
        cells += [figures.count(row.repositories)] * by_repository
        cells += [figures.count(row.judgements), figures.number(row.detectable, unit)]
        table.add_row(*cells, *[figures.dollars(row.dollars)] * priced)
    return Group(plain(name_of(pair), 300, "underline"), table)


def _answer(found: ChangePlan, pair: PairPlan, wanted: str) -> str:
    row = pair.rows[0]
    middle = ", the pair in the middle" if len(found.pairs) > 1 else ""
    often = "one attempt" if row.attempts == 1 else f"{row.attempts} attempts"
    what = figures.label(found.measure)
    if row.changes is None:
        return f"No feasible study detects a difference of {wanted} {what} between {pair.first} and {pair.second}."
    text = (
        f"With {often} at each change, {row.changes:,} changes are needed to detect a difference of {wanted} "
        f"in {what} between {pair.first} and {pair.second}{middle}."
    )
    return text + " " + _at_hand(pair, found.detect)


def _at_hand(pair: PairPlan, detect: float) -> str:
    enough = (row.attempts for row in pair.rows if row.detectable is not None and row.detectable <= detect)
    attempts = next(enough, None)
    if attempts is None:
        also = ", also with more attempts" if pair.within_first or pair.within_second else ""
        return f"The {pair.changes} at hand are too few{also}."
    often = "" if attempts == 1 else f" with {attempts} attempts at each"
    return f"The {pair.changes} at hand are enough{often}."


def _notes(found: ChangePlan, shown: PairPlan | None) -> list[RenderableType]:
    pairs = [shown] if shown else list(found.pairs)
    lines = [f"! {found.estimate_note}" if found.estimate_note else ""]
    lines += [f"! {text}" for pair in pairs for text in pair.warnings]
    lines += [f"! {name_of(pair)}: {pair.reason}" for pair in found.pairs if pair.reason and shown is not None]
    lines += [f"! {text}" for text in found.warnings]
    rest = (
        f"{found.label or found.metric}, benchmark {figures.short_hash(found.benchmark)}; clustered by "
        f"{found.clustered_by}"
    )
    shown_lines = [rest, *(line for line in dict.fromkeys(lines) if line)]
    return [Text(""), *(plain(line, 1000, "yellow" if line.startswith("!") else "dim") for line in shown_lines)]


# --- raters --------------------------------------------------------------------------------------------------------


def _rater_plan(found: RaterPlan) -> RenderableType:
    people = f"{len(found.raters)} rater{'s' * (len(found.raters) != 1)}"
    title = (
        f"{found.dimension} in {found.source}: {found.labels:,} labels by {people} on {found.items:,} items, "
        f"{found.judged_twice:,} of them with two or more raters"
    )
    parts: list[RenderableType] = [plain(title, 500, "bold"), Text("")]
    if found.icc.value is None:
        parts.append(plain(f"the number of raters cannot be planned: {found.icc.text}", 500, "yellow"))
    else:
        parts += [_raters(found), Text(""), plain(_rater_answer(found), 1000, "bold")]
    notes = [f"left out: {reason} ({count})" for reason, count in found.left_out.items()]
    notes += [f"! {text}" for text in found.warnings]
    return Group(*parts, *(plain(line, 500, "yellow" if line.startswith("!") else "dim") for line in notes))


def _raters(found: RaterPlan) -> RenderableType:
    table = _table("raters of each item", "reliability")
    for row in found.rows:
        table.add_row(str(row.raters), figures.number(row.reliability))
    return table


def _rater_answer(found: RaterPlan) -> str:
    icc = figures.number(found.icc.value)
    span = figures.interval(found.icc.low, found.icc.high)
    wanted = [f"{raters} for {figures.number(float(name))}" for name, raters in found.raters_for.items()]
    takes = (
        f"raters for a reliable mean: {', '.join(wanted)}" if wanted else "no number of raters gives a reliable mean"
    )
    return (
        f"Of the variance of ratings, {icc} {span} lies between items and the rest between raters (ICC); "
        f"standard deviation between items {figures.number(found.between, '')}, within "
        f"{figures.number(found.within, '')}; {takes}."
    )
