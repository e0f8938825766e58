"""`reviewgauge review RUN --edit SYSTEM`: a prompt in new words on the same cases, and what became different."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from reviewgauge.analysis.compare.changed_comments import changed_comments
from reviewgauge.analysis.compare.compare import compare
from reviewgauge.core.base import Record
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import write_whole
from reviewgauge.core.protocols import Metric, Progress, Reviewer
from reviewgauge.core.reports.gate import ChangedComments
from reviewgauge.core.reports.leaderboard import ComparisonTable
from reviewgauge.core.specs import import_named, in_shell, load, load_from, signature
from reviewgauge.core.trust import FromFile
from reviewgauge.engine.measure import usual_metrics
from reviewgauge.engine.review import ReviewTotals
from reviewgauge.engine.review import review as run_reviewer
from reviewgauge.engine.run.executors import Interruption
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.manifest import SystemEntry
from reviewgauge.engine.run.model_options import ModelOptions, Spending, spending
from reviewgauge.engine.run.progress import with_cost
from reviewgauge.engine.run.scored_run import read_scored_runs
from reviewgauge.engine.run.workers import Workers, executor_for
from reviewgauge.engine.score import ScoreTotals, measure_run
from reviewgauge.reviewers.prompt import Prompt

_METRIC_REMEDY = "name code that you trust with --plugin, or take such scores out: reviewgauge info {} --remove METRIC"


class EditResult(Record):
    """The new version of a prompt: its name, its file, what it did, and per metric how it differs from the old one.

    Without `comparisons` it was stopped before its end.
    """

    schema_version: int = 1
    run: str
    system: str
    before: str
    template: str
    totals: tuple[ReviewTotals | ScoreTotals, ...]
    comparisons: tuple[ComparisonTable, ...] = ()
    changes: tuple[ChangedComments, ...] = ()
    spending: Spending = Spending()


def edit(
    run: str | Path,
    system: str,
    words: str | Path | Callable[[str], str],
    *,
    reviewer: str | None = None,
    plugins: Sequence[str] = (),
    workers: Workers = None,
    models: ModelOptions | None = None,
    stop: Interruption | None = None,
    progress: Progress | None = None,
) -> EditResult:
    """Review the cases of a run with new words for the prompt of `system`, and compare the two.

    `words` is a file, or a function from the old text to the new one, which is then written to `NAME-2.txt` in the
    current folder. The new version is the system `NAME-2` of the same run, scored with the metrics that the run has.
    `reviewer` is the old one's spec, where the run's author may not decide what it says; `plugins` is code outside the
    package that the run's metrics may use. The same words go on where they stopped.
    """
    for spec in plugins:
        import_named(spec)
    models, stop = models or ModelOptions(), stop or Interruption()
    if models.dry_run:
        raise UserError("--edit and --dry-run cannot be combined", remedy="leave one out")
    with RunFolder.open(run, write=True) as folder:
        systems = folder.manifest.systems
        if system not in systems:
            raise UserError(f"{run} holds no system {system!r}", remedy=f"there are: {', '.join(systems)}")
        old = _prompt_of(str(run), system, systems[system], reviewer)
        origin = FromFile(str(run), Path(), remedy=_METRIC_REMEDY.format(in_shell(str(run))))
        known = [load_from(Metric, spec, origin) for spec in folder.scored_metrics()]  # before anybody writes words
        metrics = known or [load(Metric, spec) for spec in usual_metrics(folder.cases())]
        new = _reworded(old, system, words, folder)
        attempts = len({key[2] for key in folder.stored_outcomes().keys if key[1] == system}) or 1
        with models.client(folder) as client:
            executor = executor_for(new, workers, models.in_flight, otherwise=2)
            shown = with_cost(progress, client)
            totals = run_reviewer(folder, new, executor=executor, attempts=attempts, stop=stop, progress=shown)
            paid = spending(client)
        made = EditResult(
            run=str(run), system=new.name, before=system, template=new.template, totals=(totals,), spending=paid
        )
        if stop.is_set() or totals.all_failed:
            return made
        measured = measure_run(folder, metrics, models, stop=stop, progress=progress)
        made = made.model_copy(update={"totals": (totals, *measured.totals)})
    if stop.is_set() or any(one.all_failed for one in measured.totals):
        return made
    return made.model_copy(update=_difference(str(run), metrics, (new.name, system)))


def _prompt_of(run: str, system: str, entry: SystemEntry, spec: str | None) -> Prompt:
    remedy = f"if you trust it, write its spec yourself: reviewgauge review {in_shell(run)} SPEC --edit {system}"
    origin = FromFile(run, Path(), remedy=remedy)
    name = (spec or entry.signature).partition("(")[0]
    found = None
    if name == "prompt":
        found = load(Reviewer, spec) if spec else load_from(Reviewer, entry.signature, origin)
    if not isinstance(found, Prompt):
        raise UserError(f"{system} is {name}, whose words cannot be edited", remedy="name a system of prompt(...)")
    return replace(found, prompt="fenced" if found.prompt == "published" else found.prompt)


def _reworded(old: Prompt, system: str, words: str | Path | Callable[[str], str], folder: RunFolder) -> Prompt:
    """The prompt with a new name and new words. Raises UserError where the words are those of the old one."""
    systems, base = folder.manifest.systems, re.sub(r"-\d+$", "", old.name) if old.name else "prompt"
    pattern = re.sub(r"[^\w.-]+", "-", base)
    number = 2
    while f"{base}-{number}" in systems or (callable(words) and Path(f"{pattern}-{number}.txt").exists()):
        number += 1
    name, start = f"{base}-{number}", old.words(bool(old.context)).text
    if callable(words):
        if old.template:
            start = Path(old.template).read_text("utf-8-sig")
        text, file = words(start), Path(f"{pattern}-{number}.txt")
        if text.strip() == start.strip():
            raise UserError(f"the words of {system} are unchanged", remedy="change something, and save it")
        write_whole(file, text.encode())
    else:
        file = Path(words)
    new = replace(old, name=name, template=str(file))
    if wrong := new.template_problem(new.words(bool(new.context))):
        raise UserError(f"{file}: {wrong}", remedy=f"mend it, then --edit {system} --template {file}")
    pin = new.pins()["prompt"]
    if pin == systems[system].pins.get("prompt") or (not old.template and new.words().text == old.words().text):
        raise UserError(f"{file} has the words of {system}: they are unchanged", remedy="change something in it")
    for known, entry in systems.items():  # it was stopped, and goes on
        if entry.signature == signature(replace(new, name=known)) and entry.pins.get("prompt") == pin:
            return replace(new, name=known)
    return new


def _difference(run: str, metrics: list[Metric], pair: tuple[str, str]) -> dict[str, object]:
    comparisons, changes = [], []
    for metric in metrics:
        (scored,) = read_scored_runs([run], signature(metric))
        comparisons.append(compare(scored.only(pair), pairs=[pair]))
        both = ({one.case for one in scored.scores if one.system == name} for name in pair)
        changes.append(ChangedComments(**changed_comments(scored, pair, set.intersection(*both))))
    return {"comparisons": tuple(comparisons), "changes": tuple(changes)}
