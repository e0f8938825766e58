"""Pull requests of GitHub, or of a dump of it, as cases: the final state, with what people said about it on the lines.

Source: the crawls of SWR-Bench (arXiv:2509.01494), ContextCRBench (arXiv:2511.07017) and AACR-Bench (arXiv:2601.19494);
which pull requests stay and at which state they are taken is decided by the stages behind this one.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import ClassVar, TypeVar

from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate, CardSection
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.history import PullRequest
from reviewgauge.core.json_reader import Json, nodes, number, text, when
from reviewgauge.core.protocols import Stage, StageOutput
from reviewgauge.core.results import Drop, Failed
from reviewgauge.core.trust import Address, FilePath, Variable, Word
from reviewgauge.repo.forge.access import SCHEME, is_repository, repository_name
from reviewgauge.repo.forge.answers import Kept
from reviewgauge.repo.forge.archive import read_archive, write_archive_line
from reviewgauge.repo.forge.client import Forge
from reviewgauge.repo.forge.pulls import read_pull
from reviewgauge.repo.forge.reading import PullReader, Raw, read_issue
from reviewgauge.repo.forge.replies import Unavailable
from reviewgauge.repo.forge.timeline import named
from reviewgauge.stages.link_issues import references
from reviewgauge.stages.pull_requests.candidates import NO_DIFF, NO_FILES, case_id, chosen_repositories, final_candidate
from reviewgauge.stages.pull_requests.code import CodeFrom, CodeOfPull, Mirror, as_listed, mirror_of, read_from_api
from reviewgauge.stages.sampling.draws import check_day

T = TypeVar("T")
FOLDER, DUMP = "forge", "pulls.jsonl.gz"
STATES = ("merged", "closed", "open")
AT_ONCE = 20  # pull requests whose commits are fetched together
ROUND = 24 * 3600.0  # seconds for which a crawl that was killed goes on with the lists it had
_ROUND = "round"  # under which the beginning of a crawl is kept, until it is done
MOST_ISSUES = 10  # of one pull request that are read
MOST_READ = 20_000  # characters of one text that are looked through for issues
UNREADABLE = "what the forge says of it cannot be read"


@dataclass(frozen=True)
class FromGithub(Stage):
    """The pull requests of `repos`, the newest first; by default of `github:owner/name` as the build's source.

    `since` and `until` are ISO dates of opening, `states` are of merged, closed (without a merge) and open, `limit` is
    how many of each repository are read (0: all), `numbers` picks single ones. `api` is the address of GitHub
    Enterprise (`https://HOST/api/v3`), `auth_variable` the environment variable of a token. With `archive` a dump
    is read and nobody is asked. `code`: commits come from a git mirror and, where git cannot be had, patches from the
    API (`auto`), or from one of them only; `clone` is a clone on this machine to take commits from. `issues`: read the
    issues that a pull request names. A pull request of more than `max_lines` changed lines is left out unread.
    """

    example: ClassVar[str] = "reviewgauge build github:OWNER/NAME -o bench"

    repos: tuple[Word, ...] = ()
    since: Word = ""
    until: Word = ""
    states: tuple[Word, ...] = ("merged", "closed")
    limit: int = 0
    numbers: tuple[int, ...] = ()
    archive: FilePath = ""
    api: Address = ""
    auth_variable: Variable = "GITHUB_TOKEN"
    code: CodeFrom = "auto"
    clone: FilePath = ""
    issues: bool = True
    max_lines: int = 20_000

    def __post_init__(self) -> None:
        for name, word in (("since", self.since), ("until", self.until)):
            if word:
                check_day(name, word)
        if not self.states or set(self.states) - set(STATES):
            raise ValueError(f"states are of {', '.join(STATES)}, not {', '.join(self.states) or 'none'}")
        if self.limit < 0:
            raise ValueError("limit counts pull requests; 0 reads all")

    @override
    def apply(self, items: Iterable[Candidate], context: BuildContext) -> StageOutput:
        yield from items
        if self.archive:
            yield from self._from_archive(context)
            return
        with self.open_forge(context) as forge:
            began = self._round(forge)
            folder = context.folder / FOLDER
            with gzip.GzipFile(folder / f"{DUMP}.part", "wb", mtime=0) as dump:
                for repo in self._repositories(context):
                    for made in self._crawl(forge, repo, context, began):
                        if isinstance(made, Drop):
                            yield made
                            continue
                        write_archive_line(dump, made[0])
                        yield final_candidate(made[1])
            (folder / f"{DUMP}.part").replace(folder / DUMP)
            forge.answers.put(_ROUND, Kept(None))
            _report(context, forge)

    def open_forge(self, context: BuildContext) -> Forge:
        """The forge that is asked; answers are kept in the folder of the build."""
        return Forge(context.folder / FOLDER, api=self.api, token=self.auth_variable, progress=context.progress)

    # --- which ---------------------------------------------------------------------------------------------------

    def _named(self, context: BuildContext) -> tuple[str, ...]:
        """The repositories that the user names: `github:owner/name`, or several with commas between them."""
        names = context.source.replace(",", " ").split() if context.source.startswith(SCHEME) else ()
        return self.repos or tuple(names)

    def _repositories(self, context: BuildContext) -> list[str]:
        found = self._named(context) or chosen_repositories(context)
        if not found:
            raise UserError("no repository is named", remedy=f"reviewgauge build {SCHEME}owner/name -o bench/")
        if self.clone and len(found) > 1:
            raise UserError(f"one clone cannot hold the commits of {len(found)} repositories", remedy="name one")
        return list(dict.fromkeys(repository_name(word) for word in found))

    def _round(self, forge: Forge) -> str:
        """The name of this crawl: that of the one before where it was killed not long ago, so that its lists hold."""
        now, kept = forge.now, forge.answers.get(_ROUND)
        known = kept.body if kept is not None else None
        began = known if isinstance(known, float) and now - known < ROUND else now
        forge.answers.put(_ROUND, Kept(began))
        return repr(began)

    def _listed(self, reader: PullReader, began: str) -> Iterator[tuple[int, str]]:
        """(number, last update) of the pull requests to read."""
        if self.numbers:
            yield from ((one, "") for one in dict.fromkeys(self.numbers))
            return
        seen: set[int] = set()
        state = "all" if {"open"} < set(self.states) else "open" if "open" in self.states else "closed"
        for item in reader.listed(state=state, version=began):
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

    def _crawl(
        self, forge: Forge, repo: str, context: BuildContext, began: str
    ) -> Iterator[tuple[Raw, PullRequest] | Drop]:
        try:
            reader = PullReader(forge, repo, began)
        except Unavailable as error:
            yield self.drop(repo, f"repository {error.reason}", str(error))
            return
        mirror = mirror_of(context, forge, reader, self.code, self.clone)
        numbers = self._listed(reader, began)
        done = 0
        while some := list(islice(numbers, AT_ONCE)):
            read: list[tuple[Raw, PullRequest]] = []
            for own, updated in some:
                context.progress(f"pull requests of {reader.repo}", done, None)
                done += 1
                found = self._read(reader, own, updated, began)
                if isinstance(found, Drop):
                    yield found
                else:
                    read.append(found)
            if mirror is not None:
                mirror.fetch([pull for _, pull in read])
            for raw, pull in read:
                yield self._with_code(reader, mirror, raw, pull)
        if mirror is not None and mirror.why:
            problem = (
                f"Its git repository could not be read ({mirror.why}), so patches are those of the API: large files "
                "have none, and states before the last one cannot be built."
            )
            context.report(CardSection(by="from_github", title=f"Code of {reader.repo}", text=problem))

    def _read(self, reader: PullReader, own: int, updated: str, began: str) -> tuple[Raw, PullRequest] | Drop:
        item = f"{reader.repo}/pull/{own}"

        def ask() -> tuple[Raw, PullRequest] | Drop:
            raw = reader.read(own, updated)
            if self.issues:
                raw["issues"] = [dict(issue) for issue in _issues(reader, raw, began)]
            return self._too_large(item, raw) or (raw, read_pull(raw, "the forge's answer"))

        return self._asked(item, ask)

    def _asked(self, item: str, ask: Callable[[], T], about: str = "") -> T | Drop:
        """What the forge answers, or why the pull request is left out."""
        try:
            return ask()
        except Unavailable as error:
            return self.drop(item, f"{about}{error.reason}", str(error))
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

    def _with_code(
        self, reader: PullReader, mirror: Mirror | None, raw: Raw, pull: PullRequest
    ) -> tuple[Raw, PullRequest] | Drop:
        """The pull request with its patches. `raw` becomes what the dump holds: it stands without git."""
        item = case_id(pull)
        here = self._in_mirror(mirror, pull)
        if isinstance(here, Drop):
            return here
        pull, found = here
        if found is None and self.code == "mirror":
            return self.drop(item, "its commits cannot be fetched", mirror.why if mirror is not None else "")
        if found is None:
            asked = self._asked(item, partial(read_from_api, reader, raw, pull), "its diff is ")
            if isinstance(asked, Drop):
                return asked
            found = asked
        raw["files"], raw["merge_base"] = as_listed(found.files), found.base
        raw["states"] = mirror.states(pull) if mirror is not None else []
        checked = self._checked(item, pull, found)
        return checked if isinstance(checked, Drop) else (raw, checked)

    def _in_mirror(self, mirror: Mirror | None, pull: PullRequest) -> tuple[PullRequest, CodeOfPull | None] | Drop:
        """The pull request with its states and what it changed, as far as the mirror holds it.

        A commit that git cannot show as a change (a name that is not a path, a damaged object) costs its pull request.
        """
        if mirror is None:
            return pull, None
        try:
            found = mirror.read(pull)
            update = {"revisions": mirror.revisions(pull), "git": str(mirror.folder) if found is not None else None}
        except UserError as error:
            return self.drop(case_id(pull), NO_DIFF, error.problem)
        return pull.model_copy(update=update), found

    def _checked(self, item: str, pull: PullRequest, found: CodeOfPull) -> PullRequest | Drop:
        """The pull request with what it changed."""
        if not found.files:
            return self.drop(item, NO_FILES)
        if all(file.patch is None and not file.binary for file in found.files):
            return self.drop(item, "no diff is at hand")
        return pull.model_copy(update={"base": found.base, "files": found.files})

    # --- from a dump ---------------------------------------------------------------------------------------------

    def _from_archive(self, context: BuildContext) -> Iterator[Candidate | Drop]:
        """What a dump holds, in its order; naming repositories narrows it. Commits come from `clone` alone."""
        wanted = {repository_name(word).lower() for word in self._named(context)}
        counts: dict[str, int] = {}
        mirrors: dict[str, Mirror] = {}
        pulls = read_archive(Path(self.archive).expanduser())
        for done, (where, raw) in enumerate(pulls):
            context.progress("pull requests of the archive", done, None)
            try:
                pull = read_pull(raw, where)
            except BadInput as error:
                yield self.drop(where, UNREADABLE, str(error))
                continue
            if (wanted and pull.repo.lower() not in wanted) or not self._is_wanted(raw, pull):
                continue
            if self.limit and counts.get(pull.repo, 0) >= self.limit:
                continue
            counts[pull.repo] = counts.get(pull.repo, 0) + 1
            made = self._too_large(case_id(pull), raw) or self._unpacked(context, mirrors, raw, pull)
            yield made if isinstance(made, Drop) else final_candidate(made)

    def _is_wanted(self, raw: Raw, pull: PullRequest) -> bool:
        if self.numbers:
            return pull.number in self.numbers
        return _state(raw.get("pull")) in self.states and self._in_time(pull.created)

    def _unpacked(
        self, context: BuildContext, mirrors: dict[str, Mirror], raw: Raw, pull: PullRequest
    ) -> PullRequest | Drop:
        if self.clone and pull.repo not in mirrors:
            mirrors[pull.repo] = Mirror(context, pull.repo, clone=self.clone)
        here = self._in_mirror(mirrors.get(pull.repo), pull)
        if isinstance(here, Drop):
            return here
        pull, found = here
        return self._checked(case_id(pull), pull, found or CodeOfPull(text(raw, "merge_base") or pull.base, pull.files))


def _state(pull: object) -> str:
    """merged, closed or open."""
    item: Json = pull if isinstance(pull, dict) else {}
    if item.get("merged") is True or when(item, "merged_at") is not None:
        return "merged"
    return text(item, "state") or "open"


def _issues(reader: PullReader, raw: Raw, version: str) -> Iterator[Raw]:
    """The issues that a pull request closes, and those that its title, its description or a comment names."""
    closes = (named(item).lower() for item in nodes(raw, "closing"))
    names = {name: None for name in closes if is_repository(name.partition("#")[0])}
    for body in _texts(raw):
        mentioned = references(body[:MOST_READ], reader.repo)
        names |= {f"{repo}#{one}": None for (repo, one), _ in mentioned if is_repository(repo)}
    own = f"{reader.repo}#{number(raw, 'pull', 'number')}".lower()
    for name in [name for name in names if name != own][:MOST_ISSUES]:
        repo, _, one = name.partition("#")
        try:
            yield read_issue(reader.forge, repo, int(one), version=version)
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
    text = f"{summary}. Answers are kept beside the benchmark, so the same command asks only for what changed."
    figures = {"requests": spent.requests, "pull requests without an answer of GraphQL": spent.without_graphql}
    context.report(CardSection(by="from_github", title="What was asked of the forge", text=text, figures=figures))
