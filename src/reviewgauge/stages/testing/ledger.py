"""What the tests say of the labels of a build, and the file that keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from reviewgauge.core.base import Record
from reviewgauge.core.building import RESULTS, BuildContext
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import write_whole
from reviewgauge.core.protocols import Stage
from reviewgauge.repo.testing.suite import SuiteRun, TestCommand

LEDGER = "tests.jsonl"
VERIFIED = "verified"


@dataclass(frozen=True)
class TestingStage(Stage, TestCommand):
    """A stage that runs tests."""


class Verdict(Record):
    """What the tests say of one label: `verified`, or why not, and the runs behind it. A line of the ledger."""

    case: str
    fix: str
    outcome: str
    detail: str = ""
    runs: Mapping[str, SuiteRun] = {}


def keep_ledger(context: BuildContext, verdicts: Iterable[Verdict]) -> None:
    """Write every verdict with its runs beside the benchmark."""
    with suppress(UserError):  # only a build has a folder
        write_whole(context.folder / RESULTS / LEDGER, b"".join(verdict.to_line() for verdict in verdicts))
