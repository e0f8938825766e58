"""The trials of a Harbor job: what each is about, how it ended, what its agent wrote and did.

Source: Harbor 0.25, `models/trial/result.py`, `models/trial/paths.py`, and ATIF 1.8 for trajectories.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import cast

from pydantic import JsonValue

from reviewgauge.core.errors import BadInput, UserError, one_line
from reviewgauge.core.files import files_below, plain_file, read_file
from reviewgauge.core.json_reader import Json, Node, node, nodes, object_node, text, when
from reviewgauge.core.parsing import parse_json
from reviewgauge.core.records import Change, Usage
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.core.secrets import hide_secrets
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.git.search import search_text
from reviewgauge.reviewers.reading.change_text import diff_text
from reviewgauge.reviewers.reading.environment import pull_number

_SHOWN = 2_000  # characters of a message, a call or an answer in the trace
_RESULT, _TRAJECTORY = "result.json", "agent/trajectory.json"
_REVIEWS = ("artifacts/logs/artifacts/review.json", "artifacts/review.json")


@dataclass(frozen=True)
class Trial:
    """A trial's folder. `broken` is why its result cannot be read; then the task is what the folder's name says."""

    folder: Path
    task: str
    agent: str = ""
    started: str = ""
    digest: str = ""
    broken: str = ""

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.name

    def result(self) -> Node:
        """Its `result.json`. Raises BadInput."""
        return _document(self.folder / _RESULT)

    def reward(self) -> tuple[str, bool]:
        """Harbor's reward as a text, and whether it is a finite number."""
        value = node(_plain(self.result()), "verifier_result", "rewards").get("reward")
        sound = isinstance(value, int | float) and math.isfinite(value)
        return f"{value}", sound or value is None

    def review(self) -> Path | None:
        """The file that the agent wrote."""
        found = next((path for name in _REVIEWS if (path := self.folder / name).is_file()), None)
        return found and plain_file(found, self.folder)

    def failure(self) -> Failed | None:
        """How the trial failed; None where what the agent wrote is its review."""
        error = self.result().get("exception_info")
        kinds, stands = _words()
        if error is not None and not (self.review() and error.text("exception_type") in stands):
            kind = error.text("exception_type") or ""
            problem = one_line(hide_secrets(f"{kind}: {error.text('exception_message') or ''}"), 500)
            raw = hide_secrets(error.text("exception_traceback") or "")[-20_000:]
            return Failed(kinds.get(kind, FailureKind.CRASH), problem, raw=raw)
        if self.review() is None:
            return Failed(FailureKind.UNREADABLE, "the agent wrote no review.json")
        return None

    def usage(self) -> Usage:
        """What Harbor says that it cost, and how long the agent took. A call at least, where tokens are counted."""
        result = self.result()
        spent = result.get("agent_result") or Node({}, result.source)
        tokens_in, tokens_out = spent.integer("n_input_tokens") or 0, spent.integer("n_output_tokens") or 0
        times = [when(_plain(result), "agent_execution", end) for end in ("started_at", "finished_at")]
        seconds = (times[1] - times[0]).total_seconds() if times[0] and times[1] else 0.0
        return Usage(
            calls=max(len([s for s in self._steps() if text(s, "source") == "agent"]), int(tokens_in + tokens_out > 0)),
            tokens_in=max(tokens_in, 0),
            tokens_out=max(tokens_out, 0),
            dollars=spent.number("cost_usd"),
            seconds=max(seconds, 0.0),
        )

    def transcripts(self) -> list[Path]:
        """The files that the agent left of its work."""
        return sorted(file for file in files_below(self.folder / "agent") if not file.is_symlink())

    def trace(self) -> Iterator[str]:
        """The lines of its trajectory: what was said, the calls, and the answers to them."""
        for at, step in enumerate(self._steps(), 1):
            yield f"--- step {at}, {text(step, 'source')} ---"
            yield _words_of(step.get("message"))
            for call in nodes(step, "tool_calls"):
                yield f"> {text(call, 'function_name')} {_words_of(json.dumps(call.get('arguments')))}"
            for answer in nodes(step, "observation", "results"):
                yield _words_of(answer.get("content"))

    def _steps(self) -> list[Json]:
        path = self.folder / _TRAJECTORY
        if not path.is_file():
            return []
        try:
            return nodes(_plain(_document(path)), "steps")
        except (BadInput, UserError):  # one of another format: it is searched for leaks all the same
            return []


def read_trials(job: Path) -> list[Trial]:
    """The trials of a job in the order of their start. Raises UserError where there are none."""
    folders = sorted(path for path in job.iterdir() if path.is_dir()) if job.is_dir() else []
    found = [_trial(folder) for folder in folders if (folder / "config.json").exists() or (folder / _RESULT).exists()]
    if not found:
        raise UserError(f"{job} holds no trial of a Harbor job", remedy="name the folder of one job, such as jobs/NAME")
    return sorted(found, key=lambda trial: (trial.started, trial.name))


def _trial(folder: Path) -> Trial:
    try:
        if not (folder / _RESULT).exists():
            raise BadInput(str(folder), "has no result.json: the trial did not end")
        result = _document(folder / _RESULT)
        agent = result["agent_info"]
        model = agent.get("model_info")
        lock = folder / "lock.json"
        return Trial(
            folder,
            result.needed("task_name").rpartition("/")[2],
            agent.needed("name") + (f"/{model.needed('name')}" if model is not None else ""),
            result.text("started_at") or "",
            text(_plain(_document(lock)), "task", "digest") if lock.exists() else "",
        )
    except (BadInput, UserError) as error:
        return Trial(folder, folder.name.rpartition("__")[0], broken=str(error))


def _document(path: Path) -> Node:
    return object_node(parse_json(read_file(plain_file(path)), str(path)), str(path))


def _plain(document: Node) -> Json:
    """Its object, to be read leniently."""
    return cast("Json", document.as_object())


def _words_of(value: JsonValue | Json) -> str:
    """A message: a text, or the texts of its parts."""
    parts = value if isinstance(value, list) else [value]
    said = "\n".join(part if isinstance(part, str) else text(node(part), "text") for part in parts)
    said = hide_secrets(said.replace("\x00", "\N{REPLACEMENT CHARACTER}"))
    return said if len(said) <= _SHOWN else f"{said[:_SHOWN]}\n({len(said) - _SHOWN:,} more characters)"


@cache
def _words() -> tuple[dict[str, FailureKind], frozenset[str]]:
    found = tomllib.loads(files(__package__).joinpath("harbor.toml").read_text("utf-8"))
    kinds = {name: FailureKind(kind) for kind, names in found["kinds"].items() for name in names}
    return kinds, frozenset(found["review"]["stands"])


# --- leaks: what only somebody can know who saw the pull request, or the history after it -----------------------------
#
# A sandbox does not prevent it: agents read the reviews on the forge through a connector of their model's vendor
# (ReviewBench, `docs/OFFLINE_EVAL.md`). A model may also remember the pull request, which comes to the same.

_COMMIT = re.compile(r"(?<![0-9a-z])[0-9a-f]{10,64}(?![0-9a-z])")
_MOST = 10_000  # commits of a transcript that are looked up


def find_leaks(transcript: str, change: Change) -> list[str]:
    """The addresses and numbers of the pull request in it, and the commits of the real repository.

    A workspace has commits of its own. What the change itself or its code says does not count.
    """
    shown = "\n".join([change.title, change.description, *(f"{i.title}\n{i.body}" for i in change.issues)])
    shown = f"{shown}\n{diff_text(change)}".lower()
    text = transcript.replace("\\/", "/").lower()
    found = dict.fromkeys([*_addresses(text, change), *_commits(text, change)])
    return [word for word in found if word not in shown and not _in_code(word, change)]


def _addresses(text: str, change: Change) -> Iterator[str]:
    number, repo = pull_number(change), re.escape(change.repo.lower())
    if change.url:
        address = re.escape(change.url.lower().partition("://")[2].rstrip("/"))
        yield from re.findall(rf"{address}(?!\d)", text)
    if number:
        ways = rf"(?:/(?:-/)?(?:pull|pulls|issues|merge_requests)/|[#!]){number}(?!\d)"
        yield from re.findall(rf"{repo}{ways}", text)
        yield from re.findall(rf"\bpull/{number}/(?:head|merge)\b|\bgh pr [a-z]+ {number}(?!\d)", text)


def _commits(text: str, change: Change) -> Iterator[str]:
    ends = [commit.lower() for commit in (change.head, change.base) if commit]
    words = list(dict.fromkeys(_COMMIT.findall(text)))[:_MOST]
    yield from (word for word in words if any(commit.startswith(word) for commit in ends))
    if change.git is not None and words:
        yield from _real_commits(words, Repository(Path(change.git)))


def _real_commits(words: Sequence[str], repository: Repository) -> Iterator[str]:
    try:
        answers = repository.run("cat-file", "--batch-check", stdin="".join(f"{word}\n" for word in words).encode())
    except UserError:  # its folder is gone
        return
    for word, answer in zip(words, answers.decode("utf-8", "replace").splitlines(), strict=False):
        if answer.split()[1:2] == ["commit"]:
            yield word


def _in_code(word: str, change: Change) -> bool:
    if change.git is None or change.head is None:
        return False
    try:
        return bool(search_text(Repository(Path(change.git)), change.head, word, ignore_case=True).found)
    except UserError:
        return False
