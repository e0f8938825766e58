"""`reviewgauge build`: a benchmark out of a repository, by a recipe."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np

from reviewgauge.analysis.doctor.limits import SIZE, label_size
from reviewgauge.analysis.stats.agreement import ALPHA, COHEN, FLEISS, PERCENT, Table, coefficients
from reviewgauge.api.settings import SettingsFile
from reviewgauge.core.base import Fact, Record
from reviewgauge.core.building import RESULTS, CardSection
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import write_whole
from reviewgauge.core.protocols import Progress, Stage
from reviewgauge.core.reports.build_card import BuildCard, FunnelRow
from reviewgauge.core.specs import all_pins, import_named, load, short_spec, signature
from reviewgauge.core.version import __version__
from reviewgauge.datasets.files.labels import read_label_file
from reviewgauge.engine.build.folder import (
    CARD,
    SCRATCH,
    BuildFolder,
    Stopped,
    Written,
    find_licences,
    free_name,
    holds_cases,
    publish,
    replaced_benchmark,
    write_benchmark,
)
from reviewgauge.engine.build.people import People
from reviewgauge.engine.build.pipeline import Pipeline
from reviewgauge.engine.build.recipes import Recipe, Step, make_stages, read_recipe, set_parameters
from reviewgauge.engine.run.executors import Interruption
from reviewgauge.engine.run.model_options import ModelOptions, Spending, spending
from reviewgauge.engine.run.progress import with_cost
from reviewgauge.engine.run.workers import executor_for
from reviewgauge.models.chat.client import ChatClient
from reviewgauge.repo.forge.api import forge_of, repositories
from reviewgauge.stages.add_twins import AddTwins
from reviewgauge.stages.check_labels import SHEET
from reviewgauge.stages.from_forge import FromForge
from reviewgauge.stages.from_git import FromGit
from reviewgauge.stages.history.source import pooled_names
from reviewgauge.stages.sampling.audit import audit_labels, audit_stage, check_tables, table_path
from reviewgauge.stages.sampling.audit_table import read_marks, tables_of
from reviewgauge.views.markdown import markdown

CARD_MD = "card.md"


class BuildResult(Record):
    """What a build did. `card` is None where it was stopped before all went through: nothing was written then.

    `before` is the folder of the benchmark that was there before: `folder` where it was extended, or where nothing was
    left to replace it.
    `foretold` is the funnel of a `--dry-run`, which writes nothing either: behind a stage that asks a model it is a
    guess.
    """

    schema_version: int = 1
    folder: str
    card: BuildCard | None = None
    foretold: tuple[FunnelRow, ...] = ()
    before: str = ""
    reviews: int = 0
    stopped: str = ""
    spending: Spending = Spending()


def build(
    source: str | Path | Sequence[str | Path] = ".",
    *,
    out: str | Path,
    recipe: str | None = None,
    settings: dict[str, str] | None = None,
    stages: Sequence[str] = (),
    reviews_by: Sequence[str] = (),
    test: str | None = None,
    sandbox: str = "auto",
    audit: int = 0,
    labels: Sequence[str | Path] = (),
    replace: bool = False,
    defaults: SettingsFile | None = None,
    models: ModelOptions | None = None,
    stop: Interruption | None = None,
    progress: Progress | None = None,
) -> BuildResult:
    """Build a benchmark from `source`, a path to a git repository or `github:owner/name`, into the folder `out`.

    Several sources make one benchmark, so that intervals can resample repositories. `recipe` is the name of one that
    ships (`reviewgauge list recipes`) or a TOML file, `settings` are its parameters, `stages` are added at its end.
    `test` is a command (`pytest -q {files}`) that runs the tests of fixes in `sandbox`, as the stage `verify_fixes`
    does, or those of injected defects (`verify_defects`). `reviews_by` names accounts whose posted reviews are taken
    in. Of the labels of a history, and of each model's decisions, `audit` are drawn for people to check. What most of
    them say, there or in files of `labels`, overrules the model. The same call
    goes on where a killed one stopped, and extends the benchmark when the source has grown. With `replace` a benchmark
    of another recipe, or of other sources, is replaced, and kept as `out.1`, or the next number that is free.
    `defaults` count where nothing is given: their parameters of the recipe, model and test command.
    """
    sources = _sources([source] if isinstance(source, (str, Path)) else source)
    usual = defaults or SettingsFile()
    found, parameters, plan = _planned(sources[0], recipe, settings or {}, stages, reviews_by, usual)
    if test is None:
        test = usual.test if usual.test and any(isinstance(one, FromGit | AddTwins) for one, _ in plan) else ""
    if sandbox != "auto" and not test:
        raise UserError("a sandbox is for the tests of fixes", remedy='--test "pytest -q {files}"')
    if not (models and models.dry_run):
        plan += _about_labels(plan, Path(out), test, sandbox, audit)
    models, stop = models or ModelOptions(), stop or Interruption()
    other = not models.dry_run and _is_other(Path(out), plan, sources, replace)
    check_tables(Path(out))
    said = _people(Path(out), [] if models.dry_run else labels)
    context = BuildFolder(Path(out), sources, listener=progress, stop=stop)
    try:
        with models.client(context.calls) as client:
            executor = partial(executor_for, workers=None, in_flight=models.in_flight, otherwise=2)
            pipeline = Pipeline(context, plan, executor, stop, dry_run=models.dry_run, people=said)
            context.listen(with_cost(progress, client))
            try:
                if models.dry_run:
                    return _forecast(str(out), pipeline, client)
                results = context.folder / RESULTS
                written = write_benchmark(context.folder, pipeline.run(), into=results)
            except Stopped:
                return BuildResult(folder=str(out), stopped=stop.why, spending=spending(client))
            finally:
                context.calls.sync()
            card = _card(found, parameters, context, pipeline, written, audit)
            before = str(free_name(Path(out)) if other and written.cases else out if holds_cases(Path(out)) else "")
            if written.cases or not before:
                _write(card, results)
                publish(context.folder, free_name(context.folder) if other else None)
            return BuildResult(
                folder=str(out), card=card, before=before, reviews=written.reviews, spending=spending(client)
            )
    finally:
        shutil.rmtree(context.folder / SCRATCH, ignore_errors=True)
        context.close()


def _planned(
    source: str,
    recipe: str | None,
    settings: Mapping[str, str],
    stages: Sequence[str],
    reviews_by: Sequence[str],
    usual: SettingsFile,
) -> tuple[Recipe, Mapping[str, object], list[tuple[Stage, Step]]]:
    """The recipe with `stages` at its end, its parameters, and the stages that they make. Raises UserError."""
    given = dict(settings)
    if reviews_by:
        given["reviews_by"] = repr(tuple(reviews_by))
    found = _extended(read_recipe(recipe or _usual_recipe(source, reviews_by)), stages)
    chosen = usual.parameters(found)
    parameters = set_parameters(found, chosen | given)
    words = [*given.values(), *stages, *(chosen.values() if usual.trusted else ())]
    return found, parameters, make_stages(found, parameters, words, usual.origin if chosen else None)


def _people(out: Path, files: Sequence[str | Path]) -> People:
    """What people said in files of labels, and in the tables of an audit. Raises UserError."""
    marks = (label for table in tables_of(out) for label in audit_labels(table))
    return People((label for file in files for label in read_label_file(Path(file)).labels), marks)


def _extended(recipe: Recipe, stages: Sequence[str]) -> Recipe:
    """The recipe with these stages at its end."""
    for spec in stages:
        import_named(spec)
    added = (Step(use=spec, why="given on the command line") for spec in stages)
    return recipe.model_copy(update={"stage": (*recipe.stage, *added)})


def _write(card: BuildCard, folder: Path) -> None:
    write_whole(folder / CARD, card.model_dump_json(indent=2).encode() + b"\n")
    write_whole(folder / CARD_MD, markdown(card).encode())


def _about_labels(
    plan: Sequence[tuple[Stage, Step]], out: Path, test: str, sandbox: str, audit: int
) -> Iterator[tuple[Stage, Step]]:
    """The stages behind a recipe's that run tests of fixes or defects and take in what people say of labels."""
    if test:
        injected = any(isinstance(stage, AddTwins) for stage, _ in plan)
        name = "verify_defects" if injected else "verify_fixes"
        why = "which defects tests show" if injected else "which labels the tests of their fixes bear out"
        made = load(Stage, f"{name}(test={test!r}, sandbox={sandbox!r})")
        yield made, Step(use="", why=f"given with --test: {why}")
    if any(isinstance(stage, FromGit) for stage, _ in plan) and (audit or (out / SHEET).exists()):
        yield load(Stage, f"check_labels(n={audit})"), Step(use="", why="what people who checked labels say of them")


def _forecast(out: str, pipeline: Pipeline, client: ChatClient) -> BuildResult:
    """The funnel of a dry run, of which nothing is kept: the answers of the fake model are not labels."""
    for _ in pipeline.run():
        pass
    return BuildResult(folder=out, foretold=tuple(tally.row() for tally in pipeline.counts), spending=spending(client))


def _sources(given: Sequence[str | Path]) -> tuple[str, ...]:
    """What to build from: paths one by one, repositories of a forge together."""
    named = tuple(dict.fromkeys(map(str, given))) or (".",)
    schemes = {source.partition(":")[0] if forge_of(source) else "" for source in named}
    if len(schemes) > 1:
        raise UserError("paths and repositories of forges cannot be built together", remedy="build them one by one")
    (scheme,) = schemes
    return (f"{scheme}:" + ",".join(source.partition(":")[2] for source in named),) if scheme else named


def _usual_recipe(source: str, reviews_by: Sequence[str]) -> str:
    if forge_of(source) is None:
        if reviews_by:
            raise UserError("a git history holds no reviews that were posted", remedy="name github:OWNER/NAME")
        return "local"
    return "hosted_reviews" if reviews_by else "pull_requests"


def _is_other(folder: Path, plan: Sequence[tuple[Stage, Step]], sources: Sequence[str], replace: bool) -> bool:
    """Whether `folder` holds a benchmark that this build replaces. Raises UserError where nobody asked for that."""
    names = [name for one, _ in plan if isinstance(one, FromGit) and not one.name for name in pooled_names(sources)]
    kind = forge_of(sources[0])
    if kind is not None and any(isinstance(one, FromForge) and not one.repos for one, _ in plan):
        names += repositories(sources[0], kind)[1]
    asked = ", ".join(sources) if replace else ""
    other = replaced_benchmark(folder, [short_spec(stage) for stage, _ in plan], names, asked)
    if other and not replace:
        remedy = f"--replace keeps it as {free_name(folder)}; or name another folder"
        raise UserError(f"{folder} holds {other}, which would be replaced", remedy=remedy)
    return bool(other)


def _card(
    recipe: Recipe,
    parameters: Mapping[str, object],
    context: BuildFolder,
    pipeline: Pipeline,
    written: Written,
    audit: int,
) -> BuildCard:
    rows = tuple(tally.row() for tally in pipeline.counts)
    audits: list[CardSection] = []
    into = context.folder / RESULTS
    for tally in pipeline.counts:
        if tally.decisions or tally.stage.models:
            by = signature(tally.stage)
            section = audit_stage(context.folder, by, pipeline.decisions(tally.stage), audit, into)
            audits += [] if section is None else [_with_agreement(section, table_path(context.folder, by))]
    if years := written.census.labelled:
        size = label_size(written.census.counts["findings"], years)
        problem = (size.problem,) if size.problem else ()
        context.report(CardSection(by="build", title=SIZE, text=f"{size.words}.", warnings=problem))
    for found in (written.census.finders.section(), pipeline.people.section()):
        if found is not None:
            context.report(found)
    sheet = context.folder / SHEET
    sections = [_with_agreement(one, sheet) if one.by == "check_labels" else one for one in context.sections]
    warnings = [warning for section in sections for warning in section.warnings]
    warnings += [f"{len(written.twice)} cases had the id of another and were left out"] if written.twice else []
    if lost := written.unstorable:
        warnings += [f"{len(lost)} cases were left out: a line of a benchmark cannot hold them (first {lost[0]})"]
    failed = sum(row.failed for row in rows)
    warnings += [f"{failed} candidates failed and are not in it: the same command tries them again"] if failed else []
    return BuildCard(
        title=recipe.title,
        summary=recipe.summary,
        recipe=recipe.name,
        recipe_source=recipe.source,
        source=context.source,
        built=datetime.now(UTC).replace(microsecond=0),
        reviewgauge=__version__,
        benchmark=written.benchmark if written.cases else "",
        cases=written.cases,
        counts=dict(written.census.counts),
        funnel=rows,
        parameters={name: repr(value) for name, value in parameters.items()},
        pins={f"{signature(t.stage)}: {k}": v for t in pipeline.counts for k, v in all_pins(t.stage).items()},
        distributions=written.census.distributions(),
        spreads=written.census.spreads(),
        sections=(*sections, *audits),
        licences=find_licences(context.code, written.mirrors),
        fake=any(row.fake for row in rows),
        warnings=tuple(warnings),
    )


def _with_agreement(section: CardSection, table: Path) -> CardSection:
    """The section with how far the raters of a table agree, over the rows that at least two of them marked."""
    marks = read_marks(table)
    raters, rows = marks.raters, sorted(marks.by_row)
    values = [[float(marks.by_row[row].get(rater, np.nan)) for row in rows] for rater in raters]
    made = Table(np.array(values).reshape(len(raters), len(rows)), (0.0, 1.0), names=("n", "y"), raters=raters)
    figures: dict[str, Fact] = {"raters": len(raters)} if raters else {}
    if not made.undefined:
        measures = [PERCENT, COHEN if len(raters) == 2 else FLEISS, ALPHA["nominal"]]
        figures["rows with two raters or more"] = made.items
        for one in coefficients([(made, measures)])[0]:
            value = one.figure.value
            figures[f"agreement of the raters: {one.name}"] = one.figure.reason if value is None else round(value, 4)
    return section.model_copy(update={"figures": {**section.figures, **figures}})
