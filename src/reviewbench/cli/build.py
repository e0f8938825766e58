"""`reviewbench build`: a benchmark out of a repository, by a recipe."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from reviewbench import __version__
from reviewbench.cli._model_options import ModelOptions, Spending, model_options, spending
from reviewbench.cli._output import Progress, emit, json_option, note, progress_bar
from reviewbench.cli._stopping import end, executor_for, stoppable, with_bill
from reviewbench.core.base import Record
from reviewbench.core.building import CardSection, Decision
from reviewbench.core.cards import BuildCard, FunnelRow
from reviewbench.core.errors import UserError
from reviewbench.core.plugins import import_named, signature
from reviewbench.engine.audit import audit_stage, check_tables
from reviewbench.engine.build import Line
from reviewbench.engine.built import Written, refuse_foreign, write_benchmark
from reviewbench.engine.card import find_licences
from reviewbench.engine.interruption import Interruption
from reviewbench.engine.journal import write_whole
from reviewbench.engine.recipes import Recipe, Step, make_stages, read_recipe, set_parameters
from reviewbench.engine.workplace import Stopped, Workplace
from reviewbench.models.chat import Door
from reviewbench.views.build_card import funnel_table, markdown

CARD_JSON, CARD_MD = "card.json", "card.md"
GITHUB = "github:"
SEED = 0  # of the draws for an audit


class BuildResult(Record):
    """What a build did. `card` is None where it was stopped before all went through: nothing was written then.

    `foretold` is the funnel of a `--dry-run`, which writes nothing either: behind a stage that asks a model it is a
    guess.
    """

    schema_version: int = 1
    folder: str
    card: BuildCard | None = None
    foretold: tuple[FunnelRow, ...] = ()
    reviews: int = 0
    stopped: str = ""
    spending: Spending = Spending()


def build(
    source: str | Path = ".",
    *,
    out: str | Path,
    recipe: str | None = None,
    settings: dict[str, str] | None = None,
    stages: Sequence[str] = (),
    reviews_by: Sequence[str] = (),
    audit: int = 0,
    models: ModelOptions | None = None,
    stop: Interruption | None = None,
    progress: Progress | None = None,
) -> BuildResult:
    """Build a benchmark from `source`, a path to a git repository or `github:owner/name`, into the folder `out`.

    `recipe` is the name of one that ships (`reviewbench list recipes`) or a TOML file, `settings` are its parameters,
    `stages` are added at its end. `reviews_by` names accounts whose posted reviews are taken in. Of each stage that
    asks a model, `audit` decisions are drawn for people to check. The same call goes on where a killed one stopped,
    and extends the benchmark when the source has grown.
    """
    word = str(source)
    found = read_recipe(recipe or _usual_recipe(word, reviews_by))
    given = dict(settings or {})
    if reviews_by:
        given["reviews_by"] = repr(tuple(reviews_by))
    parameters = set_parameters(found, given)
    for spec in stages:
        import_named(spec)
    found = found.model_copy(
        update={"stage": (*found.stage, *(Step(use=spec, why="given on the command line") for spec in stages))}
    )
    plan = make_stages(found, parameters, [*given.values(), *stages])
    refuse_foreign(Path(out))
    check_tables(Path(out))
    how, stop = models or ModelOptions(), stop or Interruption()
    place = Workplace(Path(out), word, told=_teller(progress), stop=stop)
    try:
        with how.door(place) as door:
            line = Line(
                place, plan, lambda stage: executor_for(stage, None, how.in_flight, otherwise=2), stop, how.dry_run
            )
            place.tell_through(_teller(with_bill(progress, door)))
            try:
                if how.dry_run:
                    return _foretold(str(out), line, door)
                written = write_benchmark(place.folder, line.run())
            except Stopped:
                return BuildResult(folder=str(out), stopped=stop.why, spending=spending(door))
            finally:
                place.sync()
            card = _card(found, {name: repr(value) for name, value in parameters.items()}, place, line, written, audit)
            line.keep_ledgers()
            write_whole(place.folder / CARD_JSON, card.model_dump_json(indent=2).encode() + b"\n")
            write_whole(place.folder / CARD_MD, markdown(card).encode())
            return BuildResult(folder=str(out), card=card, reviews=written.reviews, spending=spending(door))
    finally:
        Line.clear(place)
        place.close()


def _foretold(out: str, line: Line, door: Door) -> BuildResult:
    """Let everything go through, and keep nothing of it: what the fake model says is no label."""
    for _ in line.run():
        pass
    return BuildResult(folder=out, foretold=tuple(tally.row() for tally in line.tallies), spending=spending(door))


def _usual_recipe(source: str, reviews_by: Sequence[str]) -> str:
    if not source.startswith(GITHUB):
        if reviews_by:
            raise UserError("a git history holds no reviews that were posted", remedy="name github:OWNER/NAME")
        return "local"
    return "hosted_reviews" if reviews_by else "pull_requests"


def _teller(progress: Progress | None) -> Callable[[str, int, int | None], None] | None:
    if progress is None:
        return None
    return lambda label, done, total: progress(done, total or done, label)


def _card(
    recipe: Recipe, parameters: dict[str, str], place: Workplace, line: Line, written: Written, audit: int
) -> BuildCard:
    rows = tuple(tally.row() for tally in line.tallies)
    audits: list[CardSection] = []
    for number, tally in enumerate(line.tallies):
        if tally.decisions or tally.stage.models:
            audits += _audit(place.folder, signature(tally.stage), line.decisions(number), audit)
    warnings = [warning for section in place.sections for warning in section.warnings]
    warnings += [f"{len(written.twice)} cases had the id of another and were left out"] if written.twice else []
    failed = sum(row.failed for row in rows)
    warnings += [f"{failed} candidates failed and are not in it: the same command tries them again"] if failed else []
    return BuildCard(
        title=recipe.title,
        summary=recipe.summary,
        recipe=recipe.name,
        recipe_source=recipe.source,
        source=place.source,
        built=datetime.now(UTC).replace(microsecond=0),
        reviewbench=__version__,
        benchmark=written.benchmark if written.cases else "",
        cases=written.cases,
        counts=dict(written.census.counts),
        funnel=rows,
        parameters=parameters,
        pins={f"{signature(t.stage)}: {k}": v for t in line.tallies for k, v in t.stage.pins().items()},
        distributions=written.census.distributions(),
        spreads=written.census.spreads(),
        sections=(*place.sections, *audits),
        licences=find_licences(place.code, written.mirrors),
        fake=any(row.fake for row in rows),
        warnings=tuple(warnings),
    )


def _audit(folder: Path, by: str, decisions: Iterator[Decision], n: int) -> list[CardSection]:
    section = audit_stage(folder, by, decisions, n, SEED)
    return [] if section is None else [section]


@click.command("build")
@click.argument("source", default=".")
@click.option("-o", "--out", required=True, type=click.Path(file_okay=False), help="The folder of the benchmark.")
@click.option(
    "--recipe", help="A recipe's name, or a TOML file. [default: local for a path, pull_requests for github:]"
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Set a parameter of the recipe.")
@click.option("--model", help="The model of the recipe's stages that ask one: --set model=SPEC.")
@click.option("--stage", "stages", multiple=True, help="A further stage at the end; may be given again.")
@click.option(
    "--reviews-by", multiple=True, metavar="LOGIN", help="Take in what this account posted; may be given again."
)
@click.option(
    "--audit",
    default=0,
    metavar="N",
    type=click.IntRange(min=0),
    help="Draw N decisions of each model for people to check.",
)
@model_options
@json_option
def command(
    source: str,
    out: str,
    recipe: str | None,
    settings: Sequence[str],
    model: str | None,
    stages: Sequence[str],
    reviews_by: Sequence[str],
    audit: int,
    models: ModelOptions,
    as_json: bool,
) -> None:
    """Build a benchmark from SOURCE: a git repository on this machine, or github:OWNER/NAME.

    Without --recipe a local history needs no key and no network: changes that later needed a fix, and ones that never
    did. The funnel and what is uncertain about the labels stand on the benchmark's card (card.md). Killed or
    interrupted, the same command goes on where it stopped; run again later, it takes in what is new.
    """
    given = dict(_setting(word) for word in settings)
    if model is not None:
        given["model"] = repr(model)
    with stoppable() as stop:
        with progress_bar("building", quiet=as_json) as progress:
            result = build(
                source,
                out=out,
                recipe=recipe,
                settings=given,
                stages=stages,
                reviews_by=reviews_by,
                audit=audit,
                models=models,
                stop=stop,
                progress=progress,
            )
        emit(result, as_json, lambda: _shown(result))
        end(stop)
        if result.card is not None and not result.card.cases:
            raise click.exceptions.Exit(1)


def _setting(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not equals:
        raise UserError(f"--set {word} has no value", remedy="write --set NAME=VALUE")
    return name, value


def _shown(result: BuildResult) -> object:
    from rich.console import Group
    from rich.markup import escape

    card, lines = result.card, []
    if result.spending.sentence:
        lines.append(result.spending.sentence)
    if result.foretold:
        lines.append(f"{result.folder}: a dry run; no benchmark was written")
        return Group(funnel_table(result.foretold), escape("\n".join(lines)))
    if card is None:
        return escape("\n".join([*lines, f"{result.folder}: not finished, nothing was written"]))
    for warning in card.warnings:
        note(f"note: {warning}")
    where = shlex.quote(result.folder)
    if card.cases:
        count = card.counts
        held = ", ".join(
            f"{count[name]} {name}" for name in ("changed", "clean", "without a verdict") if count.get(name)
        )
        findings = f"{count.get('findings', 0)} findings"
        lines.append(f"{result.folder}: {card.cases} cases ({held}), {findings}, benchmark {card.benchmark[:12]}")
        if result.reviews:
            lines.append(f"{result.reviews} posted reviews: reviewbench review {where} recorded -o RUN")
        lines.append(f"card: {result.folder}/{CARD_MD}; every drop with its reason: {result.folder}/drops.jsonl")
        lines.append(f"next: reviewbench doctor {where}")
    else:
        lines.append(f"{result.folder}: no case is left; the funnel and {result.folder}/drops.jsonl say why")
    return Group(funnel_table(card.funnel), escape("\n".join(lines)))
