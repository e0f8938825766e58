"""A benchmark of Hugging Face's hub, or one that was written for it: a folder of Parquet files with a card.

Source: `reviewgauge export hugging_face`, and https://huggingface.co/docs/hub/datasets-cards. A card that says other
columns or counts than its files have is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from typing_extensions import override

from reviewgauge.core.data_card import Card
from reviewgauge.core.errors import BadInput, MissingExtra, NothingRecorded, UserError
from reviewgauge.core.files import plain_file
from reviewgauge.core.labels import Label
from reviewgauge.core.parsing import parse_record
from reviewgauge.core.protocols import Dataset
from reviewgauge.core.records import Case, Review
from reviewgauge.core.results import Outcome
from reviewgauge.core.trust import Address, FilePath
from reviewgauge.datasets.files.cards import read_card
from reviewgauge.datasets.files.local_files import locate
from reviewgauge.models.hub import hub_folder

README = "README.md"


@dataclass(frozen=True)
class HuggingFace(Dataset):
    """The data set `OWNER/NAME` or `OWNER/NAME@REVISION` of the `hub`, from its cache once it is there; or a folder.

    The settings of huggingface_hub hold (HF_TOKEN, HF_HOME, HF_ENDPOINT, HF_HUB_OFFLINE). A case that names a
    repository of this machine is refused.
    """

    path: FilePath = ""
    hub: Address = ""

    @property
    @override
    def card(self) -> Card:
        return read_card("hugging_face")

    def cases(self) -> Iterator[Case]:
        """The cases, in their order. Raises BadInput."""
        for number, line in self._records("cases"):
            case = parse_record(Case, line, "cases.parquet", number)
            if case.change.git is not None:
                raise BadInput("cases.parquet", "names a repository of this machine", record=number, field="change.git")
            yield case

    def recorded(self, **parameters: object) -> tuple[Sequence[Review], Sequence[Label]]:
        """The reviews and labels that it holds; failures are left out."""
        if parameters:
            raise UserError(f"hugging_face's recorded reviews have no parameter {next(iter(parameters))!r}")
        found = [parse_record(Outcome, line, "reviews.parquet", number) for number, line in self._records("reviews")]
        if not found:
            raise NothingRecorded("the folder holds no reviews", remedy="name a reviewer instead")
        labels = [parse_record(Label, line, "labels.parquet", number) for number, line in self._records("labels")]
        return [one.review for one in found if one.review], labels

    def _records(self, name: str) -> Iterator[tuple[int, bytes]]:
        """The whole lines of one table; none where the card names no such table."""
        try:
            from pyarrow import ArrowInvalid, parquet
        except ImportError:
            raise MissingExtra("pyarrow", "frames") from None
        info = _tables(self._file(README)).get(name)
        if info is None:
            if name == "cases":
                raise BadInput(README, "has no configuration `cases`", field="dataset_info")
            return
        file = f"{name}.parquet"
        try:
            table = parquet.ParquetFile(self._file(f"data/{file}"))
        except (OSError, ArrowInvalid) as error:
            raise BadInput(file, f"cannot be read as Parquet: {str(error)[:100]}") from None
        promised = {str(one.get("name")): str(one.get("dtype")) for one in info.get("features") or ()}
        there = {column.name: str(column.type) for column in table.schema_arrow}
        if promised != there:
            wrong = sorted(set(promised.items()) ^ set(there.items()))
            problem = f"says other columns than {file} has: {wrong[0][0]}"
            raise BadInput(README, problem, field="dataset_info", remedy="write the folder anew, or mend the card")
        rows = sum(one.get("num_examples") or 0 for one in info.get("splits") or ())
        if rows != table.metadata.num_rows:
            problem = f"says {rows:,} rows, and {file} has {table.metadata.num_rows:,}"
            raise BadInput(README, problem, field="dataset_info", remedy="is the download complete?")
        number = 0
        for batch in table.iter_batches(1000, columns=["record"]):
            for value in batch.column(0).to_pylist():
                number += 1
                yield number, str(value).encode()

    def _file(self, name: str) -> Path:
        if not self.path and not self.hub:
            remedy = "'hugging_face(hub=\"OWNER/NAME\")', or --from FOLDER"
            raise UserError("hugging_face must be told which data set to read", remedy=remedy)
        folder = locate("hugging_face", self.path) if self.path else _fetched(self.hub)
        file = folder / name if self.path else (folder / name).resolve()  # the hub's cache is made of links
        if not file.exists():
            remedy = "reviewgauge export hugging_face writes such a data set"
            raise UserError(f"{self.path or self.hub} has no {name}", remedy=remedy)
        return plain_file(file)


@cache  # one commit for all tables
def _fetched(word: str) -> Path:
    files = (README, *(f"data/{name}.parquet" for name in ("cases", "reviews", "labels")))
    return hub_folder(word, files, "hub", "dataset")


def _tables(readme: Path) -> dict[str, dict[str, Any]]:
    """What the card says of each configuration."""
    import yaml

    try:
        text = readme.read_text(encoding="utf-8")
        header = yaml.safe_load(text.partition("---\n")[2].partition("\n---")[0])
        return {one["config_name"]: one for one in header["dataset_info"]}
    except (OSError, UnicodeDecodeError):
        raise UserError(f"{readme} cannot be read") from None
    except (yaml.YAMLError, KeyError, TypeError, ValueError, RecursionError):
        problem = "has no dataset_info that lists its tables"
        raise BadInput(README, problem, remedy="reviewgauge export hugging_face writes one") from None
