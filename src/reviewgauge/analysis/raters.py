"""Agreement of raters, humans and models together: which labels can be compared, and every coefficient on them.

Only independent labels count; a label that raters agreed on after discussion agrees with itself. An item is a subject
in a round, since a later look is not independent of an earlier one. Items with one rater are left out and counted. The
values of a dimension (words, codes, grades) decide which coefficients apply.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from reviewgauge.analysis.stats import agreement
from reviewgauge.analysis.stats.agreement import ALPHA, Measure, Resampling, Table, coefficients, within
from reviewgauge.analysis.stats.arrays import Integers, Numbers
from reviewgauge.analysis.stats.bootstrap import FEW_CLUSTERS, Resampler
from reviewgauge.core.base import Fact
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, RaterKind, Scale, Subject, adds_claim
from reviewgauge.core.reports.agreement import AgreementReport, BatchAgreement, DimensionAgreement, PairAgreement
from reviewgauge.core.results import NOT_STATED

MANY_VALUES = 50  # with more distinct values they are not categories
LARGEST = 1e15  # beyond it floats do not hold every whole number


class ValueKind(NamedTuple):
    """The kind of a dimension's values: words (or two values), or numbers on a scale; and the categories."""

    numeric: bool
    categories: Numbers
    names: tuple[str, ...]
    code: Mapping[Fact, float]
    warnings: tuple[str, ...] = ()


def kind_of(name: str, labels: Sequence[Label], scale: Scale | None, *, nominal: bool) -> ValueKind:
    """The kind of these labels. Raises UserError for words among numbers, and for numbers beyond grades."""
    values = list(dict.fromkeys(label.value for label in labels))
    words = [value for value in values if isinstance(value, str)]
    if words and len(words) < len(values):
        other = next(value for value in values if not isinstance(value, str))
        raise UserError(f"{name} has words and numbers, such as {words[0]!r:.40} and {other!r}", remedy="use one kind")
    if words or all(isinstance(value, bool) for value in values):
        ordered = sorted(str(value) for value in values)
        place = {word: float(at) for at, word in enumerate(ordered)}
        code: dict[Fact, float] = {value: place[str(value)] for value in values}
        return ValueKind(False, np.arange(len(ordered), dtype=np.float64), tuple(ordered), code)
    if any(abs(value) > LARGEST for value in values if not isinstance(value, str)):
        raise UserError(f"{name} has a label beyond {LARGEST:.0e}, which is not a grade")
    numbers = np.unique(np.array([float(value) for value in values]))
    steps = _steps(scale)
    odd = int(sum(float(label.value) not in steps for label in labels)) if steps else 0
    note = f"{odd} labels are off the steps of the scale, and count as categories of their own"
    categories = np.unique(np.concatenate([numbers, list(steps)])) if steps else numbers
    own = {value: float(value) for value in values}
    return ValueKind(categories.size > 2 and not nominal, categories, (), own, (note,) if odd else ())


def _steps(scale: Scale | None) -> frozenset[float]:
    """The values of a scale; empty if there are too many for categories."""
    if scale is None or scale.step <= 0 or (scale.high - scale.low) / scale.step > MANY_VALUES:
        return frozenset()
    count = round((scale.high - scale.low) / scale.step)
    return frozenset(float(scale.low + scale.step * at) for at in range(count + 1))


def measures_of(kind: ValueKind, tolerance: float, *, raters: int) -> dict[str, list[Measure]]:
    """The measures for all raters (`all`), for each pair (`pair`) and for each batch (`batch`)."""
    near = [within(tolerance)] if kind.numeric and 0 < tolerance < np.ptp(kind.categories) else []
    percent, cohen, fleiss, ac1 = agreement.PERCENT, agreement.COHEN, agreement.FLEISS, agreement.AC1
    nominal, ordinal, interval = ALPHA.values()
    two = [cohen] if raters == 2 else []
    if kind.categories.size > MANY_VALUES:
        return dict.fromkeys(
            ("all", "pair", "batch"), [*near, ordinal, interval] if kind.numeric else [percent, nominal]
        )
    if not kind.numeric:
        some = [percent, *two, fleiss, nominal]
        return {"all": [*some, ac1], "pair": [percent, cohen, nominal, ac1], "batch": some}
    weighted = [agreement.COHEN_LINEAR, agreement.COHEN_QUADRATIC] if raters == 2 else []
    ac2 = agreement.AC2["quadratic"]
    return {
        "all": [percent, *near, *two, *weighted, fleiss, nominal, ordinal, interval, ac1, ac2],
        "pair": [percent, *near, cohen, agreement.COHEN_QUADRATIC, ordinal, ac2],
        "batch": [percent, *near, *two, fleiss, ordinal],
    }


MOST_RATERS = 25  # with more raters only those with the most labels are compared one by one
ALONE = "on items with one rater"


class LabelFilter(NamedTuple):
    """The labels to report on; an empty field selects all."""

    dimensions: Sequence[str] = ()
    batches: Sequence[str] = ()
    rounds: Sequence[str] = ()
    kinds: Sequence[str] = ()

    def why_not(self, label: Label) -> str:
        """Why a label is not selected; empty where it is."""
        if self.dimensions and label.dimension not in self.dimensions:
            return "of another dimension"
        if self.rounds and label.round not in self.rounds:
            return "of another round"
        if self.batches and label.batch not in self.batches:
            return "of another batch"
        return f"by a {label.rater_kind}" if self.kinds and label.rater_kind not in self.kinds else ""


@dataclass(frozen=True)
class AgreementSettings:
    """How agreement is measured: `tolerance` is the largest difference of labels that agree, 0 for equal ones only.

    `nominal` names the dimensions whose numbers are codes, without an order.
    """

    tolerance: float = 1.0
    nominal: Sequence[str] = ()
    resamples: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        """Raises UserError."""
        if not 0 <= self.tolerance < float("inf"):
            raise UserError(f"tolerance must be 0 or more, got {self.tolerance:g}", remedy="1 is the default")
        if self.resamples < 0:
            raise UserError(f"resamples must not be negative, got {self.resamples}", remedy="0 for no intervals")


def agreement_report(
    labels: Sequence[Label],
    *,
    source: str,
    scales: Mapping[str, Scale] | None = None,
    chosen: LabelFilter | None = None,
    settings: AgreementSettings | None = None,
) -> AgreementReport:
    """Agreement in every dimension of `labels`; `source` is their name.

    `scales` are the possible values by dimension. Raises UserError if no independent label is left, for a filter that
    no label meets, and for two different labels of one rater on one item in one round.
    """
    chosen, settings = chosen or LabelFilter(), settings or AgreementSettings()
    _check(labels, source, chosen, settings)
    by_dimension: dict[str, list[Label]] = {}
    for label in labels:
        if not chosen.dimensions or label.dimension in chosen.dimensions:
            by_dimension.setdefault(label.dimension, []).append(label)
    kept = {name: _independent(own, chosen) for name, own in by_dimension.items()}
    if not any(own for own, _ in kept.values()):
        reasons = sum((left_out for _, left_out in kept.values()), Counter[str]())
        if set(reasons) == {"consensus"}:
            raise UserError(
                f"{source} has consensus labels only ({reasons.total():,}): agreement needs each rater's own labels",
                remedy="collect the labels from before the discussion",
            )
        raise UserError(f"no label of {source} is left to compare: {_listed(reasons)}")
    order = list(dict.fromkeys(label.rater for label in labels))
    return AgreementReport(
        source=source,
        dimensions=tuple(
            _dimension(name, own, (scales or {}).get(name), settings, order) for name, own in kept.items() if own[0]
        ),
        resamples=settings.resamples,
        seed=settings.seed,
        warnings=tuple(
            f"{name} has no labels to compare: {_listed(left_out)}" for name, (own, left_out) in kept.items() if not own
        ),
    )


# --- which labels ---------------------------------------------------------------------------------------------------


def _check(labels: Sequence[Label], source: str, chosen: LabelFilter, settings: AgreementSettings) -> None:
    """Raise UserError for no labels, for a filter value that no label has, and for a rater of both kinds."""
    if not labels:
        raise UserError(f"{source} has no labels")
    known = {
        "dimension": ((*chosen.dimensions, *settings.nominal), {label.dimension for label in labels}),
        "batch": (chosen.batches, {label.batch for label in labels if label.batch is not None}),
        "round": (chosen.rounds, {label.round for label in labels if label.round is not None}),
        "rater kind": (chosen.kinds, {label.rater_kind.value for label in labels}),
    }
    for what, (wanted, there) in known.items():
        for name in wanted:
            if name not in there:
                known_names = ", ".join(sorted(there)) or "none"
                raise UserError(f"no label of {source} has the {what} {name!r}", remedy=f"there are: {known_names}")
    kinds: dict[str, RaterKind] = {}
    for label in labels:
        if kinds.setdefault(label.rater, label.rater_kind) is not label.rater_kind:
            raise UserError(f"{label.rater} is a human in one label and a model in another", remedy="use two names")


def _listed(reasons: Mapping[str, int]) -> str:
    return ", ".join(f"{n:,} {why}" for why, n in reasons.items())


class _Item(NamedTuple):
    """The unit on which labels are compared."""

    subject: Subject
    round: str | None


def _item(label: Label) -> _Item:
    return _Item(label.subject, label.round)


def _independent(labels: Iterable[Label], chosen: LabelFilter) -> tuple[list[Label], Counter[str]]:
    """The comparable labels of one dimension, and a count of the others by reason."""
    left_out: Counter[str] = Counter()
    seen: dict[tuple[_Item, str], Label] = {}
    for label in labels:
        reason = "consensus" if label.consensus else "of a claim that a rater added" if adds_claim(label) else ""
        first = seen.get((_item(label), label.rater))
        if reason := reason or chosen.why_not(label):
            left_out[reason] += 1
        elif first is None:
            seen[_item(label), label.rater] = label
        elif first.value == label.value:
            left_out["the same label twice"] += 1
        else:
            raise _twice(first, label)
    return list(seen.values()), left_out


def _twice(first: Label, second: Label) -> UserError:
    subject = second.subject
    what = " of ".join(str(x) for x in (subject.claim or subject.comment or subject.reference, subject.system) if x)
    where = f"{subject.case}" + (f" ({what})" if what else "")
    message = f"{second.rater} judged {where} twice in {second.dimension}, as {first.value} and as {second.value}"
    if first.batch != second.batch:
        return UserError(message, remedy=f"choose one batch: --batch {second.batch or first.batch}")
    return UserError(message, remedy="keep one of the two, or give them different rounds")


# --- one dimension -------------------------------------------------------------------------------------------------


class Grid:
    """The labels of one dimension as raters x items: humans first, each in their `order`."""

    def __init__(self, labels: Sequence[Label], kind: ValueKind, order: Sequence[str]) -> None:
        self.labels, self.kind = labels, kind
        kinds = {label.rater: label.rater_kind for label in labels}
        known = [rater for rater in order if rater in kinds]
        self.raters = sorted(known, key=lambda rater: kinds[rater] is RaterKind.MODEL)
        self.kinds = {rater: kinds[rater].value for rater in self.raters}
        self.items = list(dict.fromkeys(_item(label) for label in labels))
        number: dict[str, int] = {}
        cluster = [number.setdefault(item.subject.case, len(number)) for item in self.items]
        self.cluster: Integers = np.array(cluster, dtype=np.int64)
        self.clusters = len(number)
        row = {rater: at for at, rater in enumerate(self.raters)}
        column = {item: at for at, item in enumerate(self.items)}
        places = [(row[label.rater], column[_item(label)], kind.code[label.value]) for label in labels]
        rater, where, self._values = np.array(places, dtype=np.float64).reshape(-1, 3).T
        self._rater, self._item = rater.astype(np.int64), where.astype(np.int64)

    def table(self, wanted: Sequence[int] | None = None) -> Table:
        """The table of all labels, or of those at the `wanted` positions."""
        at = slice(None) if wanted is None else np.array(wanted, dtype=np.int64)
        places = self._rater[at], self._item[at]
        kind = self.kind
        return Table(self._values[at], kind.categories, at=places, names=kind.names, raters=self.raters)

    @property
    def busiest(self) -> list[int]:
        """The rows of the raters with the most labels, at most `MOST_RATERS`, in their order."""
        labels = np.bincount(self._rater, minlength=len(self.raters))
        return sorted(np.argsort(-labels, kind="stable")[:MOST_RATERS].tolist())

    def groups(self) -> list[tuple[str, list[int]]]:
        """The positions of the labels by batch and round, as far as either varies, in order of appearance."""
        batches, rounds = ({getattr(label, name) for label in self.labels} for name in ("batch", "round"))
        found: dict[str, list[int]] = {}
        for at, label in enumerate(self.labels):
            parts = [label.round or NOT_STATED] if len(rounds) > 1 else []
            parts += [label.batch or NOT_STATED] if len(batches) > 1 or not parts else []
            found.setdefault(" / ".join(parts), []).append(at)
        return list(found.items())


def _dimension(
    name: str,
    kept: tuple[list[Label], Counter[str]],
    scale: Scale | None,
    settings: AgreementSettings,
    order: Sequence[str],
) -> DimensionAgreement:
    labels, left_out = kept
    kind = kind_of(name, labels, scale, nominal=name in settings.nominal)
    often = Counter(map(_item, labels))
    twice = [label for label in labels if often[_item(label)] > 1] or labels  # all where no item has two raters
    if alone := len(labels) - len(twice):
        left_out[ALONE] += alone
    grid = Grid(twice, kind, order)
    table = grid.table()
    measures = measures_of(kind, settings.tolerance, raters=len(grid.raters))
    headline = {agreement.PERCENT.name, ALPHA["ordinal" if kind.numeric else "nominal"].name}
    by_kind = list(_one_kind(grid))
    groups = [(name, grid.table(places)) for name, places in grid.groups()]
    batches = [(name, own) for name, own in groups if own.items and len(groups) > 1]
    pairs = [(a, b, table.pair(a, b)) for a, b in combinations(grid.busiest, 2)]
    resampling = None  # of whole cases, since judgements on one case are not independent
    if settings.resamples:
        resampling = Resampling(grid.cluster, Resampler(grid.clusters, settings.resamples, settings.seed))
    jobs = [
        (table, measures["all"]),
        *((own, [one for one in measures["all"] if one.name in headline]) for _, own in by_kind),
        *((own, measures["batch"]) for _, own in batches),
        *((own, measures["pair"]) for _, _, own in pairs),
    ]
    found = iter(coefficients(jobs, resampling))
    of_all = list(next(found))
    for kind_name, _ in by_kind:
        of_all += [one.model_copy(update={"name": f"{one.name}, {kind_name}s only"}) for one in next(found)]
    return DimensionAgreement(
        dimension=name,
        scale=scale,
        labels=len(grid.labels),
        items=len(often),
        judged_twice=table.items,
        kinds=grid.kinds,
        coefficients=tuple(of_all),
        batches=tuple(BatchAgreement(batch=batch, items=own.items, coefficients=next(found)) for batch, own in batches),
        pairs=tuple(
            PairAgreement(first=grid.raters[a], second=grid.raters[b], items=own.items, coefficients=next(found))
            for a, b, own in pairs
        ),
        left_out=dict(left_out),
        warnings=(*kind.warnings, *_warnings(labels, grid, table, settings)),
    )


def _one_kind(grid: Grid) -> Iterator[tuple[str, Table]]:
    """The tables of humans only and of models only, each if there are both kinds and at least two of it."""
    for kind in RaterKind:
        own = {rater for rater, of in grid.kinds.items() if of == kind.value}
        if 2 <= len(own) < len(grid.raters):
            yield kind.value, grid.table([at for at, label in enumerate(grid.labels) if label.rater in own])


def _warnings(labels: Sequence[Label], grid: Grid, table: Table, settings: AgreementSettings) -> Iterator[str]:
    rounds = {item.round for item in grid.items}
    if len(rounds) > 1:
        yield f"labels of {len(rounds)} rounds are combined, each compared within its round; --round selects one"
    if lonely := sorted({label.rater for label in labels} - set(grid.raters)):
        yield f"left out: {', '.join(lonely)}, who shares no item with another rater"
    if len(grid.raters) > MOST_RATERS:
        yield f"compared one by one: the {MOST_RATERS} raters with the most labels, of {len(grid.raters):,}"
    for row in grid.busiest:
        rater, codes = grid.raters[row], table.labels_of(row)
        if table.items and codes.size > 1 and (codes == codes[0]).all():
            yield f"{rater} gave {table.name(int(codes[0]))} in all {codes.size} labels: agreement with it means little"
    if settings.resamples and table.items and 1 < grid.clusters < FEW_CLUSTERS:
        yield (
            f"intervals resample whole cases, and there are only {grid.clusters}: with fewer than {FEW_CLUSTERS} they "
            "are too narrow"
        )
