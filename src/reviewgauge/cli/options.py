"""Options that several verbs share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from reviewgauge.api.settings import SettingsFile
from reviewgauge.core.errors import UserError
from reviewgauge.engine.run.model_options import ModelOptions

F = TypeVar("F", bound=Callable[..., Any])


class ModelOption(click.Option):
    """An option that says how models are asked; help shows them in a group of their own."""

    group = "Models (defaults: reviewgauge.toml or [tool.reviewgauge])"


class Verb(click.Command):
    """A verb whose help shows options of a `group` apart from its own."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Its own options, then each group's."""
        groups: dict[str, list[tuple[str, str]]] = {"Options": []}
        for param in self.get_params(ctx):
            if isinstance(param, click.Option) and (record := param.get_help_record(ctx)) is not None:
                groups.setdefault(getattr(param, "group", "Options"), []).append(record)
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl(records)


verb = functools.partial(click.command, cls=Verb)


class WholeHelp(click.Group):
    """A verb whose help shows every sub-command in full."""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """All of it on one page."""
        super().format_help(ctx, formatter)
        for name, sub in self.commands.items():
            formatter.write_paragraph()
            sub.format_help(click.Context(sub, info_name=name, parent=ctx), formatter)


json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
from_option = click.option(
    "--from", "source", type=click.Path(exists=True), help="The folder or file that holds the data set's files."
)
seed_option = click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Seed of draws and resamples."
)
plugin_option = click.option(
    "--plugin",
    "--metric",
    "plugins",
    multiple=True,
    help="Code of your own that a run names, such as my.metric; else it is not run.",
)
stage_option = click.option(
    "--stage", "stages", multiple=True, help="Narrow the cases by a stage, such as first(cases=10); may be given again."
)
slice_option = click.option(
    "--slice", "slices", multiple=True, help="Break down by a fact or facet; may be given again."
)
resamples_option = click.option("--resamples", default=10_000, show_default=True, help="Bootstrap resamples.")
only_option = click.option(
    "--only",
    multiple=True,
    metavar="failed|case=ID",
    help="Do this part alone: what failed before, or cases by id (* stands for any letters); may be given again.",
)
workers_option = click.option(
    "--workers",
    metavar="N|ray|ray:ADDRESS",
    help="How many reviews are worked on at once, or the Ray cluster that works on them. "
    "[default: as many as --in-flight for what asks a model, else 2]",
)
retry_option = click.option(
    "--retry-failed", is_flag=True, help="Measure what is missing, and again what failed before."
)
_TABLES = {
    "csv": "Also write the table as CSV, nothing rounded; further tables beside it.",
    "latex": "Also write the tables for a paper.",
    "markdown": "Also write the tables for a README or a pull request.",
}
_POSITIVE = click.FloatRange(min=0, min_open=True)
_model_option = functools.partial(click.option, cls=ModelOption)
_MODEL_OPTIONS = (
    _model_option(
        "--budget",
        type=_POSITIVE,
        help="Dollars that may be spent, with what the run folder (if any) cost before; stops before a call "
        "that could break it.",
    ),
    _model_option("--dry-run", is_flag=True, help="Ask no model: count the calls and estimate their price."),
    _model_option(
        "--no-cache", "cache", flag_value=False, default=True, help="Ask again, and keep no answer for other runs."
    ),
    _model_option("--in-flight", default=16, show_default=True, type=click.IntRange(min=1), help="Calls at once."),
    _model_option(
        "--rpm", "--requests-per-minute", "requests_per_minute", type=_POSITIVE, help="Requests a minute, per endpoint."
    ),
    _model_option(
        "--tpm", "--tokens-per-minute", "tokens_per_minute", type=_POSITIVE, help="Tokens a minute, per endpoint."
    ),
    _model_option("--prices", type=click.Path(dir_okay=False), help="Prices of models, as JSON."),
    _model_option(
        "--replay", type=click.Path(), help="Answer from the calls of this run folder, or calls.jsonl, alone."
    ),
)


MODEL_OPTIONS = tuple(field.name for field in fields(ModelOptions))


def settings_in_force() -> SettingsFile:
    """What the settings file says, as `main` read it; what it says of options is their default already."""
    return click.get_current_context().find_object(SettingsFile) or SettingsFile()


def refuse(ctx: click.Context, where: str, *names: str) -> None:
    """Raise UserError for an option or argument that was given though it has no effect `where`: `with --on`."""
    for param in ctx.command.params:
        given = ctx.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE
        if param.name in names and given and ctx.params.get(param.name):
            shown = param.opts[-1] if isinstance(param, click.Option) else param.human_readable_name
            raise UserError(f"{shown} has no meaning {where}")


def table_options(command: F) -> F:
    """The options of a verb that writes its tables into files; the function gets them as `files`."""

    @functools.wraps(command)
    def with_files(*args: Any, **options: Any) -> Any:
        return command(*args, files={name: options.pop(name) or "" for name in _TABLES}, **options)

    for name, words in reversed(_TABLES.items()):
        with_files = click.option(f"--{name}", type=click.Path(dir_okay=False), metavar="FILE", help=words)(with_files)
    return with_files  # type: ignore[return-value]  # the same command, with options


def model_options(command: F) -> F:
    """The options of a verb that asks models; the function gets them as one argument `models: ModelOptions`."""

    @functools.wraps(command)
    def with_models(*args: Any, **options: Any) -> Any:
        models = ModelOptions(**{field.name: options.pop(field.name) for field in fields(ModelOptions)})
        return command(*args, models=models, **options)

    for option in reversed(_MODEL_OPTIONS):
        with_models = option(with_models)
    return with_models  # type: ignore[return-value]  # the same command, with options
