"""The `reviewgauge` command: finds the verb, and turns a user's errors into one line and exit code 2."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reviewgauge.core.errors import UserError, crash_message, in_own_code, one_line
from reviewgauge.core.version import __version__

if TYPE_CHECKING:
    from reviewgauge.api.settings import SettingsFile

GO_ON = "interrupted: nothing finished is lost, run the same command again to go on"
JOURNEYS = {
    "Benchmarks": {
        "get": "Fetch a data set from its public origin, or take it from a folder.",
        "build": "Build a benchmark out of a git history, or out of pull requests on GitHub or GitLab.",
        "check": "Check a JSON lines file record by record, or every number of a bundle.",
        "doctor": "Probe whether a benchmark and a metric can be trusted.",
    },
    "Measure": {
        "review": "Run reviewers on a benchmark, or import recorded reviews, into a run folder.",
        "score": "Measure the reviews of a run and print the leaderboard.",
        "compare": "Compare systems pairwise on the cases they share, or several attempts with one.",
        "gate": "Say whether a candidate is not worse than a baseline, for CI.",
        "export": "Write a run or a benchmark as another tool reads it.",
        "report": "Write one self-contained HTML report of one or more runs.",
    },
    "People": {
        "annotate": "Let people judge in a browser, blind, and get their labels.",
        "agree": "Measure how far raters agree, humans and models in one table.",
        "validate": "Compare metrics or judges with human judgements; fit them, or a threshold, to these.",
    },
    "Papers": {
        "study": "Run a grid of benchmarks, reviewers and metrics from one file, and make a paper's tables.",
        "plan": "Say how many changes, attempts and raters a study takes.",
        "bundle": "Pack runs and their tables into one archive whose every number can be recomputed.",
        "evolve": "Improve a reviewer's prompt and context against a benchmark, and say honestly what came of it.",
    },
    "Look": {
        "view": "Look at runs in a browser: who leads, whether that is sure, and every comment on its line.",
        "demo": "Review, score and report the shipped sample, from nothing to a leaderboard.",
        "list": "List the data sets, stages, reviewers, metrics, formats, judges, contexts and recipes.",
        "info": "Show a data set's card, what a plug-in takes, a run's scores, or the settings in force.",
        "init": "Write reviewgauge.toml with every setting, its meaning and its default.",
        "cache": "Show, clear or export the stored answers of models, which keep a call from being paid for twice.",
    },
}
VERBS = {verb: line for verbs in JOURNEYS.values() for verb, line in verbs.items()}


class Verbs(click.Group):
    """Imports a verb's module only when that verb is called, so that --help answers at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs, journey by journey."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb's command, imported now; for a shell that completes a word, one that stands for it."""
        if ctx.resilient_parsing:
            return _to_complete(cmd_name)
        if cmd_name not in VERBS:
            raise UserError(f"there is no verb {cmd_name!r}", remedy=_meant(cmd_name, VERBS) or "reviewgauge --help")
        return _imported(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of verbs, written without importing any of them."""
        for journey, verbs in JOURNEYS.items():
            with formatter.section(journey):
                formatter.write_dl(list(verbs.items()))


def _imported(verb: str) -> click.Command:
    command = import_module(f"reviewgauge.cli.{verb}").command
    assert isinstance(command, click.Command)
    return command


def _to_complete(word: str) -> click.Command | None:
    from reviewgauge.cli.completion import GROUPS, VerbToComplete

    if word in GROUPS and word in os.environ.get("COMP_WORDS", "").split():
        return _imported(word)
    return VerbToComplete(word, help=VERBS[word]) if word in VERBS else None


@click.command(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="reviewgauge")
def group() -> None:
    """How good is this code reviewer, on these changes?

    Every verb answers --help (`reviewgauge help VERB`), prints its result as JSON with --json, and is also a function
    of the Python package with the same name.
    """


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code. 2 is a user's error, 130 an interruption."""
    _settle_streams()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's threads wait for each other longer than they work
    words = sys.argv[1:] if arguments is None else list(arguments)
    settings: SettingsFile | None = None
    if words[:1] == ["help"]:  # as other programs do
        words = [*words[1:], "--help"]
    try:
        if words[1:] and not {"-h", "--help"} & set(words):
            settings = _settings()
        defaults = _defaults(settings) if settings is not None else {}
        result = group.main(
            args=words, prog_name="reviewgauge", standalone_mode=False, default_map=defaults, obj=settings
        )
    except UserError as error:
        click.echo(f"error: {error}", err=True)
        return 2
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return 2
    except click.ClickException as error:
        hint = f" ({_hint(error, words)})" if isinstance(error, click.UsageError) else ""
        click.echo(f"error: {one_line(error.format_message(), 500)}{hint}", err=True)
        return 2
    except (KeyboardInterrupt, click.Abort) as error:
        if isinstance(error.__cause__, EOFError):  # click takes the end of a file for Ctrl-D
            click.echo(f"error: a file ends too early: {one_line(str(error.__cause__))}", err=True)
            return 2
        click.echo(GO_ON, err=True)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        click.echo(f"error: {one_line(where + (error.strerror or str(error)))}", err=True)
        return 2
    except Exception as error:
        if not in_own_code(error):  # a bug of ours, whose trace a report needs
            raise
        click.echo(f"error: {one_line(crash_message(error))}", err=True)
        return 2
    return result if isinstance(result, int) else 0


def _meant(word: str, known: Iterable[str], folder: str = "") -> str:
    from reviewgauge.core.specs import near_names

    near = near_names(word, list(known))
    return f"did you mean {one_line(str(Path(folder, near[0])), 200)}?" if near else ""


def _hint(error: click.UsageError, words: list[str]) -> str:
    """What may have been meant by the word that was not taken, or where help is."""
    kind = error.param.type if isinstance(error, click.BadParameter) and error.param else None
    word = next((one for one in words if one and repr(one) in error.message), "")
    if word and isinstance(kind, click.Choice):
        return _meant(word, kind.choices) or "see --help"
    path = Path(word)
    if not path.name or not isinstance(kind, click.Path):
        return "see --help"
    beside = (one.name for one in path.parent.glob("*") if kind.file_okay or one.is_dir())
    return _meant(path.name, beside, str(path.parent)) or "see --help"


def _settings() -> SettingsFile | None:
    """The settings file in force; looking for one imports nothing where there is none."""
    named = "REVIEWGAUGE_SETTINGS" in os.environ
    if not named and not any(Path(name).is_file() for name in ("reviewgauge.toml", "pyproject.toml")):
        return None
    from reviewgauge.api.settings import read_settings

    return read_settings()


def _defaults(settings: SettingsFile) -> dict[str, object]:
    """What it says of options, verb by verb. `build` and `review` take the rest as it is."""
    stated = settings.stated()
    only = {"evolve": "model", "score": "metrics"}
    apart = {*only.values(), "test", "recipes", "names"}
    shared = {key: value for key, value in stated.items() if key not in apart}
    return {verb: shared | {key: stated[key] for key in [only.get(verb, "")] if key in stated} for verb in VERBS}


def _settle_streams() -> None:
    """Output that was closed goes nowhere, and a character that the terminal cannot show is a question mark."""
    sys.stdout = sys.stdout or Path(os.devnull).open("w")  # noqa: SIM115  (open as long as the process)
    sys.stderr = sys.stderr or Path(os.devnull).open("w")  # noqa: SIM115  (open as long as the process)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower() not in ("utf-8", "utf8"):
            stream.reconfigure(errors="replace")
