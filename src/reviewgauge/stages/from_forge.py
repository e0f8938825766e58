"""Pull requests of a forge, or of a dump of it, as cases: the final state, with what people said on its lines.

Source: the crawls of SWR-Bench (arXiv:2509.01494), ContextCRBench (arXiv:2511.07017) and AACR-Bench (arXiv:2601.19494);
which pull requests stay and at which state they are taken is decided by the stages behind this one.
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import islice
from pathlib import Path
from typing import ClassVar

from pydantic import JsonValue
from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate, CardSection
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.json_reader import Json, node, nodes, number, text, when
from reviewgauge.core.parameters import Count
from reviewgauge.core.protocols import Stage, StageOutput
from reviewgauge.core.pull_requests import PullRequest
from reviewgauge.core.records import ChangedFile
from reviewgauge.core.results import Drop, Failed
from reviewgauge.core.specs import load
from reviewgauge.core.trust import Address, FilePath, Variable, Word
from reviewgauge.repo.forge.api import ForgeKind, PullReader, forge_of, repositories
from reviewgauge.repo.forge.client import Forge
from reviewgauge.repo.forge.pulls import STATUSES, read_pull
from reviewgauge.repo.forge.reading import Raw, read_archive, write_archive_line
from reviewgauge.repo.forge.replies import Unavailable
from reviewgauge.repo.forge.timeline import named
from reviewgauge.stages.link_issues import references
from reviewgauge.stages.pull_requests.candidates import (
    NO_CODE,
    NO_DIFF,
    NO_FILES,
    case_id,
    chosen_repositories,
    final_candidate,
)
from reviewgauge.stages.pull_requests.commits import Mirror
from reviewgauge.stages.sampling.draws import check_day

FOLDER, DUMP = "forge", "pulls.jsonl.gz"
STATES = ("merged", "closed", "open")
AT_ONCE = 20  # pull requests whose commits are fetched together
MOST_ISSUES = 10  # of one pull request that are read
MOST_READ = 20_000  # characters of one text that are looked through for issues
UNREADABLE = "what the forge says of it cannot be read"
_STATUSES = {status: word for word, status in STATUSES.items()}


@dataclass(frozen=True)
class FromForge(Stage):
    """The pull requests of `repos`, the newest first; by default of the build's source, such as `github:owner/name`.

    `since` and `until` are ISO dates of opening, `states` are of merged, closed (without a merge) and open, `limit` is
    how many of each repository are read (0: all), `numbers` picks single ones. `api` is the address of a
    forge of your own (`https://HOST/api/v3`, GitLab's `/api/v4`), `auth_variable` the environment variable of a token,
    by default GITHUB_TOKEN or GITLAB_TOKEN. With `archive` a dump
    is read and nobody is asked. Commits come from git at the forge, or from `clone`, a clone on this machine; a dump
    without one has the final state alone. `issues`: read the issues that a pull request names. A pull request of more
    than `max_lines` changed lines is left out unread.
    """

    example: ClassVar[str] = "reviewgauge build github:OWNER/NAME -o bench"

    repos: tuple[Word, ...] = ()
    since: Word = ""
    until: Word = ""
    states: tuple[Word, ...] = ("merged", "closed")
    limit: Count = 0
    numbers: tuple[int, ...] = ()
    archive: FilePath = ""
    api: Address = ""
    auth_variable: Variable = ""
    clone: FilePath = ""
    issues: bool = True
    max_lines: int = 20_000

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, word in (("since", self.since), ("until", self.until)):
            if word:
                check_day(name, word)
        if not self.states or set(self.states) - set(STATES):
            raise ValueError(f"states are of {', '.join(STATES)}, not {', '.join(self.states) or 'none'}")

    @override
    def apply(self, items: Iterable[Candidate], context: BuildContext) -> StageOutput:
        yield from items
        if self.archive:
            yield from self._from_archive(context)
            return
        with self.open_forge(context) as forge:
            folder = context.folder / FOLDER
            with gzip.GzipFile(folder / f"{DUMP}.part", "wb", mtime=0) as dump:
                for repo in self._repositories(context):
                    for made in self._crawl(forge, repo, context):
                        if isinstance(made, Drop):
                            yield made
                            continue
                        raw, pull = made
                        listed = {"files": as_listed(pull.files), "merge_base": pull.base}
                        write_archive_line(dump, {**raw, **listed})
                        yield final_candidate(pull)
            (folder / f"{DUMP}.part").replace(folder / DUMP)
            _report(context, forge)

    def open_forge(self, context: BuildContext) -> Forge:
        """The forge that is asked; answers are kept in the folder of the build."""
        kind, api = self._kind(context), self.api
        host = "" if self.repos else repositories(context.source, kind)[0] if forge_of(context.source) else ""
        if host and api and kind.address(host) != kind.address(api):
            raise UserError(f"the source is on {host}, and api is {api}", remedy="name one of them")
        token, folder = self.auth_variable, context.folder / FOLDER
        return Forge(folder, kind, api=api or host, token=token, progress=context.progress)

    # --- which ---------------------------------------------------------------------------------------------------

    def _kind(self, context: BuildContext) -> ForgeKind:
        """The forge that the first repository is on; GitHub where none says."""
        return forge_of(self.repos[0] if self.repos else context.source) or load(ForgeKind, "github")

    def named(self, context: BuildContext) -> tuple[str, ...]:
        """The repositories that the user names, in `repos` or as the source. Raises UserError.

        A host in `repos` is refused: they may stand in a file of others, and the token would be sent there.
        """
        if not self.repos and forge_of(context.source) is None:
            return ()
        host, names = repositories(",".join(self.repos) or context.source, self._kind(context))
        if host and self.repos:
            raise UserError(f"repos names the host {host}", remedy="name it in the source, or with api=")
        return names

    def _repositories(self, context: BuildContext) -> tuple[str, ...]:
        given = ",".join(chosen_repositories(context))
        found = self.named(context) or (repositories(given, self._kind(context))[1] if given else ())
        if not found:
            raise UserError("no repository is named", remedy="reviewgauge build github:owner/name -o bench/")
        if self.clone and len(found) > 1:
            raise UserError(f"one clone cannot hold the commits of {len(found)} repositories", remedy="name one")
        return found

    def _listed(self, reader: PullReader) -> Iterator[tuple[int, str]]:
        """(number, last update) of the pull requests to read."""
        if self.numbers:
            yield from ((one, "") for one in dict.fromkeys(self.numbers))
            return
        seen: set[int] = set()
        state = "all" if {"open"} < set(self.states) else "open" if "open" in self.states else "closed"
        for item in reader.listed(state):
            own, opened = number(item, "number"), when(item, "created_at")
            if own is None or own in seen or not self._in_time(opened):
                if self.since and opened is not None and opened.date() < date.fromisoformat(self.since):
                    return  # the newest come first
                continue
            if _state(item) in self.states:
                seen.add(own)
                yield own, text(item, "updated_at")
            if self.limit and len(seen) >= self.limit:
                return

    def _in_time(self, opened: datetime | None) -> bool:
        day = opened.astimezone(UTC).date().isoformat() if opened is not None else ""
        return (not self.since or day >= self.since) and (not self.until or day <= self.until)

    # --- from a forge --------------------------------------------------------------------------------------------

    def _crawl(self, forge: Forge, repo: str, context: BuildContext) -> Iterator[tuple[Raw, PullRequest] | Drop]:
        try:
            reader = forge.kind.reader(forge, repo)
        except Unavailable as error:
            yield self.drop(repo, f"repository {error.reason}", str(error))
            return
        mirror = Mirror(context, reader.repo, clone=self.clone)
        numbers, done = self._listed(reader), 0
        while some := list(islice(numbers, AT_ONCE)):
            read: list[tuple[Raw, PullRequest]] = []
            for own, updated in some:
                context.progress(f"pull requests of {reader.repo}", done, None)
                done += 1
                found = self._read(reader, own, updated)
                if isinstance(found, Drop):
                    yield found
                else:
                    read.append(found)
            try:
                if not self.clone:
                    mirror.fetch(reader, [pull for _, pull in read])
            except UserError as error:
                if isinstance(error, Failed):
                    raise
                yield self.drop(reader.repo, "its git repository cannot be read", error.problem)
                return
            for raw, pull in read:
                checked = self._with_code(mirror, pull)
                yield checked if isinstance(checked, Drop) else (raw, checked)

    def _read(self, reader: PullReader, own: int, updated: str) -> tuple[Raw, PullRequest] | Drop:
        """What the forge answers, or why the pull request is left out."""
        item = f"{reader.repo}/pull/{own}"
        try:
            raw = reader.read(own, updated)
            if self.issues:
                raw["issues"] = [dict(issue) for issue in _issues(reader, raw)]
            return self._too_large(item, raw) or (raw, read_pull(raw, "the forge's answer"))
        except Unavailable as error:
            return self.drop(item, error.reason, str(error))
        except BadInput as error:
            return self.drop(item, UNREADABLE, str(error))
        except Failed as error:
            if error.stops:
                raise
            return self.drop(item, "the forge does not manage to answer: asked again next time", str(error))

    def _too_large(self, item: str, raw: Json) -> Drop | None:
        lines = (number(raw, "pull", "additions") or 0) + (number(raw, "pull", "deletions") or 0)
        if lines > self.max_lines:
            return self.drop(item, f"more than {self.max_lines} changed lines", f"{lines} lines")
        return None

    def _with_code(self, mirror: Mirror | None, pull: PullRequest) -> PullRequest | Drop:
        """The pull request with its states and what it changed: as git has it, else as the dump does.

        A commit that git cannot show as a change (a name that is not a path, a damaged object) costs its pull request.
        """
        item = case_id(pull)
        try:
            found = mirror.read(pull) if mirror is not None else None
        except UserError as error:
            return self.drop(item, NO_DIFF, error.problem)
        pull = found or pull
        if not pull.files:
            return self.drop(item, NO_FILES if found else NO_CODE)
        if all(file.patch is None and not file.binary for file in pull.files):
            return self.drop(item, "no diff is at hand")
        return pull

    # --- from a dump ---------------------------------------------------------------------------------------------

    def _from_archive(self, context: BuildContext) -> Iterator[Candidate | Drop]:
        """What a dump holds, in its order; naming repositories narrows it. Commits come from `clone` alone."""
        wanted = {name.lower() for name in self.named(context)}
        counts, mirror = Counter[str](), None
        for done, (where, raw) in enumerate(read_archive(Path(self.archive).expanduser())):
            context.progress("pull requests of the archive", done, None)
            try:
                pull = read_pull(raw, where)
            except BadInput as error:
                yield self.drop(where, UNREADABLE, str(error))
                continue
            if (wanted and pull.repo.lower() not in wanted) or not self._is_wanted(raw, pull):
                continue
            if self.limit and counts[pull.repo] >= self.limit:
                continue
            counts[pull.repo] += 1
            if self.clone and mirror is None:
                mirror = Mirror(context, pull.repo, clone=self.clone)
            made = self._too_large(case_id(pull), raw) or self._with_code(
                mirror, pull.model_copy(update={"base": text(raw, "merge_base") or pull.base})
            )
            yield made if isinstance(made, Drop) else final_candidate(made)

    def _is_wanted(self, raw: Raw, pull: PullRequest) -> bool:
        if self.numbers:
            return pull.number in self.numbers
        return _state(raw.get("pull")) in self.states and self._in_time(pull.created)


def _state(pull: JsonValue | Json) -> str:
    """merged, closed or open."""
    item = node(pull)
    if item.get("merged") is True or when(item, "merged_at") is not None:
        return "merged"
    return text(item, "state") or "open"


def _issues(reader: PullReader, raw: Raw) -> Iterator[Raw]:
    """The issues that a pull request closes, and those that its title, its description or a comment names."""
    closes = (named(item).lower() for item in nodes(raw, "closing"))
    is_repository = reader.forge.kind.is_repository
    names = {name: None for name in closes if is_repository(name.partition("#")[0])}
    for body in _texts(raw):
        mentioned = references(body[:MOST_READ], reader.repo)
        names |= {f"{repo}#{one}": None for (repo, one), _ in mentioned if is_repository(repo)}
    own = f"{reader.repo}#{number(raw, 'pull', 'number')}".lower()
    for name in [name for name in names if name != own or not reader.forge.kind.shares_numbers][:MOST_ISSUES]:
        repo, _, one = name.partition("#")
        try:
            yield reader.read_issue(repo, int(one))
        except Unavailable:
            continue  # a number that is none, or an issue that is gone


def _texts(raw: Raw) -> Iterator[str]:
    yield text(raw, "pull", "body")
    yield text(raw, "pull", "title")
    for part in ("conversation", "reviews", "comments"):
        yield from (text(item, "body") for item in nodes(raw, part))


def _report(context: BuildContext, forge: Forge) -> None:
    spent = forge.spent
    summary = f"{spent.requests:,} requests, {spent.waited:,.0f} s waited for limits"
    if not forge.authenticated:
        summary += ". It was asked without a token, so nobody knows which threads were resolved"
    if spent.without_graphql:
        summary += (
            f". GraphQL gave no answer for {spent.without_graphql:,} pull requests: whether their threads were resolved"
            " is unknown, and the issues that they close are known by their text only"
        )
    context.progress(summary, spent.requests, spent.requests)
    words = f"{summary}. Answers are kept beside the benchmark, so the same command asks only for what changed."
    figures = {"requests": spent.requests, "pull requests without an answer of GraphQL": spent.without_graphql}
    context.report(CardSection(by="from_forge", title="What was asked of the forge", text=words, figures=figures))


def as_listed(files: Sequence[ChangedFile]) -> list[JsonValue]:
    """Changed files as the forge lists them, for the dump of a build."""
    entries: list[JsonValue] = []
    for file in files:
        entry: Raw = {"filename": file.path, "status": _STATUSES.get(file.status, "modified"), "patch": file.patch}
        if file.old_path is not None:
            entry["previous_filename"] = file.old_path
        entry["changes"] = 0 if file.binary or not file.patch else file.patch.count("\n") + 1
        entries.append(entry)
    return entries
