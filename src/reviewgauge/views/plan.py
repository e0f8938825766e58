"""What `reviewgauge plan` found as a document: each pair of systems, the study it takes, and the raters."""

from __future__ import annotations

from collections.abc import Iterator

from reviewgauge.core.document import Block, Document, Table, Text, Value, columns_of
from reviewgauge.core.reports.plan import AttemptRow, ChangePlan, PairPlan, Plan, RaterPlan
from reviewgauge.views import figures
from reviewgauge.views.values import counted, note, or_dash

PAIRS_SHOWN = 12


def plan_document(found: Plan) -> Document:
    """Every plan, and the notes."""
    blocks: list[Block] = [block for one in found.changes for block in _changes(one)]
    blocks += [block for one in found.raters for block in _raters(one)]
    return Document(blocks=(*blocks, *(note(f"! {line}") for line in found.notes)))


def name_of(pair: PairPlan) -> str:
    """The name of the pair."""
    return f"{pair.first} - {pair.second}"


# --- changes and attempts ------------------------------------------------------------------------------------------


def _changes(found: ChangePlan) -> Iterator[Block]:
    wanted = f"{found.detect:g}".removeprefix("0" if found.unit == "share" else "")
    title = (
        f"{figures.label(found.measure)} ({found.label}) on {found.dataset}: to detect a difference of {wanted} "
        f"with {figures.percent(found.power)} power at the 5% level"
    )
    yield Text(text=title, kind="strong")
    shown = found.pairs[found.typical] if found.typical is not None else None
    if len(found.pairs) > 1:
        yield _pairs(found)
    if shown is not None:
        yield _study(shown, found.unit)
        yield Text(text=_answer(found, shown, wanted), kind="strong")
    else:
        yield from (note(f"! {name_of(pair)}: {pair.reason}") for pair in found.pairs)
    pairs = [shown] if shown else list(found.pairs)
    lines = [f"! {found.estimate_note}" if found.estimate_note else ""]
    lines += [f"! {text}" for pair in pairs for text in pair.warnings]
    lines += [f"! {name_of(pair)}: {pair.reason}" for pair in found.pairs if pair.reason and shown is not None]
    lines += [f"! {text}" for text in found.warnings]
    benchmark = figures.short_hash(found.benchmark)
    yield note(f"{found.label or found.metric}, benchmark {benchmark}; clustered by {found.clustered_by}")
    yield from (note(line) for line in dict.fromkeys(lines) if line)


def _pairs(found: ChangePlan) -> Table:
    rows = []
    for pair in found.pairs:
        row = pair.rows[0] if pair.rows else AttemptRow(attempts=1, changes=None)
        rows.append(
            (
                Value(text=name_of(pair)),
                or_dash(pair.difference, found.unit),
                or_dash(pair.between if pair.rows else None, found.unit),
                Value(text=_within(pair, found.unit)),
                counted(pair.changes),
                or_dash(row.detectable, found.unit),
                or_dash(row.changes, "count"),
            )
        )
    return Table(
        name="pairs",
        title="",
        columns=(
            *columns_of("name", "first - second"),
            *columns_of("difference", "diff"),
            *columns_of("figure", "between", "within", "at hand", "finds now", "changes"),
        ),
        rows=tuple(rows),
        shown=PAIRS_SHOWN,
        notes=(
            "standard deviations between changes and within one (one attempt around the mean); changes at 1 attempt",
        ),
    )


def _within(pair: PairPlan, unit: str) -> str:
    parts = [pair.within_first, pair.within_second]
    if not pair.rows or parts == [None, None]:
        return figures.UNDEFINED
    words = [figures.number(part, unit) for part in parts]
    return words[0] if words[0] == words[1] else "/".join(words)


def _study(pair: PairPlan, unit: str) -> Table:
    """One row a number of attempts; what is known of no row is left out."""
    known = {
        "changes": [or_dash(row.changes, "count") for row in pair.rows],
        "repositories": [or_dash(row.repositories, "count") for row in pair.rows],
        "reviews": [or_dash(row.judgements, "count") for row in pair.rows],
        f"{pair.changes} at hand find": [or_dash(row.detectable, unit) for row in pair.rows],
        "price": [or_dash(row.dollars, "dollars") for row in pair.rows],
    }
    for optional in ("repositories", "price"):
        if all(one.value is None for one in known[optional]):
            del known[optional]
    return Table(
        name="study",
        title=name_of(pair),
        columns=(*columns_of("name", "attempts at each change"), *columns_of("figure", *known)),
        rows=tuple(
            (Value(text=f"{row.attempts}"), *cells)
            for row, cells in zip(pair.rows, zip(*known.values(), strict=True), strict=True)
        ),
    )


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


# --- raters --------------------------------------------------------------------------------------------------------


def _raters(found: RaterPlan) -> Iterator[Block]:
    people = f"{len(found.raters)} rater{'s' * (len(found.raters) != 1)}"
    title = (
        f"{found.dimension} in {found.source}: {found.labels:,} labels by {people} on {found.items:,} items, "
        f"{found.judged_twice:,} of them with two or more raters"
    )
    yield Text(text=title, kind="strong")
    if found.icc.value is None:
        yield note(f"! the number of raters cannot be planned: {found.icc.text}")
    else:
        yield Table(
            name="raters",
            title="",
            columns=(*columns_of("name", "raters of each item"), *columns_of("figure", "reliability")),
            rows=tuple((Value(text=f"{row.raters}"), or_dash(row.reliability)) for row in found.rows),
        )
        yield Text(text=_rater_answer(found), kind="strong")
    yield from (note(f"left out: {reason} ({count})") for reason, count in found.left_out.items())
    yield from (note(f"! {text}") for text in found.warnings)


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
