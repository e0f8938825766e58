"""A data set for Hugging Face's hub: Parquet files and a `README.md` whose card says what is in them.

Source: https://huggingface.co/docs/hub/datasets-cards, datasets 5.2. `hugging_face` reads such a folder as a benchmark.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from reviewgauge.core.data_card import Card
from reviewgauge.core.errors import MissingExtra, UserError
from reviewgauge.core.protocols import Progress
from reviewgauge.core.records import Case
from reviewgauge.core.results import Drop
from reviewgauge.core.trust import Word
from reviewgauge.engine.bundle.contents import bare, may_be_passed_on
from reviewgauge.exports.writing.export import Export, Material, Written

LICENCES = ("mit", "apache-2.0", "bsd-3-clause", "cc-by-4.0", "cc-by-sa-4.0", "cc0-1.0", "mpl-2.0", "gpl-3.0")
TABLES: Mapping[str, Mapping[str, str]] = {  # the columns of each, in the words of the hub
    "cases": {"id": "string", "repo": "string", "title": "string", "description": "string", "record": "string"},
    "references": {"case": "string", "kind": "string", "id": "string", "body": "string", "path": "string",
                   "start": "int64", "end": "int64", "category": "string", "severity": "string"},
    "reviews": {"case": "string", "system": "string", "attempt": "int64", "comments": "int64", "record": "string"},
    "labels": {"rater": "string", "dimension": "string", "value": "string", "record": "string"},
    "scores": {"case": "string", "system": "string", "attempt": "int64", "metric": "string", "record": "string"},
}  # fmt: skip
_CLOSED = "the licence does not let everybody pass it on"


@dataclass(frozen=True)
class HuggingFace(Export):
    """A configuration a table: cases, references, reviews, labels, scores; `record` is the whole line as JSON.

    `licence` is that of a benchmark of your own. Of data that may not be passed on, scores without texts are written.
    """

    takes: ClassVar[frozenset[str]] = frozenset({"run", "benchmark"})

    licence: Word = ""

    def write(self, given: Material, out: Path, progress: Progress | None = None) -> Written:
        """Write the folder. Raises UserError where nothing may be passed on, MissingExtra without pyarrow."""
        try:
            import pyarrow as pa
            from pyarrow import parquet
        except ImportError:
            raise MissingExtra("pyarrow", "frames") from None
        own = Card(title=given.label, summary="", origin="", version="", licence=self.licence or "unknown", may="")
        card = own if given.card is None or given.is_own else given.card  # nobody else changes a data set's licence
        open_data = may_be_passed_on(card)
        tables = dict(_tables(given, open_data))
        if not any(tables.values()):
            yours = "is it yours? 'hugging_face(licence=\"cc-by-4.0\")' says so"
            remedy = yours if given.is_own else "export a run on it: scores go out without texts"
            raise UserError(f"{given.label}: {_CLOSED}", remedy=remedy)
        (out / "data").mkdir(parents=True)
        kept = {name: rows for name, rows in tables.items() if rows}
        for name, rows in kept.items():
            schema = pa.schema([(column, getattr(pa, kind)()) for column, kind in TABLES[name].items()])
            parquet.write_table(pa.Table.from_pylist(rows, schema), out / "data" / f"{name}.parquet")
        (out / "README.md").write_text(_readme(given.label, card, kept), encoding="utf-8")
        gone = () if open_data else tuple(name for name in TABLES if name not in kept)
        drops = tuple(Drop(item=name, by="hugging_face", reason=_CLOSED) for name in gone)
        hint = f'load_dataset("{out}", "{next(iter(kept))}") of datasets'
        return Written(counts={name: len(rows) for name, rows in kept.items()}, left_out=drops, hint=hint)


def _tables(given: Material, open_data: bool) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    run = given.run
    cases = [_without_path(case) for case in given.cases] if open_data else []
    yield "cases", [{**_some(case.change, "repo title description"), "id": case.id, **_record(case)} for case in cases]
    yield "references", [row for case in cases for row in _references(case)]
    outcomes = run.outcomes() if run is not None and open_data else ()
    yield (
        "reviews",
        [
            {
                **_some(one, "case system attempt"),
                "comments": len(one.review.comments) if one.review else None,
                **_record(one),
            }
            for one in outcomes
        ],
    )
    labels = run.labels() if run is not None and open_data else ()
    yield "labels", [{**_some(one, "rater dimension"), "value": str(one.value), **_record(one)} for one in labels]
    scores = run.scores() if run is not None else ()
    yield (
        "scores",
        [{**_some(one, "case system attempt metric"), **_record(one if open_data else bare(one))} for one in scores],
    )


def _without_path(case: Case) -> Case:
    return case.model_copy(update={"change": case.change.model_copy(update={"git": None})})


def _some(record: object, names: str) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names.split()}


def _record(record: Any) -> dict[str, str]:
    return {"record": record.to_line().decode().rstrip("\n")}


def _references(case: Case) -> Iterator[dict[str, Any]]:
    for kind, comments in (("reference", case.references), ("neutral", case.neutral), ("rejected", case.rejected)):
        for one in comments:
            place = _some(one.span, "path start end") if one.span else {}
            yield {"case": case.id, "kind": kind, **_some(one, "id body category severity"), **place}


def _readme(label: str, card: Card, kept: Mapping[str, list[dict[str, Any]]]) -> str:
    """The card. Its header is YAML, of which JSON is a part."""
    plain = card.licence.lower()
    licence = {"license": plain} if plain in LICENCES else {"license": "other", "license_name": card.licence}
    header = {
        **licence,
        "task_categories": ["text-generation"],
        "tags": ["code-review"],
        "configs": [
            {"config_name": name, "data_files": [{"split": "test", "path": f"data/{name}.parquet"}]} for name in kept
        ],
        "dataset_info": [
            {
                "config_name": name,
                "features": [{"name": column, "dtype": kind} for column, kind in TABLES[name].items()],
                "splits": [{"name": "test", "num_examples": len(rows)}],
            }
            for name, rows in kept.items()
        ],
    }
    said = "\n".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in header.items())
    about = "\n\n".join(filter(None, (card.summary, card.origin and f"Origin: {card.origin}", card.may, card.citation)))
    return f"---\n{said}\n---\n\n# {card.title or label}\n\n{about}\n\nWritten by ReviewGauge from {label}.\n"
