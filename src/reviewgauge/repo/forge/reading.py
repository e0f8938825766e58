"""Everything about a pull request as one JSON object, as a forge is read, and dumps, which are lines of these.

    {"repo": "owner/name", "pull": {}, "commits": [], "comments": [], "reviews": [], "conversation": [],
     "timeline": [], "threads": [], "events": [], "closing": [], "edited": "", "files": [], "merge_base": "",
     "issues": [], "languages": {}}

`pull` is the answer of `GET pulls/N`; `commits`, `comments` (on lines) and `reviews` those below it;
`conversation` and `timeline` those of `issues/N/comments` and `issues/N/timeline`; `threads`, `events` and `closing`
are nodes of GraphQL (`reviewThreads`, `timelineItems`, `closingIssuesReferences`), and `edited` is its `lastEditedAt`,
empty for never: REST has none of these. GraphQL needs a token; with one, `timeline` is not requested. `files` (as
`GET pulls/N/files`) and `merge_base` (the commit that they start from) are of the final state, and a build takes them
from git. `issues` hold `issue`, `comments` and `timeline`.

This is GitHub's shape; what reads another forge puts its answers into it. A forge that lists the pushed states gives
them as `versions`, lists of `head`, `created_at`.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from pydantic import JsonValue

from reviewgauge.core.errors import BadInput, UserError, one_line
from reviewgauge.core.files import files_below
from reviewgauge.core.json_reader import Json
from reviewgauge.core.parsing import lines, parse_json
from reviewgauge.repo.forge.answers import without_addresses

Raw = dict[str, JsonValue]
_ENDINGS = (".jsonl", ".jsonl.gz")


# --- dumps ---------------------------------------------------------------------------------------------------------


def read_archive(path: Path) -> Iterator[tuple[str, Raw]]:
    """(file and line, pull request) of a dump: a file of JSON lines (`.jsonl`, `.jsonl.gz`), or a folder of such files.

    It is hostile input: links are not followed, nothing is unpacked to disk, and a line that is too long is refused
    before it is held in memory. E-mail addresses are removed. Raises UserError for what is not a dump, and BadInput.
    """
    if path.is_dir():
        found = {file.relative_to(path).as_posix(): file for file in files_below(path) if not file.is_symlink()}
    elif path.is_file() and path.name.endswith(_ENDINGS):
        found = {path.name: path}
    else:
        problem = f"{path} is not a dump of pull requests" if path.exists() else f"there is no archive at {path}"
        raise UserError(problem, remedy="a .jsonl or .jsonl.gz file, or a folder (unpack a .zip or .tar first)")
    for name in sorted(name for name in found if name.endswith(_ENDINGS)):
        with found[name].open("rb") as stream:
            try:
                opened = cast(BinaryIO, gzip.GzipFile(fileobj=stream)) if name.endswith(".gz") else stream
                for line, raw in lines(opened, name):
                    where = f"{name}, line {line}"
                    value = parse_json(raw, where)
                    if not isinstance(value, dict):
                        raise BadInput(where, "is not an object")
                    yield where, cast(Raw, without_addresses(cast(JsonValue, value)))
            except RecursionError:
                raise BadInput(where, "is nested too deeply") from None
            except (OSError, EOFError, zlib.error) as error:
                problem = f"cannot be unpacked ({one_line(str(error), 100)})"
                raise BadInput(name, problem, remedy="is the file complete?") from None


def write_archive_line(stream: BinaryIO | gzip.GzipFile, raw: Json) -> None:
    """Add one pull request to a file of JSON lines."""
    stream.write(json.dumps(raw, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n")
