"""Writes the claims of a strong model as conversations to fine-tune a small model on (finetune_claims.py).

    python scripts/claim_pairs.py BENCHMARK -o pairs.jsonl

One JSON line a change, in the chat format of transformers and TRL. BENCHMARK is a benchmark or a run that was made with
the stage `add_claims` and a model. The lines hold the prompts, and so the code in them. Source: CRScore
(arXiv:2409.19801), 3.2 and Figure 3: Magicoder-S-DS-6.7B learns from GPT-4's claims about 1,000 changes of
CodeReviewer's validation set, none of which is in the test set.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from reviewgauge.api.resolve import dataset_label, find_dataset
from reviewgauge.claims.model import CLAIM, IMPLICATION, claims_messages, read_claims, written_claims
from reviewgauge.core.base import Record, content_id
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.files import reading, replacing
from reviewgauge.core.parsing import lines, parse_record
from reviewgauge.core.protocols import Dataset
from reviewgauge.core.records import Case, Claim
from reviewgauge.core.results import Drop
from reviewgauge.core.same_change import identity_marks
from reviewgauge.engine.build.pipeline import FAILURES
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.manifest import MANIFEST
from reviewgauge.models.answers.text import Unreadable
from reviewgauge.models.request.messages import Message, assistant
from reviewgauge.repo.syntax.languages import case_language

STUDY = "crscore_study"
_HELD_OUT, _TWICE = "about a change that is held out", "about the change of an earlier case"


class ClaimPairs(Record):
    """The file of pairs. `models` counts pairs by who wrote the claims, `left_out` cases by reason.

    `held_out` are the data sets whose changes were left out, with their numbers of cases.
    """

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


class ClaimPair(NamedTuple):
    """A conversation that ends with the answer, and the model that wrote the claims in it."""

    model: str
    messages: tuple[Message, ...]


def claim_pair(case: Case) -> ClaimPair | str:
    """The pair of one case, or the reason why it has none.

    The answer has the form that the prompt asks for, whatever the model wrote around it, and is read back as a check.
    """
    by_model: dict[str, list[tuple[str, str]]] = {}
    for claim in case.claims:
        if claim.kind in (CLAIM, IMPLICATION) and (model := _model_of(claim)):
            by_model.setdefault(model, []).append((claim.kind, claim.body))
    if not by_model:
        return "no claim by a model"
    if len(by_model) > 1:
        return "claims of several models"
    ((model, found),) = by_model.items()
    asked = claims_messages(case.change, case_language(case))
    if not asked:
        return "no diff"
    found.sort(key=lambda one: one[0] == IMPLICATION)
    answer = written_claims(found)
    try:
        same = list(read_claims(answer)) == found
    except Unreadable:
        same = False
    return ClaimPair(model, (*asked, assistant(answer))) if same else "claims that cannot be read back as two lists"


def _model_of(claim: Claim) -> str:
    """The model behind a claim, by its source (`openai:gpt-5`); empty for other sources."""
    return next((source for source in claim.source.split("+") if ":" in source), "")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("benchmark", help="a data set, benchmark or run with the claims of a model")
    parser.add_argument("-o", "--out", required=True, help="the file, such as pairs.jsonl")
    parser.add_argument("--from", dest="source", help="the folder or file that holds the data set's files")
    parser.add_argument("--held-out", action="append", default=[], help="leave out the changes of this data set")
    given = parser.parse_args(arguments)
    try:
        result = claim_pairs(given.benchmark, given.out, held_out=given.held_out, source=given.source)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for note in result.notes:
        print(f"note: {note}", file=sys.stderr)
    by = ", ".join(f"{count:,} by {model}" for model, count in result.models.items())
    print(f"{result.path}: {result.pairs:,} pairs ({by})")
    if result.left_out:
        print("left out: " + ", ".join(f"{count:,} {why}" for why, count in result.left_out.items()))
    print("held out: " + ", ".join(f"{name} ({count:,} cases)" for name, count in result.held_out.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
