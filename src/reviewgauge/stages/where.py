"""Keep the cases of which a fact has one of some values, such as one language or one repository.

Source: this project; facts are what each data set states on its cases (`reviewgauge info`, docs/reference/datasets.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import Case
from reviewgauge.core.trust import Word


@dataclass(frozen=True)
class Where(Stage):
    """Keep cases whose `fact` is one of `values`; `repo` stands for the change's repository."""

    example: ClassVar[str] = 'where(fact="language", values=("python",))'

    fact: Word = ""
    values: tuple[Word | int | float | bool, ...] = ()

    def __post_init__(self) -> None:
        if not self.fact or not self.values:
            raise ValueError("where needs a fact and values: where(fact='language', values=('python',))")

    @override
    def keep(self, case: Case) -> Case | str:
        value = case.change.repo if self.fact == "repo" else case.facts.get(self.fact)
        if value is None:
            return f"does not state {self.fact}"
        same_kind = (wanted for wanted in self.values if isinstance(wanted, bool) == isinstance(value, bool))
        return case if value in same_kind else f"{self.fact} is {value}"
