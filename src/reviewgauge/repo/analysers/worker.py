"""The process that runs lizard, which is a Python library, and smells.

It is started as a program (`python -I worker.py`) in the folder of exported files, so that a file which makes a
library crash, hang or eat memory takes nothing else along. It reads one JSON object from stdin (`tools`, `python` and
`other`: lists of paths, `limits`) and prints one JSON object per tool, after a line with the tool's name alone, so that
a crash can be blamed. The Python files are parsed first: what does not parse is reported once and no tool reads it.
It imports nothing of ReviewGauge.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import json
import sys
import threading
import tokenize
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

MEMORY = 4 << 30  # bytes of address space
STACK = 256 << 20  # bytes
DEPTH = 10_000  # calls: long sums in generated code nest deeper than Python's own limit
Row = dict[str, Any]


def main() -> None:
    """Run the job on stdin."""
    _limit_memory()
    sys.setrecursionlimit(DEPTH)
    warnings.simplefilter("ignore")
    job = json.loads(sys.stdin.buffer.read())
    out = sys.stdout
    sys.stdout = sys.stderr  # a library that prints must not spoil the answer
    for tool in job["tools"]:
        print(json.dumps({"tool": tool}), file=out, flush=True)
        rows = RUNNERS[tool](job)
        print(json.dumps({"tool": tool, "rows": list(rows)}), file=out, flush=True)


def run_deep() -> int:
    """`main` on a stack that deeply nested code does not overflow; the exit status."""
    done: list[bool] = []

    def run() -> None:
        main()
        done.append(True)

    threading.stack_size(STACK)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return 0 if done else 1


def _limit_memory() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):  # no such limit here: only the time limit applies
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY if hard < 0 else min(MEMORY, hard), hard))


def _source(path: str) -> str:
    raw = Path(path).read_bytes()
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        return raw.decode(encoding)
    except (SyntaxError, LookupError, UnicodeDecodeError):
        return raw.decode("utf-8-sig", "replace")


def _unread(path: str, error: BaseException | str) -> Row:
    return {"path": path, "unread": str(error)[:200] or type(error).__name__}


def _parse(job: Row) -> Iterator[Row]:
    """Sorts out the Python files that do not parse."""
    sound = []
    for path in job["python"]:
        try:
            ast.parse(Path(path).read_bytes())
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            yield _unread(path, f"does not parse as Python 3: {error}")
            continue
        sound.append(path)
    job["python"] = sound


def _drop_comments(tokens: Iterable[str], reader: Any) -> Iterator[str]:
    """Lizard's own first step, without `#lizard forgives` and `GENERATED CODE`, which stop it."""
    for token in tokens:
        comment = reader.get_comment_from_token(token)
        if comment is None:
            yield token
        else:
            yield from "\n" * (len(comment.splitlines()) - 1)


def _lizard(job: Row) -> Iterator[Row]:
    import lizard

    steps = [_drop_comments if step is lizard.comment_counter else step for step in lizard.get_extensions([])]
    analyse, limit = lizard.FileAnalyzer(steps), job["limits"]["complexity"]
    for path in job["other"]:
        source = Path(path).read_bytes().decode("utf-8-sig", "replace")
        try:
            found = analyse.analyze_source_code(path, source).function_list
        except (IndexError, RecursionError) as error:  # what its parsers raise on code that they do not understand
            yield _unread(path, f"does not parse: {type(error).__name__}")
            continue
        for function in found:
            complexity = function.cyclomatic_complexity
            if function.name != "*global*" and complexity > limit:
                message = f"cyclomatic complexity is {complexity}, over {limit}"
                row = {"path": path, "rule": "cyclomatic", "message": message, "level": str(complexity / limit)}
                yield row | {"function": function.name, "start": function.start_line, "end": function.end_line}


def _smells(job: Row) -> Iterator[Row]:
    spec = importlib.util.spec_from_file_location("smells", Path(__file__).with_name("smells.py"))
    assert spec is not None and spec.loader is not None
    smells = sys.modules["smells"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(smells)
    for path in job["python"]:
        for row in smells.find_smells(_source(path), job["limits"]):
            yield {"path": path} | row


RUNNERS: dict[str, Callable[[Row], Iterable[Row]]] = {"parse": _parse, "lizard": _lizard, "smells": _smells}

if __name__ == "__main__":
    sys.exit(run_deep())
