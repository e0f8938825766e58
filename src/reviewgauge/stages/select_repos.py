"""Choose the repositories that the next stage reads, by the rule of ContextCRBench or of AACR-Bench.

Source: ContextCRBench (arXiv:2511.07017), section 2.1.1: per language the 100 most starred, the language over 60% of
it, active within six months, over 5,000 issues and pull requests. AACR-Bench (arXiv:2601.19494, appendix A): in the top
2,000 both by new stars and by closed pull requests of a window, then five per language by new stars.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import islice
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

from reviewgauge.core.building import BuildContext, Candidate, CardSection, RepositoryCandidate
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.files import write_whole
from reviewgauge.core.json_reader import flag, node, number, text
from reviewgauge.core.parsing import parse_record, records
from reviewgauge.core.protocols import Stage, StageOutput
from reviewgauge.core.trust import Address, FilePath, Variable, Word
from reviewgauge.repo.forge.access import SCHEME, repository_name
from reviewgauge.repo.forge.client import Forge
from reviewgauge.repo.forge.replies import Unavailable
from reviewgauge.repo.syntax.languages import language_name
from reviewgauge.stages.pull_requests.candidates import remember_repositories

CHOSEN, FORGE = "repositories.jsonl", "forge"
CONTEXT_LANGUAGES = ("Python", "Java", "JavaScript", "C", "C++", "C#", "Rust", "TypeScript", "Go")
AACR_LANGUAGES = ("JavaScript", "Python", "TypeScript", "Java", "C#", "C++", "C", "PHP", "Go", "Rust")
_DAYS = 30.4375  # of a month, on average
_COUNTS = ("stars", "new_stars", "issues_and_pulls", "closed_pulls")
_FIELDS = ("name", "language", *_COUNTS, "active", "language_share")
LARGEST = 64 * 1024**2  # bytes of a file of candidates
_MOST = 1000  # results that a search gives


class Refused(NamedTuple):
    """A repository that is not chosen, and why."""

    name: str
    reason: str
    detail: str = ""


Chosen = tuple[list[RepositoryCandidate], list[Refused]]


@dataclass(frozen=True)
class SelectRepos(Stage):
    """`rule` is `context_crbench` or `aacr_bench`; what it leaves out is dropped with the criterion that failed.

    `candidates` is a CSV or JSON lines file with the fields of RepositoryCandidate. Without one the forge is asked,
    which can answer the first rule only: nobody but an archive of events counts the new stars of a window. `day` is
    that from which "within six months" counts back; ContextCRBench crawled in April 2025. What the forge said is kept
    in the folder for this day, so the choice stays the same there. The paper's manual check of what is left is yours to
    do: the chosen ones stand in repositories.jsonl beside the benchmark. Where the build's source names repositories
    (`github:owner/name`), there is nothing to choose.
    """

    example: ClassVar[str] = (
        "reviewgauge build . --recipe context_crbench --model openai:gpt-5 --set candidates=repositories.csv -o bench"
    )

    rule: Literal["context_crbench", "aacr_bench"] = "context_crbench"
    candidates: FilePath = ""
    languages: tuple[Word, ...] = ()
    day: Word = "2025-04-30"
    top: int = 100
    share: float = 0.6
    months: float = 6.0
    volume: int = 5000
    rank: int = 2000
    per_language: int = 5
    api: Address = ""
    auth_variable: Variable = "GITHUB_TOKEN"

    def __post_init__(self) -> None:
        date.fromisoformat(self.day)

    def apply(self, items: Iterable[Candidate], context: BuildContext) -> StageOutput:
        """What came in, then a drop for each repository that is not chosen. Nothing where the user named some."""
        yield from items
        if SCHEME in context.source:
            return
        if self.rule == "aacr_bench":
            if not self.candidates:
                raise UserError(
                    "the rule aacr_bench ranks by the new stars of a window, which a forge does not tell",
                    remedy="give candidates='repositories.csv' with new_stars and closed_pulls, from GH Archive",
                )
            given = read_candidates(Path(self.candidates).expanduser())
            chosen, refused = ranked(given, self._languages, self.rank, self.per_language)
        else:
            chosen, refused = self._by_context_rule(context)
        for one in refused:
            yield self.drop(*one)
        if not chosen:
            raise UserError("no repository meets the rule", remedy="drops.jsonl says at which criterion each was lost")
        self._keep(context, chosen, len(refused))

    @property
    def _languages(self) -> tuple[str, ...]:
        paper = AACR_LANGUAGES if self.rule == "aacr_bench" else CONTEXT_LANGUAGES
        return self.languages or paper

    def _by_context_rule(self, context: BuildContext) -> tuple[list[RepositoryCandidate], list[Refused]]:
        today = date.fromisoformat(self.day)
        if self.candidates:
            given = read_candidates(Path(self.candidates).expanduser())
            found, refused = popular(given, self._languages, self.top)
            judged = [(one, unfit(one, today, self.share, self.months, self.volume)) for one in found]
        else:
            folder = context.folder / FORGE
            with Forge(folder, api=self.api, token=self.auth_variable, progress=context.progress) as forge:
                found, refused = popular(self._starred(forge, context), self._languages, self.top)
                judged = []
                for number, one in enumerate(found):
                    context.progress("repositories looked up", number, len(found))
                    judged.append(self._look_up(forge, one, today))
        return [one for one, no in judged if no is None], refused + [no for _, no in judged if no is not None]

    def _starred(self, forge: Forge, context: BuildContext) -> Iterator[RepositoryCandidate]:
        for done, language in enumerate(self._languages):
            context.progress("languages searched", done, len(self._languages))
            yield from most_starred(forge, language, self.top, self._version)

    def _look_up(
        self, forge: Forge, one: RepositoryCandidate, today: date
    ) -> tuple[RepositoryCandidate, Refused | None]:
        """A repository with what the rule needs, asked for as long as it may still be chosen; and why it is not."""
        try:
            one = one.model_copy(update={"language_share": language_share(forge, one, self._version)})
            refused = unfit(one.model_copy(update={"issues_and_pulls": self.volume + 1}), today, *self._limits)
            if refused is None:
                one = one.model_copy(update={"issues_and_pulls": count_items(forge, one.name, self._version)})
                refused = unfit(one, today, *self._limits)
        except Unavailable as error:
            return one, Refused(one.name, f"repository {error.reason}", str(error))
        return one, refused

    @property
    def _version(self) -> str:
        return f"chosen for {self.day}"

    @property
    def _limits(self) -> tuple[float, float, int]:
        return self.share, self.months, self.volume

    def _keep(self, context: BuildContext, chosen: list[RepositoryCandidate], refused: int) -> None:
        write_whole(context.folder / CHOSEN, b"".join(one.to_line() for one in chosen))
        remember_repositories(context, [one.name for one in chosen])
        context.report(
            CardSection(
                by="select_repos",
                title="Repositories that were chosen",
                text=f"By the rule of {self.rule}, out of {len(chosen) + refused:,}; the others are in drops.jsonl.",
                columns=("repository", "language", "stars", "new stars"),
                rows=tuple((one.name, one.language, one.stars, one.new_stars) for one in chosen),
                figures={"candidates": len(chosen) + refused, "chosen": len(chosen)},
            )
        )


# --- the rules -----------------------------------------------------------------------------------------------------


def popular(candidates: Iterable[RepositoryCandidate], languages: Sequence[str], top: int) -> Chosen:
    """The `top` most starred of each language (ties by name), and the others."""
    return _best_of_each(candidates, languages, top, lambda one: one.stars, f"{top} most starred of")


def ranked(candidates: Iterable[RepositoryCandidate], languages: Sequence[str], rank: int, each: int) -> Chosen:
    """AACR-Bench's choice: the top `rank` by new stars and by closed pull requests, then `each` per language.

    Both ranks are among all candidates, whatever their language.
    """
    refused: list[Refused] = []
    known: list[RepositoryCandidate] = []
    for one in candidates:
        if one.new_stars is None or one.closed_pulls is None:
            refused.append(Refused(one.name, "new stars or closed pull requests are not stated"))
        else:
            known.append(one)
    starred = {one.name for one in sorted(known, key=lambda c: (-(c.new_stars or 0), c.name))[:rank]}
    closed = {one.name for one in sorted(known, key=lambda c: (-(c.closed_pulls or 0), c.name))[:rank]}
    both: list[RepositoryCandidate] = []
    for one in known:
        if one.name not in starred:
            refused.append(Refused(one.name, f"not in the top {rank:,} by new stars", f"{one.new_stars:,}"))
        elif one.name not in closed:
            reason = f"not in the top {rank:,} by closed pull requests"
            refused.append(Refused(one.name, reason, f"{one.closed_pulls:,}"))
        else:
            both.append(one)
    chosen, others = _best_of_each(both, languages, each, lambda one: one.new_stars, f"{each} with most new stars of")
    return chosen, refused + others


def _best_of_each(
    candidates: Iterable[RepositoryCandidate],
    languages: Sequence[str],
    count: int,
    stars: Callable[[RepositoryCandidate], int | None],
    words: str,
) -> Chosen:
    groups: dict[str, list[RepositoryCandidate]] = {language: [] for language in languages}
    chosen: list[RepositoryCandidate] = []
    refused: list[Refused] = []
    for one in candidates:
        group = groups.get(language_name(one.language))
        if group is None:
            refused.append(Refused(one.name, "in none of the languages", one.language or "not stated"))
        elif stars(one) is None:
            refused.append(Refused(one.name, "stars are not stated"))
        else:
            group.append(one)
    for language, group in groups.items():
        group.sort(key=lambda one: (-(stars(one) or 0), one.name))
        chosen += group[:count]
        refused += [Refused(one.name, f"not among the {words} {language}") for one in group[count:]]
    return chosen, refused


def unfit(one: RepositoryCandidate, today: date, share: float, months: float, volume: int) -> Refused | None:
    """The reason why ContextCRBench excludes a repository; None where it does not."""
    if one.language_share is None:
        return Refused(one.name, "the share of its language is not stated")
    if one.language_share <= share:
        return Refused(one.name, f"its language is not over {share:.0%} of it", f"{one.language_share:.1%}")
    active = _day(one)
    if active is None:
        return Refused(one.name, "when it was last active is not stated")
    if active < today - timedelta(days=round(months * _DAYS)):
        return Refused(one.name, f"not active in the {months:g} months before {today}", one.active[:10])
    if one.issues_and_pulls is None:
        return Refused(one.name, "the number of its issues and pull requests is not stated")
    if one.issues_and_pulls <= volume:
        reason = f"not over {volume:,} issues and pull requests"
        return Refused(one.name, reason, f"{one.issues_and_pulls:,}")
    return None


def _day(one: RepositoryCandidate) -> date | None:
    try:
        return date.fromisoformat(one.active[:10])
    except ValueError:
        return None


# --- a file of candidates ------------------------------------------------------------------------------------------


def read_candidates(path: Path) -> list[RepositoryCandidate]:
    """The repositories of a CSV file with a header, or of a JSON lines file. Raises BadInput and UserError.

    Columns are RepositoryCandidate's fields; others are kept in `extra`. An empty field is not stated.
    """
    source = path.name
    try:
        if path.stat().st_size > LARGEST:
            raise UserError(f"{path} is larger than {LARGEST:,} bytes", remedy="leave out what cannot be chosen")
        with path.open("rb") as file:
            is_csv = path.suffix == ".csv"
            found = _from_csv(file.read(), source) if is_csv else list(records(RepositoryCandidate, file, source))
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}", remedy="name a CSV or JSON lines file") from None
    twice = next((name for name, count in Counter(one.name.lower() for one in found).items() if count > 1), None)
    if twice is not None:
        raise BadInput(source, f"names {twice} twice", remedy="keep one line of it")
    for one in found:
        share = one.language_share
        if share is not None and not 0 <= share <= 1:
            problem, remedy = f"{share} is not a share", "a number from 0 to 1"
            raise BadInput(source, problem, record=one.name, field="language_share", remedy=remedy)
        if one.active and _day(one) is None:
            problem = f"{one.active!r} is not a date"
            raise BadInput(source, problem, record=one.name, field="active", remedy="YYYY-MM-DD")
    return found


def _from_csv(raw: bytes, source: str) -> list[RepositoryCandidate]:
    try:
        rows = csv.DictReader(io.StringIO(raw.decode("utf-8-sig")), strict=True)
        if "name" not in (rows.fieldnames or ()):
            raise BadInput(source, "has no column name", record=1, remedy=f"columns are {', '.join(_FIELDS)}")
        return [_from_row(row, source, rows.line_num) for row in rows]
    except UnicodeDecodeError as error:
        raise BadInput(source, f"is not UTF-8 (byte {error.start + 1})", remedy="save it as UTF-8") from None
    except csv.Error as error:
        raise BadInput(source, f"is not a CSV: {error}") from None


def _from_row(row: Mapping[str | None, str | None], source: str, number: int) -> RepositoryCandidate:
    if None in row or None in row.values():
        raise BadInput(source, "has more or fewer fields than the header", record=number)
    extra = {name: value for name, cell in row.items() if name and (value := (cell or "").strip())}
    fields: dict[str, object] = {name: extra.pop(name) for name in _FIELDS if name in extra}
    for name in (*_COUNTS, "language_share"):
        if name in fields:
            value = str(fields[name])
            try:
                fields[name] = float(value) if name == "language_share" else int(value)
            except ValueError:
                raise BadInput(source, f"{value!r} is not a number", record=number, field=name) from None
    return parse_record(RepositoryCandidate, json.dumps({**fields, "extra": extra}).encode(), source, number)


# --- a search ------------------------------------------------------------------------------------------------------
# `version` names the state of a search: stored answers for it are not requested again, so a choice can be resumed.


def most_starred(forge: Forge, language: str, top: int, version: str) -> Iterator[RepositoryCandidate]:
    """The `top` repositories of a language by stars, without forks and archived ones."""
    query = f'language:"{language}" stars:>100 fork:false archived:false'
    asked = {"q": query, "sort": "stars", "order": "desc"}
    for item in islice(forge.pages("search/repositories", asked, version=version), min(top, _MOST)):
        found = node(item)
        name = text(found, "full_name")
        if not _is_name(name) or flag(found, "fork") or flag(found, "archived"):
            continue
        yield RepositoryCandidate(
            name=name,
            language=text(found, "language") or language,
            stars=number(found, "stargazers_count"),
            active=text(found, "pushed_at")[:10],
        )


def language_share(forge: Forge, one: RepositoryCandidate, version: str) -> float | None:
    """The share of its main language in its code, in bytes. Raises Unavailable."""
    counted = node(forge.get(f"repos/{one.name}/languages", version=version))
    sizes = {name: number(counted, name) or 0 for name in counted}
    whole = sum(sizes.values())
    return sizes.get(one.language, 0) / whole if whole else None


def count_items(forge: Forge, name: str, version: str) -> int | None:
    """The number of its issues and pull requests, open and closed. Raises Unavailable.

    Two searches: one without `is:` is refused for some kinds of token.
    """
    counts: list[int] = []
    for kind in ("issue", "pull-request"):
        asked: dict[str, str | int] = {"q": f"repo:{name} is:{kind}", "per_page": 1}
        count = number(node(forge.get("search/issues", asked, version=version)), "total_count")
        if count is None:
            return None
        counts.append(count)
    return sum(counts)


def _is_name(name: str) -> bool:
    try:
        return repository_name(name) == name
    except UserError:
        return False
