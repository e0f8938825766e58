"""What a shell suggests behind TAB. Names come from the files that hold them: no verb is imported for a value."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import click
from click.shell_completion import CompletionItem

Words = Callable[[], list[str]]
_PACKAGE = Path(__file__).parents[1]
_FOLDERS = 2_000  # looked into for runs
_DEPTH = 4


def _named(folder: str, suffix: str = ".py") -> Words:
    return lambda: sorted(one.stem for one in _PACKAGE.joinpath(folder).glob(f"[!_]*{suffix}"))


def _runs() -> list[str]:
    """The run folders below the current one."""
    found: list[str] = []
    for number, (folder, inner, files) in enumerate(os.walk(".")):
        path = Path(folder)
        deep = "manifest.json" in files or len(path.parts) >= _DEPTH
        inner[:] = [] if deep else sorted(name for name in inner if name[0] != "." and name != "node_modules")
        found += [str(path)] if "manifest.json" in files else []
        if number >= _FOLDERS:
            break
    return found


def _everything() -> list[str]:
    return sorted({name for kind in KINDS for name in _named(kind)()} | set(RECIPES())) + _runs()


_KINDS = "datasets stages reviewers metrics formats judges contexts operators exports forges"
KINDS = (*_KINDS.split(" "),)
DATASETS, STAGES, REVIEWERS, METRICS, _, JUDGES, CONTEXTS, _, EXPORTS, _ = map(_named, KINDS)
RECIPES = _named("stages/recipes", ".toml")
_FLAGS = """--all-pairs --correct --derived --dry-run --explain --help --json --lower --no-cache --no-report --rankings
--replace --report --retry-failed --sweep --trust --with-code --with-texts --without-texts --yes -h"""
FLAGS = frozenset(_FLAGS.split())
OPTIONS: dict[str, Words] = {  # options that are neither here nor flags take a file or free text
    **dict.fromkeys(("--metric", "--plugin"), METRICS),
    **dict.fromkeys(("--baseline", "--replay"), _runs),
    **dict.fromkeys(("--train", "--on"), DATASETS),
    **dict(zip(("--recipe", "--stage", "--judge", "--context"), (RECIPES, STAGES, JUDGES, CONTEXTS), strict=True)),
}
ARGUMENTS: dict[str, tuple[Words, ...]] = {  # the last one again for all that follow
    **dict.fromkeys(("review", "evolve"), (DATASETS, REVIEWERS)),
    **dict.fromkeys(("doctor", "validate"), (DATASETS, METRICS)),
    **dict.fromkeys(("agree", "compare", "gate", "report", "bundle", "plan", "view"), (_runs,)),
    "score": (_runs, METRICS),
    "export": (EXPORTS, _runs),
    "get": (DATASETS,),
    "list": (lambda: [*KINDS, "recipes"],),
    "info": (_everything,),
}
GROUPS = ("annotate", "cache")


class VerbToComplete(click.Command):
    """Stands for a verb while a shell asks; the verb itself is imported for the names of its options alone."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the words as they are."""
        ctx.args = args
        return args

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """What may follow: names of options, the values of one, or arguments; names of files where nothing fits."""
        if incomplete.startswith("-"):
            verb: click.Command = import_module(f"reviewgauge.cli.{self.name}").command
            with click.Context(verb, info_name=self.name, resilient_parsing=True) as inner:
                return verb.shell_complete(inner, incomplete)
        words = [one for one in self._words(ctx.args)() if one.startswith(incomplete)]
        return [CompletionItem(one) for one in words] or [CompletionItem(incomplete, type="file")]

    def _words(self, before: list[str]) -> Words:
        expected, count = "", 0
        for word in before:
            count += not expected and not word.startswith("-")
            expected = word if word.startswith("-") and word not in FLAGS and "=" not in word else ""
        found = ARGUMENTS.get(self.name or "", (list,))
        return OPTIONS.get(expected, list) if expected else found[min(count, len(found) - 1)]
