"""Whether the texts of a run may be passed on, and what was left out of a bundle, made again from one's own data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from reviewgauge.api.resolve import find_dataset
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label
from reviewgauge.core.protocols import Dataset, Stage
from reviewgauge.core.records import Case
from reviewgauge.core.results import Outcome
from reviewgauge.core.specs import load_recorded, names, parse_spec
from reviewgauge.engine.build.pipeline import apply_stages
from reviewgauge.engine.bundle.compare import Contents
from reviewgauge.engine.bundle.contents import RunEntry, Texts, is_recorded, may_be_passed_on
from reviewgauge.engine.bundle.rescore import StoredRun, check_withheld
from reviewgauge.engine.run.folder import CASES, LABELS, REVIEWS, RunFolder
from reviewgauge.engine.run.manifest import MANIFEST, benchmark_hash

OWN = "that of whoever made it"


class Policy(NamedTuple):
    """Which texts of a run go into a bundle, why, and the licence of its data."""

    texts: Texts
    why: str
    licence: str


def policy_of(dataset: str, wanted: bool | None) -> Policy:
    """What to do with the texts of a run on `dataset` (as its manifest names it). `wanted` overrules the licence."""
    word = dataset.partition(" | ")[0]
    licence, allowed = OWN, True
    if _is_plugin(word):
        try:
            card = load_recorded(Dataset, word).card
            licence, allowed = card.licence, may_be_passed_on(card)
        except UserError:
            licence, allowed = "not known: its card cannot be read here", False
    if wanted is False:
        return Policy("none", "left out as asked (--without-texts)", licence)
    if wanted is True:
        return Policy("all", "" if allowed else "packed as asked (--with-texts)", licence)
    if allowed:
        return Policy("all", "", licence)
    return Policy("own", f"{word} is under no licence that lets everybody pass its texts on ({licence})", licence)


def _is_plugin(word: str) -> bool:
    """Whether the manifest names a data set; files of one's own stand there by their name."""
    try:
        name = parse_spec(word).name
    except UserError:
        return False
    return name in names(Dataset.kind) or ("." in name and not word.endswith((".jsonl", ".csv")))


class GivenData(NamedTuple):
    """What one's own copy of the data holds of a run."""

    cases: Sequence[Case]
    outcomes: Sequence[Outcome]
    labels: Sequence[Label]


def from_copy(entry: RunEntry, systems: Mapping[str, str], source: Path) -> GivenData:
    """Cases, reviews and labels of a run from `source`: the files of its data set, or the run folder itself.

    `systems` are the recorded systems and the spec that their reviews came under.
    """
    if (source / MANIFEST).is_file():
        run = RunFolder.open(source)
        found = run.outcomes()
        return GivenData(run.cases(), found, [label for case in run.cases() for label in case.labels])
    word, *stages = entry.dataset.split(" | ")
    dataset = find_dataset(load_recorded(Dataset, word), source) if _is_plugin(word) else find_dataset(str(source))
    cases, _ = apply_stages(dataset.cases(), [load_recorded(Stage, spec) for spec in stages])
    outcomes: list[Outcome] = []
    labels = [label for case in cases for label in case.labels]
    known, there = {case.id for case in cases}, {label.to_line() for label in labels}
    for spec in dict.fromkeys(systems.values()):
        reviews, judged = dataset.recorded(**parse_spec(spec).parameters)
        outcomes += [
            Outcome(case=review.case, system=review.system, attempt=review.attempt, review=review)
            for review in reviews
            if review.case in known and systems.get(review.system) == spec
        ]
        labels += [one for one in judged if one.subject.case in known and one.to_line() not in there]
    return GivenData(cases, outcomes, labels)


def whole_run(contents: Contents, stored: StoredRun, target: Path, source: Path | None) -> Path | None:
    """A run folder without scores, ready to be measured again; None where texts are left out and no data was given.

    Raises Differs where the data given are not those that the bundle was made from.
    """
    entry = stored.entry
    if entry.texts != "all" and source is None:
        return None
    folder = target / entry.name
    folder.mkdir(parents=True)
    here = contents.folder / entry.folder
    manifest = (here / MANIFEST).read_bytes()
    (folder / MANIFEST).write_bytes(manifest)
    if entry.texts == "all":
        for name in (CASES, REVIEWS, LABELS):
            (folder / name).write_bytes((here / name).read_bytes())
        return folder
    assert source is not None
    given = from_copy(entry, _recorded(contents, entry), source)
    if (found := benchmark_hash(given.cases)) != entry.benchmark:
        raise contents.differs(f"{entry.folder}/{CASES} (from the data)", entry.benchmark, found, column="benchmark")
    there = {(o.system, o.case, o.attempt) for o in stored.outcomes}
    came = [outcome for outcome in given.outcomes if (outcome.system, outcome.case, outcome.attempt) not in there]
    check_withheld(contents, entry, "reviews", came)
    check_withheld(contents, entry, "labels", given.labels)
    bare = [case.model_copy(update={"labels": ()}) for case in given.cases]
    (folder / CASES).write_bytes(b"".join(case.to_line() for case in bare))
    (folder / REVIEWS).write_bytes(b"".join(outcome.to_line() for outcome in [*came, *stored.outcomes]))
    (folder / LABELS).write_bytes(b"".join(label.to_line() for label in given.labels))
    return folder


def _recorded(contents: Contents, entry: RunEntry) -> dict[str, str]:
    """The systems whose reviews came with the data set, and the spec that they came under."""
    systems = contents.manifest_of(entry).systems
    return {name: system.signature for name, system in systems.items() if is_recorded(system)}
