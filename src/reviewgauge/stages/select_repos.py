"""Choose the repositories that the next stage reads, by the rule of ContextCRBench or of AACR-Bench.

Source: ContextCRBench (arXiv:2511.07017), section 2.1.1: per language the 100 most starred, the language over 60% of
it, active within six months, over 5,000 issues and pull requests. AACR-Bench (arXiv:2601.19494, B.1): in the top
2,000 both by new stars and by closed pull requests of a window, then five per language by new stars.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from operator import attrgetter
from pathlib import Path
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import BeforeValidator, ValidationError

from reviewgauge.core.base import Id, Record, Share
from reviewgauge.core.building import RESULTS, BuildContext, Candidate, CardSection
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.files import read_file, write_whole
from reviewgauge.core.parsing import first_problem, records
from reviewgauge.core.protocols import Stage, StageOutput
from reviewgauge.core.trust import FilePath, Word
from reviewgauge.repo.forge.api import forge_of
from reviewgauge.repo.syntax.languages import language_name
from reviewgauge.stages.pull_requests.candidates import remember_repositories

CHOSEN = "repositories.jsonl"
CONTEXT_LANGUAGES = ("Python", "Java", "JavaScript", "C", "C++", "C#", "Rust", "TypeScript", "Go")
AACR_LANGUAGES = ("JavaScript", "Python", "TypeScript", "Java", "C#", "C++", "C", "PHP", "Go", "Rust")
TOP, PURITY, ACTIVE, VOLUME = 100, 0.6, timedelta(days=183), 5000  # ContextCRBench's limits
RANK, PER_LANGUAGE = 2000, 5  # AACR-Bench's
LARGEST = 64 * 1024**2  # bytes of a file of candidates


def _day(value: object) -> object:
    return date.fromisoformat(value[:10]) if isinstance(value, str) else value


class RepositoryCandidate(Record, extra="ignore"):
    """A repository that may be chosen. None is what is not stated."""

    name: Id
    language: str = ""
    stars: int | None = None
    new_stars: int | None = None
    issues_and_pulls: int | None = None
    closed_pulls: int | None = None
    active: Annotated[date | None, BeforeValidator(_day)] = None
    language_share: Share | None = None


class Refused(NamedTuple):
    """A repository that is not chosen, and why."""

    name: str
    reason: str
    detail: str = ""


Chosen = tuple[list[RepositoryCandidate], list[Refused]]


@dataclass(frozen=True)
class SelectRepos(Stage):
    """`rule` is `context_crbench` or `aacr_bench`; what it leaves out is dropped with the criterion that failed.

    `candidates` is a CSV or JSON lines file with the fields of RepositoryCandidate. `day` is that from which "within
    six months" counts back; ContextCRBench crawled in April 2025. The paper's manual check of what is left is yours to
    do: the chosen ones stand in repositories.jsonl beside the benchmark. Where the build's source names repositories,
    there is nothing to choose.
    """

    example: ClassVar[str] = (
        "reviewgauge build . --recipe context_crbench --model openai:gpt-5 --set candidates=repositories.csv -o bench"
    )

    rule: Literal["context_crbench", "aacr_bench"] = "context_crbench"
    candidates: FilePath = ""
    day: Word = "2025-04-30"

    def __post_init__(self) -> None:
        date.fromisoformat(self.day)

    def apply(self, items: Iterable[Candidate], context: BuildContext) -> StageOutput:
        """What came in, then a drop for each repository that is not chosen. Nothing where the user named some."""
        yield from items
        if forge_of(context.source) is not None:
            return
        if not self.candidates:
            problem = f"the rule {self.rule} needs the repositories to choose from"
            raise UserError(problem, remedy="give candidates='repositories.csv' (docs/reference/stages.md)")
        given = read_candidates(Path(self.candidates).expanduser())
        if self.rule == "context_crbench":
            found, refused = popular(given, CONTEXT_LANGUAGES)
            why = [unfit(one, date.fromisoformat(self.day)) for one in found]
            chosen = [one for one, no in zip(found, why, strict=True) if no is None]
            refused += filter(None, why)
        else:
            chosen, refused = ranked(given, AACR_LANGUAGES)
        for one in refused:
            yield self.drop(*one)
        if not chosen:
            raise UserError("no repository meets the rule", remedy="drops.jsonl says at which criterion each was lost")
        write_whole(context.folder / RESULTS / CHOSEN, b"".join(one.to_line() for one in chosen))
        remember_repositories(context, [one.name for one in chosen])
        context.report(
            CardSection(
                by="select_repos",
                title="Repositories that were chosen",
                text=f"By the rule of {self.rule}; the others are in drops.jsonl.",
                columns=("repository", "language", "stars", "new stars"),
                rows=tuple((one.name, one.language, one.stars, one.new_stars) for one in chosen),
                figures={"candidates": len(chosen) + len(refused), "chosen": len(chosen)},
            )
        )


# --- the rules -----------------------------------------------------------------------------------------------------


def popular(candidates: Iterable[RepositoryCandidate], languages: Sequence[str], top: int = TOP) -> Chosen:
    """The `top` most starred of each language (ties by name), and the others."""
    return _best_of_each(candidates, languages, top, "stars", f"{top} most starred of")


def ranked(
    candidates: Iterable[RepositoryCandidate], languages: Sequence[str], rank: int = RANK, each: int = PER_LANGUAGE
) -> Chosen:
    """AACR-Bench's choice: the top `rank` by new stars and by closed pull requests, then `each` per language.

    Both ranks are among all candidates, whatever their language.
    """
    known, refused = list[RepositoryCandidate](), list[Refused]()
    for one in candidates:
        if one.new_stars is None or one.closed_pulls is None:
            refused.append(Refused(one.name, "new stars or closed pull requests are not stated"))
        else:
            known.append(one)
    stated = known
    for fact, words in (("new_stars", "new stars"), ("closed_pulls", "closed pull requests")):
        best = {one.name for one in sorted(stated, key=lambda one: (-getattr(one, fact), one.name))[:rank]}
        reason = f"not in the top {rank:,} by {words}"
        refused += [Refused(one.name, reason, f"{getattr(one, fact):,}") for one in known if one.name not in best]
        known = [one for one in known if one.name in best]
    chosen, others = _best_of_each(known, languages, each, "new_stars", f"{each} with most new stars of")
    return chosen, refused + others


def _best_of_each(
    candidates: Iterable[RepositoryCandidate], languages: Sequence[str], count: int, fact: str, words: str
) -> Chosen:
    stars = attrgetter(fact)
    groups: dict[str, list[RepositoryCandidate]] = {language: [] for language in languages}
    chosen, refused = list[RepositoryCandidate](), list[Refused]()
    for one in candidates:
        group = groups.get(language_name(one.language))
        if group is None:
            refused.append(Refused(one.name, "in none of the languages", one.language or "not stated"))
        elif stars(one) is None:
            refused.append(Refused(one.name, "stars are not stated"))
        else:
            group.append(one)
    for language, group in groups.items():
        group.sort(key=lambda one: (-stars(one), one.name))
        chosen += group[:count]
        refused += [Refused(one.name, f"not among the {words} {language}") for one in group[count:]]
    return chosen, refused


def unfit(one: RepositoryCandidate, today: date) -> Refused | None:
    """The reason why ContextCRBench excludes a repository; None where it does not."""
    share, active, volume = one.language_share, one.active, one.issues_and_pulls
    if share is None or active is None or volume is None:
        return Refused(one.name, "its language's share, last activity or number of issues is not stated")
    if share <= PURITY:
        return Refused(one.name, f"its language is not over {PURITY:.0%} of it", f"{share:.1%}")
    if active < today - ACTIVE:
        return Refused(one.name, f"not active in the 6 months before {today}", str(active))
    if volume <= VOLUME:
        return Refused(one.name, f"not over {VOLUME:,} issues and pull requests", f"{volume:,}")
    return None


# --- a file of candidates ------------------------------------------------------------------------------------------


def read_candidates(path: Path) -> list[RepositoryCandidate]:
    """The repositories of a CSV file with a header, or of a JSON lines file. Raises BadInput and UserError.

    Columns are RepositoryCandidate's fields; others are not read. An empty field is not stated.
    """
    source = path.name
    try:
        raw = read_file(path, LARGEST)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}", remedy="name a CSV or JSON lines file") from None
    is_csv = path.suffix == ".csv"
    found = _from_csv(raw, source) if is_csv else list(records(RepositoryCandidate, io.BytesIO(raw), source))
    twice = next((name for name, count in Counter(one.name.lower() for one in found).items() if count > 1), None)
    if twice is not None:
        raise BadInput(source, f"names {twice} twice", remedy="keep one line of it")
    return found


def _from_csv(raw: bytes, source: str) -> list[RepositoryCandidate]:
    found: list[RepositoryCandidate] = []
    try:
        rows = csv.DictReader(io.StringIO(raw.decode("utf-8-sig")), strict=True)
        for row in rows:
            if None in row or None in row.values():
                raise BadInput(source, "has more or fewer fields than the header", record=rows.line_num)
            stated = {name: cell.strip() for name, cell in row.items() if cell.strip()}
            found.append(RepositoryCandidate.model_validate(stated))
    except UnicodeDecodeError as error:
        raise BadInput(source, f"is not UTF-8 (byte {error.start + 1})", remedy="save it as UTF-8") from None
    except csv.Error as error:
        raise BadInput(source, f"is not a CSV: {error}") from None
    except ValidationError as error:
        field, problem = first_problem(error)
        raise BadInput(source, problem, record=rows.line_num, field=field) from None
    return found
