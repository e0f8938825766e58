"""`reviewgauge evolve`: a reviewer's prompt and context, improved against a benchmark, and what the gain is worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from reviewgauge.analysis.compare.leaderboard import check_settings
from reviewgauge.analysis.stats.arrays import MatrixAggregate, measures_of
from reviewgauge.analysis.stats.bootstrap import (
    Resampler,
    cluster_cases,
    difference_interval,
    percentile_interval,
    resampled_sums,
)
from reviewgauge.analysis.stats.folds import near_groups
from reviewgauge.api.resolve import dataset_label, find_dataset, find_stages, given_path, staged_label
from reviewgauge.core.document import Value
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import check_page, write_whole
from reviewgauge.core.protocols import Dataset, Metric, Progress, Reviewer
from reviewgauge.core.records import Case
from reviewgauge.core.reports.evolution import EvolutionReport, PartResult
from reviewgauge.core.results import Parts
from reviewgauge.core.specs import load, short_spec, signature
from reviewgauge.engine.build.pipeline import apply_stages
from reviewgauge.engine.review import changes_to_review
from reviewgauge.engine.run.executors import Interruption
from reviewgauge.engine.run.journal import CallLog
from reviewgauge.engine.run.manifest import benchmark_hash
from reviewgauge.engine.run.model_options import ModelOptions, spending
from reviewgauge.engine.run.workers import Workers, check_workers
from reviewgauge.evolution.candidates import CONTEXT, Species, diff_of, digest_of
from reviewgauge.evolution.evaluation import Evaluator, Setting, Stopped
from reviewgauge.evolution.optimizers import OPTIMIZERS, check_optimizer
from reviewgauge.evolution.proposing import Proposer
from reviewgauge.evolution.reward import Reward, Worth
from reviewgauge.evolution.search import HELD, RESULT, RUNS, Limits, Search, opened, settle
from reviewgauge.evolution.split import HELD_OUT, PARTS, SELECTION, TRAIN, Split, split_cases
from reviewgauge.models.chat.client import chat_model
from reviewgauge.repo.diff.diffs import parse_patch

FEW_WORDS = 20  # of changed lines
COUNTED = (
    "A case whose review or measurement failed, or for which a metric has no value, counts as the worst that it could "
    "have: the optimiser takes numbers only, and silence must not win. Silence on a clean change counts as 1."
)


def evolve(
    dataset: str | Dataset,
    *reviewers: str | Reviewer,
    run: str | Path,
    metrics: Sequence[str | tuple[Metric, float]],
    model: str = "",
    contexts: Sequence[str] = (),
    optimizer: str = "gepa",
    rounds: int = 20,
    evaluations: int | None = None,
    minibatch: int = 3,
    shares: Sequence[float] = (0.4, 0.3, 0.3),
    reserve: int = 0,
    source: str | Path | None = None,
    also: Sequence[str | Dataset] = (),
    stages: Sequence[str] = (),
    seed: int = 0,
    resamples: int = 10_000,
    workers: Workers = None,
    models: ModelOptions | None = None,
    page: str | Path | None = None,
    stop: Interruption | None = None,
    progress: Progress | None = None,
) -> EvolutionReport:
    """Improve the templates of `prompt` reviewers, each for the cases of its tasks, and the choice among `contexts`.

    `metrics` are specs with weights (`assess*0.33`). `model` writes the proposals, by default that of the reviewer.
    Everything is kept in the folder `run`, and the same call goes on where it stopped; the held-out part is computed
    once, when the search has ended. `evaluations` bounds the pairs of a candidate and a case. `page`: an HTML report.
    `also` are further data sets, such as one for each other task.
    """
    check_page(page)
    models, stop = models or ModelOptions(), stop or Interruption()
    check_settings(resamples)
    check_workers(workers, connect=False)
    if models.dry_run:
        raise UserError("evolve has no --dry-run: it asks for what the answers call for", remedy="give a --budget")
    check_optimizer(optimizer)
    species = Species.of([one if isinstance(one, Reviewer) else load(Reviewer, one) for one in reviewers], contexts)
    words = [_weighted(word) for word in metrics]
    found = find_dataset(dataset, source)
    narrowing = find_stages(stages)
    sources = [found, *(find_dataset(one) for one in also)]
    cases = _joined([apply_stages(one.cases(), narrowing)[0] for one in sources])
    reward = Reward.of(words, _headline, {case.change.task for case in cases})
    usable = [case for case in cases if species.reviewer_of(case) is not None and reward.applying(case)]
    _check(species, usable, len(cases), found)
    split = split_cases(usable, shares, seed, reserve, near_groups([_changed(case) for case in usable]))
    limits = Limits(rounds, evaluations or (rounds + 1) * len(split.parts[SELECTION]), minibatch)
    asked = model or species.reviewers[0].model
    label, where = " + ".join(staged_label(one, narrowing) for one in sources), given_path(dataset, found, source)
    with opened(Path(run)) as folder:
        setting = Setting(species, reward, folder, label, where, models.in_flight, workers, stop, progress)
        work = _Work(setting, split, limits, asked, optimizer, seed, resamples)
        wanted = work.wanted(benchmark_hash(cases))
        done = settle(folder, wanted, limits) or work.run(models, wanted, len(cases))
    if page is not None:
        from reviewgauge.views.evolution import evolution
        from reviewgauge.views.pages import document_page

        write_whole(Path(page), document_page(evolution(done, page=True)).encode("utf-8", "replace"))
    return done


def _joined(sources: Sequence[Sequence[Case]]) -> list[Case]:
    """The cases of all data sets; the task stands before an id that several have. Raises UserError."""
    times = Counter(case.id for cases in sources for case in cases)
    named = [
        case if times[case.id] == 1 else case.model_copy(update={"id": f"{case.change.task}/{case.id}"})
        for cases in sources
        for case in cases
    ]
    if again := [name for name, count in Counter(case.id for case in named).items() if count > 1]:
        raise UserError(f"{again[0]!r} is in two of the data sets", remedy="name each data set once")
    return named


def _changed(case: Case) -> set[str]:
    """The changed lines, without blanks; none where they have few words, which are too common to tell copies by."""
    hunks = (hunk for file in case.change.files for hunk in parse_patch(file.patch or ""))
    words = [line.text.split() for hunk in hunks for line in hunk.lines if line.kind != " "]
    return {" ".join(own) for own in words if own} if sum(map(len, words)) >= FEW_WORDS else set()


@dataclass(frozen=True)
class _Work:
    """One search, and what came of it."""

    setting: Setting
    split: Split
    limits: Limits
    model: str
    optimizer: str
    seed: int
    resamples: int

    def wanted(self, benchmark: str) -> dict[str, object]:
        """What the folder holds a search of: another one is refused there."""
        species = self.setting.species
        return {
            "dataset": self.setting.dataset,
            "benchmark": benchmark,
            "optimizer": self.optimizer,
            "model": self.model,
            "seed": self.seed,
            "reviewers": [signature(one) for one in species.reviewers],
            "templates": digest_of(species.seed),
            "contexts": list(species.contexts),
            "metrics": [list(pair) for pair in self.setting.reward.names],
            "parts": self.split.hashes,
        }

    def run(self, models: ModelOptions, wanted: dict[str, object], offered: int) -> EvolutionReport:
        """Search, then measure the winner beside the seed on every part; the held-out part once, and for last."""
        setting, folder = self.setting, self.setting.folder
        log = CallLog(folder, digest_of({"evolve": str(folder.resolve())}))  # one bill for the whole search
        search = Search(
            evaluator=Evaluator(setting, folder / RUNS, {part: self.split.parts[part] for part in (TRAIN, SELECTION)}),
            proposer=Proposer(setting.species, self.model),
            limits=self.limits,
            seed=self.seed,
        )
        measured: dict[str, tuple[list[Worth], list[Worth]]] = {}
        try:
            with models.client(log) as client:
                chat_model(self.model)  # refuses what it does not take now
                try:
                    OPTIMIZERS[self.optimizer](search)
                    seed, best = setting.species.seed, search.candidates[search.best]
                    held = Evaluator(setting, folder / HELD, {HELD_OUT: self.split.parts[HELD_OUT]})
                    for part, evaluator in zip(PARTS, (search.evaluator, search.evaluator, held), strict=True):
                        names = [case.id for case in self.split.parts[part]]
                        measured[part] = evaluator.evaluate(seed, names), evaluator.evaluate(best, names)
                except Stopped:
                    pass
                bill = spending(client).sentence
        finally:
            log.sync()
            log.close()
        report = self._report(search, measured, wanted)
        report = report.model_copy(update={"bill": bill, "warnings": tuple(self._warnings(offered, report))})
        if report.finished:
            write_whole(folder / RESULT, report.to_line())
        return report

    def _report(
        self,
        search: Search,
        measured: dict[str, tuple[list[Worth], list[Worth]]],
        wanted: dict[str, object],
    ) -> EvolutionReport:
        setting, species, reward = self.setting, self.setting.species, self.setting.reward
        parts = tuple(self._part(name, measured.get(name)) for name in PARTS)
        best = search.candidates[search.best]
        finished = HELD_OUT in measured
        worths = [worth for worth, _ in search.evaluator.known.values()]
        templates = [setting.species.built(at, best, setting.folder / "winner") for at in range(len(species.reviewers))]
        return EvolutionReport(
            run=str(setting.folder),
            dataset=setting.dataset,
            benchmark=str(wanted["benchmark"]),
            reviewers=tuple(short_spec(one) for one in species.reviewers),
            metrics=tuple(zip(map(short_spec, reward.metrics), reward.weights, strict=True)),
            optimizer=self.optimizer,
            model=self.model,
            seed=self.seed,
            split_by=self.split.by,
            rounds=search.rounds,
            evaluations=max((step.evaluations for step in search.steps), default=0),
            steps=tuple(search.steps),
            seed_candidate=digest_of(species.seed),
            best_candidate=digest_of(best),
            parts=parts,
            diff=diff_of(species.seed, best),
            context=best.get(CONTEXT, ""),
            templates=tuple(one.template for one in templates),
            finished=finished,
            stopped=setting.stop.why,
            conclusion=_conclusion(parts[-1], digest_of(best) == digest_of(species.seed)) if finished else "",
            counted=COUNTED,
            fake=any(worth.fake for worth in worths),
        )

    def _part(self, name: str, pair: tuple[list[Worth], list[Worth]] | None) -> PartResult:
        cases = self.split.parts[name]
        blank = PartResult(
            name=name,
            cases=len(cases),
            repositories=len({case.change.repo for case in cases}),
            hash=benchmark_hash(cases),
        )
        if pair is None:
            return blank
        seed, best = pair
        both = [*seed, *best] if seed is not best else seed
        figures = _figures(cases, [w.reward for w in seed], [w.reward for w in best], self.resamples, self.seed)
        failed, silent = sum(bool(w.failed) for w in both), sum(bool(w.silent and not w.failed) for w in both)
        return blank.model_copy(update={**figures, "failed": failed, "silent": silent})

    def _warnings(self, offered: int, report: EvolutionReport) -> Iterator[str]:
        usable = sum(len(cases) for cases in self.split.parts.values())
        if offered > usable:
            why = "no reviewer does their task, or no metric measures them"
            yield f"{offered - usable} of {offered} cases are left out: {why}"
        if self.split.by == "case":
            yield (
                "fewer than 3 repositories: the parts are split by case, so that the held-out cases are of the same "
                "projects and the figure says little about others"
            )
        if self.split.alike:
            yield f"{self.split.alike} repositories have changes that are nearly those of others, and stay with them"
        held = self.split.parts[HELD_OUT]
        yield from (
            f"{HELD_OUT}: {text}"
            for text in cluster_cases(held, np.ones(len(held), dtype=bool)).warnings(expanded=True)
        )
        if broken := sum(step.failed for step in report.steps):
            yield f"{broken} evaluations of the search failed, and counted as the worst"
        for part in report.parts:
            if part.failed:
                yield f"{part.failed} reviews by seed and winner of {part.name} cases failed, and count as the worst"


def _figures(
    cases: Sequence[Case], seed: Sequence[float], best: Sequence[float], resamples: int, draw: int
) -> dict[str, Value]:
    """The means with intervals, and that of the paired difference, over resamples of whole clusters of cases."""
    values = np.column_stack([seed, best, np.ones(len(cases))])
    clusters = cluster_cases(cases, np.ones(len(cases), dtype=bool))
    sums = resampled_sums(values, clusters.index, Resampler(clusters.count, resamples, draw))
    one, other = sums[:, 0] / sums[:, 2], sums[:, 1] / sums[:, 2]
    means = values.mean(axis=0)
    few = clusters.count < 2
    found = {}
    for name, value, draws in (("seed", means[0], one), ("best", means[1], other)):
        low, high, _ = percentile_interval(draws)
        found[name] = Value(value=float(value), low=None if few else low, high=None if few else high, n=len(cases))
    gap = None if few else difference_interval(other - one, clusters.count)
    found["difference"] = Value(
        value=float(means[1] - means[0]), low=gap and gap.low, high=gap and gap.high, n=len(cases)
    )
    return found


def _conclusion(held: PartResult, same: bool) -> str:
    """One sentence: whether the winner beats the seed on the held-out cases."""
    if same:
        return "No candidate did better than the seed on the selection part: the seed stays."
    gap = held.difference
    assert gap is not None and gap.value is not None
    cases, repositories = held.cases, held.repositories
    where = (
        f"the {cases} held-out case{'s' * (cases != 1)} of {repositories} repositor{'ies' * (repositories > 1) or 'y'}"
    )
    bounds = "" if gap.low is None or gap.high is None else f" [{gap.low:+.3f}, {gap.high:+.3f}]"
    by = f"{gap.value:+.3f}{bounds}"
    if gap.low is not None and gap.low > 0:
        return f"The winner beats the seed on {where}: {by} reward."
    if gap.high is not None and gap.high < 0:
        return (
            f"The winner is worse than the seed on {where}: {by} reward. What it gained elsewhere does not carry over."
        )
    return f"The winner is not shown to beat the seed on {where}: {by} reward."


def _weighted(word: str | tuple[Metric, float]) -> tuple[Metric, float]:
    """`assess*0.33` as a metric and its weight, 1 unless given. Raises UserError."""
    if not isinstance(word, str):
        return word
    spec, star, weight = word.rpartition("*")
    if not star:
        return load(Metric, word), 1.0
    try:
        return load(Metric, spec.strip()), float(weight)
    except ValueError:
        raise UserError(f"the weight {weight!r} is not a number", remedy="such as --metric 'assess*0.33'") from None


def _headline(metric: Metric, parts: Parts) -> float | None:
    found = measures_of(metric, MatrixAggregate.of([parts])).get(metric.headline)
    return None if found is None or not np.isfinite(found[0]) else float(found[0])


def _check(species: Species, usable: Sequence[Case], offered: int, found: Dataset) -> None:
    """Raise UserError where the reviewers can do nothing with the data set."""
    if not usable:
        name = dataset_label(found)
        raise UserError(
            f"none of the {offered} cases of {name} has a task that the reviewer does and a metric measures",
            remedy=f"reviewgauge info {name}",
        )
    for at, reviewer in enumerate(species.reviewers):
        if own := [case for case in usable if species.reviewer_of(case) == at]:
            changes_to_review(replace(reviewer), own, dataset_label(found))
