"""`--only`: do what failed, or some cases, instead of everything that is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from reviewgauge.core.errors import UserError

REMEDY = "write --only failed, --only case=ID, where * stands for any letters, or --only case=@FILE of ids"


@dataclass(frozen=True)
class Selection:
    """`failed`: what failed before, and nothing else. `cases`: ids or patterns (`acme/*`); empty stands for all."""

    failed: bool = False
    cases: tuple[str, ...] = ()

    def takes(self, case: str) -> bool:
        """Whether a case is among those named."""
        return not self.cases or any(case == name or fnmatchcase(case, name) for name in self.cases)

    def check(self, cases: Iterable[str]) -> None:
        """Raise UserError for a name that matches no case."""
        known = list(cases)
        for name in self.cases:
            if name not in known and not any(fnmatchcase(case, name) for case in known):
                raise UserError(
                    f"--only case={name} matches none of the {len(known)} cases", remedy=f"such as {known[0]}"
                )


def parse_only(words: Sequence[str]) -> Selection:
    """The selection that `--only` was given, once or several times. Raises UserError."""
    cases = []
    for word in words:
        what, equals, name = word.partition("=")
        if what == "case" and equals and name.startswith("@"):
            cases += _listed(Path(name[1:]))
        elif what == "case" and equals and name:
            cases.append(name)
        elif word != "failed":
            raise UserError(f"--only {word} is unknown", remedy=REMEDY)
    return Selection("failed" in words, tuple(cases))


def _listed(file: Path) -> list[str]:
    """The case ids in a file, one a line, as `gate --smoke` writes them. Raises UserError."""
    try:
        names = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UserError(f"--only case=@{file} cannot be read: {reason}", remedy=REMEDY) from None
    if not any(names):
        raise UserError(f"--only case=@{file}: the file names no case")
    return [name for name in names if name]
