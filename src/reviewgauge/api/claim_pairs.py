"""`reviewgauge claim-pairs`: the claims of a strong model as training data for a small one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import Field

from reviewgauge.api.resolve import dataset_label, find_dataset
from reviewgauge.claims.pairs import ClaimPair, claim_pair
from reviewgauge.core.base import Record, content_id
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.files import reading, replacing
from reviewgauge.core.parsing import lines, parse_record
from reviewgauge.core.protocols import Dataset
from reviewgauge.core.records import Case
from reviewgauge.core.results import Drop
from reviewgauge.core.same_change import identity_marks
from reviewgauge.engine.build.pipeline import FAILURES
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.manifest import MANIFEST

STUDY = "crscore_study"
_HELD_OUT, _TWICE = "about a change that is held out", "about the change of an earlier case"


class ClaimPairs(Record):
    """The file of pairs. `models` counts pairs by who wrote the claims, `left_out` cases by reason.

    `held_out` are the data sets whose changes were left out, with their numbers of cases.
    """

    schema_version: int = 1
    path: str
    pairs: int
    models: Mapping[str, int] = Field(default_factory=dict)
    left_out: Mapping[str, int] = Field(default_factory=dict)
    held_out: Mapping[str, int] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()


def claim_pairs(
    benchmark: str | Path | Dataset,
    out: str | Path,
    *,
    held_out: Sequence[str | Dataset] = (),
    source: str | Path | None = None,
) -> ClaimPairs:
    """Write one conversation a case as JSON lines: system, user and, as the answer to learn, the claims of a model.

    `benchmark` is a data set, benchmark or run for which the stage `add_claims` wrote a model's claims; the files of a
    data set are in `source`. No change of `held_out` is written, nor one of `crscore_study`, on which claims are
    tested. Raises UserError where no pair is left, and where that study is not on this machine and nothing else is
    named.
    """
    path = Path(out)
    if path.exists():
        raise UserError(f"there is a file {path} already", remedy="name another one: pairs may have cost money")
    known = Counter[str]()
    marks: set[str] = set()
    notes = []
    for dataset in held_out:
        _hold_out(find_dataset(dataset), known, marks)
    if not any(name.partition("(")[0] == STUDY for name in known):
        try:
            _hold_out(find_dataset(STUDY), known, marks)
        except BadInput:
            raise
        except UserError as error:
            if not held_out:
                remedy = "reviewgauge get crscore_study, or name what is held out: --held-out DATASET"
                raise UserError(f"claims are tested on {STUDY}, and {error.problem}", remedy=remedy) from None
            notes.append(f"{STUDY} is not on this machine: its changes were not looked for")
    models, left_out = Counter[str](), _failed(benchmark)
    with replacing(path) as written:
        for pair in _pairs(_cases(benchmark, source), marks):
            if isinstance(pair, str):
                left_out[pair] += 1
                continue
            models[pair.model] += 1
            messages = [{"role": message.role.value, "content": message.text} for message in pair.messages]
            written.write(json.dumps({"messages": messages}, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        if not models:
            why = ", ".join(f"{count:,} {reason}" for reason, count in left_out.items()) or "it has no cases"
            remedy = "make them with --stage 'add_claims(model=\"openai:MODEL\")'"
            raise UserError(f"no case of it has claims to learn from: {why}", remedy=remedy)
    if any(model.startswith("fake:") for model in models):
        notes.append("a fake model wrote these claims: nothing can be learnt from them")
    return ClaimPairs(
        path=str(path),
        pairs=models.total(),
        models=dict(models),
        left_out=dict(left_out),
        held_out=dict(known),
        notes=tuple(notes),
    )


def _cases(benchmark: str | Path | Dataset, source: str | Path | None) -> Iterable[Case]:
    if isinstance(benchmark, Dataset):
        return find_dataset(benchmark, source).cases()
    if (Path(benchmark) / MANIFEST).is_file():
        return RunFolder.open(benchmark).cases()
    return find_dataset(str(benchmark), source).cases()


def _failed(benchmark: str | Path | Dataset) -> Counter[str]:
    """The changes that a build left out since no claims could be had, by what failed, such as unreadable answers."""
    file = Path() if isinstance(benchmark, Dataset) else Path(benchmark) / FAILURES
    if not file.is_file():
        return Counter()
    with reading(file) as stream:
        records = [parse_record(Drop, line, file.name, number) for number, line in lines(stream, file.name)]
    return Counter(f"without claims by the model: {one.reason}" for one in records if one.by.startswith("add_claims"))


def _hold_out(dataset: Dataset, known: Counter[str], marks: set[str]) -> None:
    for case in dataset.cases():
        known[dataset_label(dataset)] += 1
        marks |= _marks(case)


def _pairs(cases: Iterable[Case], held_out: set[str]) -> Iterator[ClaimPair | str]:
    """The pair of each case, or why it has none."""
    seen: set[str] = set()
    for case in cases:
        pair = claim_pair(case)
        if isinstance(pair, str):
            yield pair
            continue
        if case.change.repo == STUDY or not _marks(case).isdisjoint(held_out):
            yield _HELD_OUT
        elif pair.messages[-2].text in seen:
            yield _TWICE
        else:
            seen.add(pair.messages[-2].text)
            yield pair


def _marks(case: Case) -> set[str]:
    """What a change is known by: its changed lines, and its hunks, as some changes are blank lines alone."""
    lines = [line for file in case.change.files for line in (file.patch or "").split("\n") if line[:2] != "@@"]
    hunks = "".join("".join(lines).split())
    return {*identity_marks(case.id, case.change), *([f"hunks {content_id(hunks)}"] if hunks else [])}
