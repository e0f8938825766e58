"""Which file holds the review of which change, the names that files call a change by, which comments count."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.files import files_below, plain_file, read_file
from reviewgauge.core.protocols import Format, Parsed
from reviewgauge.core.records import Anchoring, Change, Comment, Side
from reviewgauge.core.results import Failed, Failure
from reviewgauge.core.specs import load
from reviewgauge.repo.diff.anchors import anchor_all
from reviewgauge.repo.diff.diffs import changed_lines
from reviewgauge.repo.diff.positions import find_file, relative_path
from reviewgauge.repo.git.repository import code_reader

LARGEST = 256 * 1024 * 1024  # bytes; a larger file is refused before it is read
SHORTEST = 7  # hex digits of a commit that still name it
ODD = re.compile(r"[^A-Za-z0-9._-]")
_HEX = re.compile(r"[0-9a-f]{7,64}")
_PLACES = ("{case}", "{head}")
_ON_LINES = frozenset({Anchoring.AS_GIVEN, Anchoring.RENAMED, Anchoring.QUOTE})


def names_case(path: str) -> bool:
    """Whether `path` is a template with one file per change."""
    return any(place in path for place in _PLACES)


def default_system(path: str) -> str:
    """The name that a path gives its tool: the file's stem, or the folder that holds one file per change."""
    parts = [part for part in re.split(r"[/\\]", path) if part not in ("", ".", "..", "~")]
    while len(parts) > 1 and names_case(parts[-1]):
        parts.pop()
    if not parts or names_case(parts[-1]):
        return "replay"
    return Path(parts[-1]).stem or "replay"


def case_names(change: Change) -> list[str]:
    """The case's id, with `/` and `#` as `_`, and with every other odd letter as `_` too."""
    if change.id is None:
        return []
    return list(dict.fromkeys([change.id, re.sub("[/#]", "_", change.id), ODD.sub("_", change.id)]))


def commit_names(change: Change) -> list[str]:
    """The head commit in full, and as git and forges shorten it; none for what is not a plain name (`../x`)."""
    if change.head is None or ODD.search(change.head) or not change.head.strip("."):
        return []
    return list(dict.fromkeys([change.head, *(change.head[:n] for n in (12, 11, 10, 9, 8, SHORTEST))]))


def names_change(key: str, change: Change) -> bool:
    """Whether a file's own word for a change means this one: its case id, its head commit or its address."""
    if key in case_names(change):
        return True
    if change.head is not None and _HEX.fullmatch(key.lower()) and change.head.lower().startswith(key.lower()):
        return True
    return change.url is not None and _address(key) == _address(change.url)


def _address(url: str) -> str:
    bare = re.sub(r"^https?://(www\.)?", "", url.strip().lower())
    return re.sub(r"(/files|/changes|/commits|/diffs)$", "", re.split(r"[?#]", bare, maxsplit=1)[0].rstrip("/"))


def file_of(path: str, change: Change) -> Path | None:
    """The one file of a template or folder that is about `change`, None where there is none.

    Raises UserError when a folder holds two for it.
    """
    if names_case(path):
        return _from_template(path, change)
    index = _index(path)
    for name in (*case_names(change), *commit_names(change)):
        found = index.get(name, ())
        if len(found) > 1:
            both = " and ".join(file.name for file in found[:2])
            raise UserError(f"{path} holds several files for {name}: {both}", remedy="keep one of them")
        if found:
            return found[0]
    return None


def _from_template(path: str, change: Change) -> Path | None:
    cases = case_names(change) if "{case}" in path else [""]
    heads = commit_names(change) if "{head}" in path else [""]
    tried = (path.replace("{case}", case).replace("{head}", head) for case in cases for head in heads)
    found = next((file for file in (Path(t).expanduser() for t in tried) if file.is_file()), None)
    named = Path(path).expanduser().parts
    top = Path(*named[: next(at for at, part in enumerate(named) if names_case(part))])
    return found and plain_file(found, top)


@lru_cache(maxsize=4)
def _index(path: str) -> dict[str, tuple[Path, ...]]:
    """The files of a folder by name, with and without their endings."""
    folder = Path(path).expanduser()
    index: dict[str, tuple[Path, ...]] = {}
    for file in sorted(files_below(folder)):
        name = file.relative_to(folder).as_posix()
        if any(part.startswith(".") for part in name.split("/")):
            continue
        index[name] = (*index.get(name, ()), plain_file(file))[:2]  # two are one too many
        while "." in name.rpartition("/")[2]:
            name = name.rpartition(".")[0]
            index[name] = (*index.get(name, ()), file)[:2]
    return index


def forget_folders() -> None:
    """Look into folders again, where a file may have been added meanwhile."""
    _index.cache_clear()


def read_reviews(file: Path, format_spec: str) -> tuple[Parsed, ...]:
    """The reviews in `file`, read again only when it changes. Raises UserError, BadInput."""
    try:
        about = file.stat()
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}", remedy="check the path") from None
    if about.st_size > LARGEST:
        raise UserError(f"{file} is larger than {LARGEST:,} bytes", remedy="split it, one file per change")
    return _read(file, about.st_mtime_ns, about.st_size, format_spec)


@lru_cache(maxsize=4)  # a file of the largest size takes some GB as records: few are kept
def _read(file: Path, changed: int, size: int, format_spec: str) -> tuple[Parsed, ...]:
    from reviewgauge.formats.parsing.comments import detect

    data, source = _bytes(file), str(file)
    how = load(Format, format_spec) if format_spec else detect(data, source)
    return tuple(how.read(data, source))


def _bytes(file: Path) -> bytes:
    try:
        return read_file(file)
    except OSError as error:
        raise BadInput(str(file), f"cannot be read: {error.strerror}") from None


def fingerprint(files: Sequence[Path]) -> str:
    """SHA-256 over the files' names and contents."""
    whole = hashlib.sha256()
    for file in files:
        whole.update(file.name.encode("utf-8", "surrogateescape") + b"\x00")
        whole.update(hashlib.sha256(_bytes(file)).digest())
    return whole.hexdigest()


def placed(parsed: Iterable[Parsed], change: Change, root: str = "") -> Iterator[Comment]:
    """The comments of several entries at their places in `change`; `root` is what absolute paths start with.

    Raises Failed for an entry that says why there is no review.
    """
    read = code_reader(change)
    for entry in parsed:
        if isinstance(entry.answer, Failure):
            raise Failed(entry.answer.kind, entry.answer.message, raw=entry.answer.raw)
        if entry.answer is not None:
            yield from entry.answer.comments
        yield from anchor_all(entry.comments, change, root or entry.root, read)


def foreign_paths(parsed: Iterable[Parsed], changes: Sequence[Change], root: str = "") -> tuple[int, str]:
    """(number of comments on absolute paths that lie in no known folder, one of these paths).

    An absolute path that ends in a changed file says where the repository lay: what lies there too is not foreign.
    """
    if not any(change.has_diff for change in changes):
        return 0, ""
    paths: Counter[str] = Counter()
    for entry in parsed:
        claims = (comment.claimed.path for comment in entry.comments if comment.claimed is not None)
        paths.update(relative_path(path, root or entry.root) for path in claims if path)
    absolute = {path: count for path, count in paths.items() if path.startswith("/")}
    found = {path: file.path for path in absolute for change in changes if (file := find_file(path, change))}
    folders = tuple({path.removesuffix(end) for path, end in found.items()})
    lost = {path: count for path, count in absolute.items() if path not in found and not path.startswith(folders)}
    return sum(lost.values()), min(lost, default="")


def on_added_lines(comment: Comment, change: Change) -> bool:
    """Whether a placed comment stands on a line that `change` adds."""
    span = comment.span
    if span is None or span.start is None or span.end is None or comment.anchoring not in _ON_LINES:
        return False
    file = next((file for file in change.files if file.path == span.path), None)
    if file is None or span.side is not Side.NEW:
        return False
    return any(span.start <= line <= span.end for line in changed_lines(file, Side.NEW))


def unique(comments: Iterable[Comment]) -> tuple[Comment, ...]:
    """The comments with unique ids: several entries of a file may be about one change."""
    found: dict[str, Comment] = {}
    last: dict[str, int] = {}
    for comment in comments:
        name, n = comment.id, last.get(comment.id, 2)
        while name in found:
            name, n = f"{comment.id}-{n}", n + 1
        last[comment.id] = n
        found[name] = comment if name == comment.id else comment.model_copy(update={"id": name})
    return tuple(found.values())
