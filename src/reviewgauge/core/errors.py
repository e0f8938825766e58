"""Errors that a user can fix: one line that says where, what, and what to do."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterable
from pathlib import Path

from reviewgauge.core.secrets import hide_secrets

_LIBRARY = re.compile(r"[/\\](?:site-packages|python3[.\d]*)[/\\]")
_PACKAGE = str(Path(__file__).parents[1])


def one_line(text: str, limit: int = 300) -> str:
    """`text` on one line, without control characters or terminal escapes, cut to `limit` characters."""
    clean = "".join(c if c.isprintable() else " " for c in text)
    clean = " ".join(clean.split())
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"


def crash_message(error: BaseException) -> str:
    """What an exception says, and the line of the plug-in, else of the package, that it came from."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [one for one in frames if not _LIBRARY.search(one.filename)]
    last = next(reversed(_outside(frames) or ours or frames), None)
    stated = isinstance(error, SyntaxError)  # says the place itself
    where = f" ({Path(last.filename).name}, line {last.lineno})" if last and not stated else ""
    return f"{type(error).__name__}: {error}{where}"


def in_own_code(error: BaseException) -> bool:
    """Whether code of the user's own had a part in it, neither ours nor a library's."""
    return bool(_outside(traceback.extract_tb(error.__traceback__)))


def _outside(frames: Iterable[traceback.FrameSummary]) -> list[traceback.FrameSummary]:
    return [one for one in frames if not one.filename.startswith((_PACKAGE, "<")) and not _LIBRARY.search(one.filename)]


class UserError(Exception):
    """An error that a user can fix. The command line prints it as one line and exits with code 2."""

    def __init__(self, problem: str, *, remedy: str = "") -> None:
        self.problem = one_line(hide_secrets(problem), 500)
        self.remedy = one_line(hide_secrets(remedy), 500)
        super().__init__(self.problem + (f" ({self.remedy})" if self.remedy else ""))

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (type(self), self.args, self.__dict__)  # it may come from another process


def _restored(kind: type[UserError], args: tuple[object, ...], state: dict[str, object]) -> UserError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


class BadInput(UserError):
    """A file, a record or a field is not valid.

    `record` is the 1-based line of a JSON lines file, or a name such as `results[3]`.
    """

    def __init__(
        self, source: str, problem: str, *, record: int | str | None = None, field: str = "", remedy: str = ""
    ) -> None:
        self.source, self.record, self.field = one_line(source), record, one_line(field)
        where = self.source
        if record is not None:
            where += f", line {record}" if isinstance(record, int) else f", {one_line(record)}"
        if field:
            where += f", field {self.field}"
        super().__init__(f"{where}: {problem}", remedy=remedy)


class MissingExtra(UserError):
    """A library that an optional part needs is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} is not installed", remedy=f"pip install 'reviewgauge[{extra}]'")


class NothingRecorded(UserError):
    """A data set came without reviews."""


class NeedsCode(UserError):
    """Something needs diffs or files of a change whose commits are not available.

    A reviewer does not know which data set its change comes from and leaves `dataset` empty.
    """

    def __init__(self, what: str, dataset: str = "", remedy: str = "") -> None:
        self.what, self.otherwise = what, remedy
        super().__init__(
            f"{what} needs the code under review, which is not at hand for {dataset or 'this data set'}",
            remedy=remedy or (f"reviewgauge get {dataset} --with-code" if dataset else "choose data that has it"),
        )
