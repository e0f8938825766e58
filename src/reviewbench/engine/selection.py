"""Which part of a run to do: the failed ones, or some cases, instead of everything that is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from reviewbench.core.errors import UserError

REMEDY = "write --only failed, or --only case=ID, where * stands for any letters"


@dataclass(frozen=True)
class Only:
    """`failed`: what failed before, and nothing else. `cases`: ids or patterns (`acme/*`); empty stands for all."""

    failed: bool = False
    cases: tuple[str, ...] = ()

    def takes(self, case: str) -> bool:
        """Whether a case is among those named."""
        return not self.cases or any(case == name or fnmatchcase(case, name) for name in self.cases)

    def check(self, cases: Iterable[str]) -> None:
        """Raise UserError for a name that fits no case: a mistyped one would look like a finished run."""
        known = list(cases)
        for name in self.cases:
            if name not in known and not any(fnmatchcase(case, name) for case in known):
                raise UserError(f"--only case={name} fits none of the {len(known)} cases", remedy=f"such as {known[0]}")


def parse_only(words: Sequence[str]) -> Only:
    """What `--only` was given, once or several times. Raises UserError."""
    cases = []
    for word in words:
        what, equals, name = word.partition("=")
        if what == "case" and equals and name:
            cases.append(name)
        elif word != "failed":
            raise UserError(f"--only {word} is unknown", remedy=REMEDY)
    return Only("failed" in words, tuple(cases))
