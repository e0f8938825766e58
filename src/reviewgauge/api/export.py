"""`reviewgauge export`: a run or a benchmark as another tool reads it."""

from __future__ import annotations

from pathlib import Path

from reviewgauge.api.resolve import dataset_label, find_dataset, names_dataset
from reviewgauge.core.data_card import Card
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Dataset, Progress
from reviewgauge.core.specs import load, load_recorded, plugin_name
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.manifest import MANIFEST
from reviewgauge.engine.run.scored_run import read_scored_runs
from reviewgauge.exports.writing.export import Export, Material, Written
from reviewgauge.repo.git.folders import scratch_folder


class ExportResult(Written):
    """What was written, and where."""

    schema_version: int = 1
    path: str
    export: str


def export(
    to: str | Export,
    source: str | Path | Dataset,
    out: str | Path,
    *,
    source_path: str | Path | None = None,
    progress: Progress | None = None,
) -> ExportResult:
    """Write a run folder or a benchmark as the tool `to` reads it; `source_path` says where a benchmark's files are.

    Raises UserError where `out` is there already, and for what `to` does not take.
    """
    plugin = to if isinstance(to, Export) else load(Export, to)
    name, target = plugin_name(plugin), Path(out)
    is_run = not isinstance(source, Dataset) and Path(source, MANIFEST).is_file()
    if ("run" if is_run else "benchmark") not in plugin.takes:
        shown = dataset_label(source) if isinstance(source, Dataset) else source
        found = f"{shown} is {'a' if is_run else 'no'} run folder"
        wanted = " or a ".join(sorted(plugin.takes))
        raise UserError(f"{found}, and {name} takes a {wanted}", remedy=f"reviewgauge info exports/{name}")
    if target.exists():
        raise UserError(f"{target} is there already", remedy="choose another path, or remove it")
    given = _of_run(Path(str(source))) if is_run else _of_benchmark(source, source_path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with scratch_folder(target.parent) as part:  # what was killed half-way is removed by a later call
        half = part / target.name
        written = plugin.write(given, half, progress)
        if half.exists():
            half.rename(target)
    fields = dict(written) | {"hint": written.hint.replace(str(half), str(target))}
    return ExportResult(path=str(target), export=name, **fields)


def _of_run(path: Path) -> Material:
    run = RunFolder.open(path)
    scored = read_scored_runs([path]) if run.scored_metrics() else []
    return Material(run.manifest.dataset, _card_of(run.manifest.dataset), run.cases(), run, scored)


def _of_benchmark(source: str | Path | Dataset, source_path: str | Path | None) -> Material:
    dataset = find_dataset(source if isinstance(source, Dataset) else str(source), source_path)
    return Material(dataset_label(dataset), dataset.card, list(dataset.cases()))


def _card_of(dataset: str) -> Card | None:
    word = dataset.partition(" | ")[0]
    try:
        return load_recorded(Dataset, word).card if names_dataset(word) else None
    except UserError:
        return None
