"""A believable validity report made from simulated scores: real statistics, invented reviews."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from reviewgauge.analysis.stats.bootstrap import Resampler
from reviewgauge.analysis.stats.distributions import grade_rows, ks_table
from reviewgauge.analysis.validity.calibration import heat_map
from reviewgauge.analysis.validity.sample import RowSample, sweeps
from reviewgauge.core.document import Value
from reviewgauge.core.labels import Scale
from reviewgauge.core.reports.validity import (
    Calibrated,
    Classifier,
    ClassRow,
    Correlations,
    HeatMap,
    LabelSummary,
    MetricValidity,
    Misjudged,
    OppositeEnds,
    PublishedFigure,
    Ranking,
    RowSet,
    SharedTrait,
    SliceRow,
    SystemPoint,
    ValidityReport,
)

Numbers = np.ndarray[Any, np.dtype[np.float64]]
SHARES = (0.78, 0.12, 0.05, 0.03, 0.02)  # of the grades 1 to 5: most reviews say nothing of the reference
SYSTEMS = ("tufano", "commentfinder", "auger", "llama-reviewer")
USED_LABELS = "the labels of this data were used, out of fold; a zero-shot judge does not do that"
CONSTANT = "all scores are equal"


class Kind(NamedTuple):
    """A metric to simulate: `noise` beside the human value, scores in `unit`."""

    label: str
    noise: float
    unit: str = "share"
    top: float = 1.0


KINDS = (
    Kind("bleu", 3.4, "BLEU", 100.0), Kind("rouge", 2.6), Kind("meteor", 3.0), Kind("chrf", 3.1, "chrF", 100.0),
    Kind("embedding", 1.6), Kind("combined", 0.9),
)  # fmt: skip


def figure(value: float | None, n: int, wide: float = 0.03, p: float | None = None, reason: str = "") -> Value:
    """A figure with a symmetric interval; undefined where there is no value."""
    if value is None:
        return Value(value=None, n=n, reason=reason)
    return Value(
        value=value, low=max(-1.0, value - wide), high=value + wide if value > 1 else min(1.0, value + wide), n=n, p=p
    )


def row_set(name: str, n: int, left_out: int = 0) -> RowSet:
    """Rows by reference."""
    dropped = {"no reference text": left_out} if left_out else {}
    return RowSet(name=name, rows=n, clusters=max(1, n // 4), clustered_by="reference", left_out=dropped)


def correlations(sample: RowSample, name: str) -> Correlations:
    """The three coefficients, undefined where the scores are constant."""
    return Correlations(rows=row_set(name, sample.n, 3), **sample.correlations())


def classifiers(groups: Mapping[float, Numbers], skill: float, n: int) -> tuple[Classifier, ...]:
    """A tree of some skill, and the majority class, whose other grades have no precision."""
    largest = max(groups, key=lambda g: len(groups[g]))
    tree, majority = [], []
    for grade, scores in groups.items():
        base, support = len(scores) / n, len(scores) / 2
        p, r = min(1.0, base * (0.5 + skill)), min(1.0, 0.2 + 0.6 * skill)
        tree.append(ClassRow(grade=grade, precision=p, recall=r, f1=2 * p * r / (p + r), support=support,
                             precision_low=p / 2, precision_high=p, recall_low=r / 2, recall_high=r, f1_low=r / 3,
                             f1_high=1.0))  # fmt: skip
        is_largest = grade == largest
        majority.append(
            ClassRow(grade=grade, precision=base if is_largest else None, recall=float(is_largest),
                     f1=2 * base / (1 + base) if is_largest else None, support=support)
        )  # fmt: skip
    share = len(groups[largest]) / n

    def made(name: str, rows: list[ClassRow], accuracy: float, balanced: float, kappa: float | None) -> Classifier:
        macro = ClassRow(grade=0, precision=0.31, recall=balanced, f1=0.33, support=n / 2)
        return Classifier(
            name=name, splits=20, n_train=n // 2, n_test=n - n // 2, rows=tuple(rows), macro=macro,
            accuracy=figure(accuracy, n // 2, 0.02), balanced_accuracy=figure(balanced, n // 2, 0.02),
            kappa_quadratic=figure(kappa, n // 2, 0.02, reason="one class only"),
        )  # fmt: skip

    return (
        made("decision tree", tree, share * (0.65 + 0.2 * skill), 0.2 + 0.5 * skill, 0.5 * skill),
        made("majority class", majority, share, 1 / len(groups), None),
    )


def predicted(sample: RowSample, grades: Sequence[float]) -> HeatMap:
    """Grades predicted by cutting the scores at the quantiles of the human grades."""
    shares = np.cumsum([np.mean(sample.human == g) for g in grades])[:-1]
    code = np.searchsorted(np.quantile(sample.score, shares), sample.score, side="left")
    return heat_map(sample, np.array(grades)[code], sample.human, "ordinal calibration, 10 folds by reference")


def calibrated(spearman: float, n: int) -> tuple[Calibrated, ...]:
    """A floor and an ordinal map, a little better than the scores as they are."""
    shared = {"folds": 10, "grouped_by": "reference", "warning": USED_LABELS}
    return (
        Calibrated(method="floor", spearman=figure(spearman + 0.04, n), learned="floor .34 to .36", **shared),
        Calibrated(method="ordinal", spearman=figure(spearman + 0.02, n), **shared),
    )


def ranking(rng: np.random.Generator, systems: Sequence[str], skill: float) -> Ranking:
    """The systems by the human mean, and by a metric that is right as far as its skill goes."""
    human = np.sort(rng.uniform(0.05, 0.7, len(systems)))[::-1]
    metric = skill * human + (1 - skill) * rng.uniform(0.05, 0.7, len(systems))
    ranks = stats.rankdata(-metric)
    points = tuple(
        SystemPoint(system=name, human=figure(float(h), 90), metric=figure(float(m), 90), human_rank=at,
                    metric_rank=float(r))
        for at, (name, h, m, r) in enumerate(zip(systems, human, metric, ranks, strict=True), 1)
    )  # fmt: skip
    n = len(systems)
    if n < 3:
        nothing = figure(None, n, reason="fewer than 3 systems")
        return Ranking(systems=points, spearman=nothing, kendall=nothing)
    rho, tau = stats.spearmanr(human, metric), stats.kendalltau(human, metric)
    return Ranking(
        systems=points, spearman=figure(float(rho.statistic), n, 0.2), kendall=figure(float(tau.statistic), n, 0.2),
        left_out=("msg",),
    )  # fmt: skip


def misjudged(over: bool, count: int = 3) -> tuple[Misjudged, ...]:
    """Rows that the metric places far from people."""
    said = "This `retry` loop never ends when `limit` is 0.\nPlease add a guard and a test, as in `fetch_page`."
    meant = "the loop does not stop for limit == 0"
    return tuple(
        Misjudged(
            case=f"pair-{at}", system=SYSTEMS[at % 4], score=0.92 - 0.01 * at if over else 0.02, human=1 if over else 5,
            score_rank=0.99 if over else 0.1, human_rank=0.45 if over else 1.0,
            hypothesis=said if over else "stop when the limit is zero", reference=meant,
            claims=("the loop gets a limit",) if over else (),
        )
        for at in range(count)
    )  # fmt: skip


def ends(all_rows: Correlations, n: int) -> OppositeEnds:
    """A few rows at opposite ends."""
    return OppositeEnds(
        low_cut=0.1, high_cut=0.6, lowest=1, highest=5, n_over=12, n_under=2, over=figure(12 / n, n, 0.01),
        under=figure(2 / n, n, 0.001), spearman=all_rows.spearman, kendall=all_rows.kendall,
    )  # fmt: skip


def published() -> tuple[PublishedFigure, ...]:
    """What a paper might print on the simulated reviews."""
    rows = [
        *(("", "Judge", name, 0.47) for name in ("spearman", "kendall")),
        *(("", f"Metric {at}", "spearman", at / 10) for at in range(4)),
        ("language=Java", "Judge", "spearman", 0.44),
        *((f"system={name}", who, "mean", 0.1 * at) for at, name in enumerate(SYSTEMS) for who in ("people", "Judge")),
        ("systems", "Judge", "spearman", 0.95),
        ("without opposite ends", "Judge", "spearman", 0.55),
    ]
    return tuple(
        PublishedFigure(source="arXiv:0000.00000, Table 1", dimension="grade", metric=m, name=name, value=v, rows=where)
        for where, m, name, v in rows
    )


def validity(
    kind: Kind, dimension: str, human: Numbers, seed: int, systems: Sequence[str] = SYSTEMS, grades: int = 5
) -> MetricValidity:
    """One simulated metric against the human values. A noise of infinity makes its scores constant."""
    rng = np.random.default_rng(seed)
    raw = human + rng.gamma(1.0, kind.noise, len(human)) if np.isfinite(kind.noise) else np.zeros(len(human))
    scores: Numbers = np.minimum(1.0, (raw - raw.min()) / 12) * kind.top
    scores[human == grades] = kind.top if np.isfinite(kind.noise) else scores[0]  # a perfect review is the reference
    groups = {float(g): scores[human == g] for g in np.unique(human)}
    cluster = np.arange(len(human)) // 4
    sample = RowSample(scores, human, human, cluster, Resampler(int(cluster[-1]) + 1, 30, 0))
    part = sample.rows(human < grades)
    rows = (correlations(sample, "all rows"), correlations(part, f"grade < {grades}"))
    graded = (scores, human, sample.cluster, sample.resampler)
    constant = bool(np.ptp(scores) == 0)
    skill = 1 / (1 + kind.noise)
    return MetricValidity(
        metric=f"{kind.label}(variant='', stop_words='keep', smoothing='floor', case=True)",
        label=kind.label, measure="mean", unit=kind.unit, dimension=dimension, pins={"weights": "9f2b11"},
        correlations=rows,
        grades=grade_rows(*graded),
        ks=ks_table(*graded),
        classifiers=classifiers(groups, skill, len(human)),
        sweeps=sweeps(sample),
        heat_map=None if constant else predicted(sample, list(groups)),
        calibrated=() if constant else calibrated(rows[0].spearman.value or 0.0, len(scores)),
        ranking=ranking(rng, systems, skill),
        slices=tuple(SliceRow(fact="language", value=v, spearman=figure(0.2 + at / 20, 300),
                              kendall=figure(0.1 + at / 20, 300))
                     for at, v in enumerate(("Python", "Java", "JavaScript"))),
        over=misjudged(True), under=misjudged(False), ends=None if constant else ends(rows[0], len(human)),
        traits=(
            SharedTrait(trait="length of the review", unit="characters", over=212.4, under=28.0, all=96.1, n_over=50,
                        n_under=50, n_all=len(human), over_less_all=Value(value=116.3, low=85.1, high=147.6, n=50),
                        under_less_all=Value(value=-68.1, low=-148.6, high=12.4, n=50)),
            SharedTrait(trait="has inline code", unit="share", over=0.84, under=0.06, all=0.31, n_over=50, n_under=50,
                        n_all=len(human)),
        ),
        warnings=(CONSTANT + ": no correlation is defined",) if constant else (),
    )  # fmt: skip


def report(
    kinds: Sequence[Kind] = KINDS,
    dimensions: Sequence[str] = ("grade",),
    rows: int = 1200,
    systems: Sequence[str] = SYSTEMS,
    consensus: bool = False,
) -> ValidityReport:
    """Every kind against every dimension."""
    rng = np.random.default_rng(7)
    found, labels = [], []
    for number, dimension in enumerate(dimensions):
        human = rng.choice(np.arange(1.0, 6.0), rows, p=SHARES)
        found += [validity(kind, dimension, human, seed=10 * number + at, systems=systems)
                  for at, kind in enumerate(kinds)]  # fmt: skip
        values, counts = np.unique(human, return_counts=True)
        labels.append(
            LabelSummary(
                dimension=dimension, raters={"marcus": rows // 2, "atharva": rows - rows // 2}, rows=rows,
                scale=Scale(low=1, high=5, meaning="1 says nothing of the reference, 5 says the same",
                            row_sets={"grade < 5": (1, 4)}),
                distribution={f"{v:g}": int(c) for v, c in zip(values, counts, strict=True)}, consensus=consensus,
            )
        )  # fmt: skip
    return ValidityReport(
        dataset="graded_reviews", benchmark="3fb1c07e5a2d4419b9d0ce7aa8f4c6d2e5b0a1938475665748392a1b0c9d8e7f",
        cases=rows // 4, reviews=rows, labels=tuple(labels), metrics=tuple(found), resamples=10_000, seed=0,
        published=published(),
        warnings=("3 reviews were left out: no reference text",),
    )  # fmt: skip


LONG = "embedding(models=['mxbai-embed-large-v1', 'all-mpnet-base-v2', 'UAE-Large-V1'], combine='median', floor=0.35)"
AWKWARD = (
    Kind(LONG, 1.2),
    Kind("exact_match", float("inf")),
    Kind("length", 30.0, "characters", 4000.0),
    Kind("bleu", 3.4, "BLEU", 100.0),
)


def awkward(systems: int = 30) -> ValidityReport:
    """Two dimensions, 30 systems, a constant metric, a fake and an estimate, long names, nothing computed at all."""
    names = [f"reviewer {at:02d} {'x' * (2 * at)}" for at in range(systems)]
    made = report(AWKWARD, ("conciseness", "relevance"), 400, names, consensus=True)
    metrics = list(made.metrics)
    metrics[0] = metrics[0].model_copy(update={"fake": True, "warnings": ("answers came from a fake model",)})
    metrics[2] = metrics[2].model_copy(update={"estimate_note": "offline estimate (lexical judge)"})
    bare = metrics[3]
    nothing = figure(None, 0, reason="no row was scored")
    rows = RowSet(name="all rows", rows=0, clusters=0, clustered_by="case", left_out={"not applicable": 400})
    metrics[3] = MetricValidity(
        metric=bare.metric, label=bare.label, measure="mean", unit="BLEU", dimension=bare.dimension,
        correlations=(Correlations(rows=rows, pearson=nothing, spearman=nothing, kendall=nothing),),
        warnings=("no row was scored",),
    )  # fmt: skip
    return made.model_copy(update={"metrics": tuple(metrics)})


PAYLOADS = (
    "<script>window.hacked=1</script>",
    "</script><script>window.hacked=1</script>",
    "</style><script>window.hacked=1</script>",
    '"><img src=x onerror="window.hacked=1">',
    "'><svg onload=window.hacked=1>",
    "{{7*7}}{% raw %}{{ self }}",
    "=HYPERLINK(\"http://evil.example\", 'x')",
    "\u202e\u2066abc\x1b[31m\x1b]8;;http://evil\x07[red]x[/red]",
    "<details open ontoggle=window.hacked=1>",
    "&lt;script&gt;window.hacked=1&lt;/script&gt;",
)


def hostile() -> ValidityReport:
    """A payload in every text, and a comment of 100 kB."""
    made = report(KINDS[:2], ("grade",), 300)
    state = {"at": 0}

    def walk(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {(k if not isinstance(v, int) else _poisoned(k)) if key in ("raters", "left_out") else k: walk(v, k)
                    for k, v in value.items()}  # fmt: skip
        if isinstance(value, list):
            return [walk(v, key) for v in value]
        if not isinstance(value, str) or key == "method":
            return value
        state["at"] += 1
        return value[:12] + " " + PAYLOADS[state["at"] % len(PAYLOADS)]

    def _poisoned(text: str) -> str:
        state["at"] += 1
        return text + PAYLOADS[state["at"] % len(PAYLOADS)]

    poisoned = ValidityReport.model_validate(walk(made.model_dump(mode="json")))
    first = poisoned.metrics[0]
    long = first.over[0].model_copy(update={"hypothesis": "a long comment " * 7000})
    payloads = tuple(first.over[0].model_copy(update={"hypothesis": p, "reference": p}) for p in PAYLOADS)
    return poisoned.model_copy(
        update={"metrics": (first.model_copy(update={"over": (long, *payloads)}), *poisoned.metrics[1:])}
    )
