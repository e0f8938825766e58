"""What people made of each pooled comment, each with one fate, goes into the next version of a benchmark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import sqlalchemy as sql

from reviewgauge.annotation.growing.unmatched import Pooled, read_pool
from reviewgauge.annotation.items import Item, shown_change
from reviewgauge.annotation.labels import labels_of
from reviewgauge.annotation.schemas.schema import ITEM, Schema
from reviewgauge.annotation.store import judgements as votes
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.judgements import DONE, INDEPENDENT, ROUNDS, Judgement
from reviewgauge.annotation.store.projects import Project
from reviewgauge.annotation.store.tables import changes, items
from reviewgauge.core.base import Fact, content_id
from reviewgauge.core.building import Candidate, CardSection
from reviewgauge.core.errors import UserError
from reviewgauge.core.files import read_within, write_whole
from reviewgauge.core.parsing import parse_record
from reviewgauge.core.records import Case, Change, Comment, Origin, RequiredContext, Tier
from reviewgauge.core.reports.annotation import GrowResult
from reviewgauge.core.reports.build_card import BuildCard
from reviewgauge.core.version import __version__
from reviewgauge.engine.build.folder import CASES, Written, find_licences, write_benchmark
from reviewgauge.engine.build.people import People
from reviewgauge.engine.run.manifest import benchmark_hash, same_change
from reviewgauge.repo.mirrors.mirrors import REFS, mirror_local
from reviewgauge.views.markdown import markdown

CORRECT, SAME, YES, NO = "correct", "same", "yes", "no"


class PoolDecision(StrEnum):
    """What happens to a pooled comment in the next version."""

    ACCEPTED = "accepted"  # a new finding, or another phrasing of one
    KNOWN = "known already"  # correct, and another phrasing of a reference
    REJECTED = "rejected"
    UNDECIDED = "no consensus"
    OPEN = "not judged yet"
    APART = "says something else"  # than the finding that it was merged into: it is judged on its own later


class Judged(NamedTuple):
    """A pooled comment, its fate, and what was said of it. `same_as` is what it says too: a reference or a finding.

    `settled` is the round in which it was decided, `raters` who judged its item independently.
    """

    pooled: Pooled
    fate: PoolDecision
    same_as: str | None = None
    category: str | None = None
    needs: str | None = None
    settled: str = ""
    raters: int = 0

    @property
    def right(self) -> bool:
        """Whether the next version has it among its references."""
        return self.fate in (PoolDecision.ACCEPTED, PoolDecision.KNOWN)


class Decision(NamedTuple):
    """What the raters of an item say together: the answer of most, by part and dimension."""

    item: Item
    fate: PoolDecision | None  # of an item that is not settled
    answers: Mapping[tuple[int, str], Fact]
    settled: str
    raters: int


def judge_pool(database: Database, project: Project) -> list[Judged]:
    """The fate of every pooled comment of a project."""
    with database.reading() as connection:
        pool = read_pool(connection, project.id)
        query = sql.select(items.c.id, items.c.item, items.c.round).where(items.c.project == project.id)
        rows = connection.execute(query.order_by(items.c.number)).all()
        judged: dict[int, list[Judgement]] = {}
        for one in votes.everything(connection, None, project.id):
            judged.setdefault(one.item, []).append(one)
    made = {row.id: _decide(Item.model_validate(row.item), row.round, judged.get(row.id, ())) for row in rows}
    return fates(pool.values(), made, project.schema_)


def _decide(item: Item, round_: str, judged: Sequence[Judgement]) -> Decision:
    """What the judgements of the last round of an item say; nothing is the answer of most in a tie."""
    raters = len({one.rater for one in judged if one.round == INDEPENDENT})
    if round_ != DONE:
        fate = PoolDecision.UNDECIDED if judged and round_ != INDEPENDENT else PoolDecision.OPEN
        return Decision(item, fate, {}, "", raters)
    last = max((one.round for one in judged), key=ROUNDS.index, default=INDEPENDENT)
    given: dict[tuple[int, str], Counter[Fact]] = {}
    for one in judged:
        for answer in one.answers if one.round == last else ():
            given.setdefault((answer.part, answer.dimension), Counter())[answer.value] += 1
    answers = {}
    for place, counted in given.items():
        (value, count), *others = counted.most_common(2)
        if not others or others[0][1] < count:
            answers[place] = value
    return Decision(item, None, answers, last, raters)


def fates(pool: Collection[Pooled], made: Mapping[int, Decision], schema: Schema) -> list[Judged]:
    """The fate of each pooled comment, given what was decided of the items, in the order of `pool`.

    A finding that says the same as another shares that one's fate, and so do the other phrasings of its item.
    """
    findings = {one.name: one for one in pool if one.part == ITEM}
    known: dict[str, Judged] = {}

    def finding(name: str) -> Judged:
        if name not in known:
            one = findings[name]
            known[name] = Judged(one, PoolDecision.OPEN)  # what would lead back here is not settled
            decision = made[one.item]
            same = [
                part.reference
                for number, part in enumerate(decision.item.parts)
                if part.comment == name and part.reference and decision.answers.get((number, SAME)) == YES
            ]
            others = {other: finding(other) for other in same if other in findings}
            known[name] = _judge(one, decision, [other for other in same if other not in others], others)
        return known[name]

    mains = {one.item: finding(one.name) for one in findings.values()}
    asks_same = schema.question(SAME) is not None
    judged = []
    for one in pool:
        main, decision = mains[one.item], made[one.item]
        if one.part == ITEM:
            judged.append(main)
        elif asks_same and decision.fate is None and decision.answers.get((one.part, SAME)) != YES:
            judged.append(Judged(one, PoolDecision.APART))
        else:
            judged.append(main._replace(pooled=one, same_as=main.pooled.name if main.right else None))
    return judged


def _judge(one: Pooled, decision: Decision, references: Sequence[str], others: Mapping[str, Judged]) -> Judged:
    """The fate of a finding that says the same as these references and these other findings."""
    if decision.fate is not None:
        return Judged(one, decision.fate, raters=decision.raters)
    answers = decision.answers
    correct = answers.get((ITEM, CORRECT))
    right = {other.right for other in others.values() if other.settled} | {True for _ in references}
    judged = Judged(one, PoolDecision.UNDECIDED, settled=decision.settled, raters=decision.raters)
    if correct not in (YES, NO) or right - {correct == YES}:
        return judged  # it says what a reference or a finding says, and was judged otherwise
    if correct == NO:
        return judged._replace(fate=PoolDecision.REJECTED)
    references = [*references, *(name for name, other in others.items() if other.fate is PoolDecision.KNOWN)]
    category, needs = (answers.get((ITEM, name)) for name in ("category", "needs"))
    return judged._replace(
        fate=PoolDecision.KNOWN if references else PoolDecision.ACCEPTED,
        same_as=next(iter([*references, *(name for name, other in others.items() if other.right)]), None),
        category=None if category is None else str(category),
        needs=None if needs is None else str(needs),
    )


def check_changes(connection: sql.Connection, project: int, cases: Mapping[str, Case]) -> None:
    """Raise UserError where a case is another change than in the project."""
    for row in connection.execute(sql.select(changes).where(changes.c.project == project)):
        case = cases.get(row.case)
        if case is not None and not same_change(Change.model_validate(row.change), shown_change(case.change)):
            raise UserError(f"{row.case} is another change in the project", remedy="--project makes another one")


VERSIONS = "Versions"  # the title of the card's section with the history
CARD_JSON, CARD_MD, CODE = "card.json", "card.md", "repos"
_VERSION_COLUMNS = ("version", "made from", "benchmark", "changes", "references", "known to be wrong")
_ALL_REFS = (*REFS, "refs/reviewgauge")
_SUMMARY = (
    "Comments of reviewers that matched no reference were pooled and judged by people: those that they accepted are "
    "references now, those that they rejected are known to be wrong."
)
BIAS = "A reviewer whose comments were pooled gains more by it than one whose were not."


class NextVersion:
    """What the judgements of a project add to the cases of a benchmark, counted."""

    def __init__(self, judged: Sequence[Judged], version: int) -> None:
        self.judged, self.version = judged, version
        self._of_case: dict[str, list[Judged]] = {}
        for one in judged:
            self._of_case.setdefault(one.pooled.case, []).append(one)
        self.added: Counter[str] = Counter(references=0, phrasings=0, rejected=0)

    def case(self, case: Case) -> Case:
        """The case with its new references and rejected comments. What it has already is left as it is."""
        there = {one.id for one in (*case.references, *case.neutral, *case.rejected)}
        new = [one for one in self._of_case.get(case.id, ()) if one.pooled.name not in there]
        right = [one for one in new if one.right]
        known = {one.id for one in case.references} | {one.pooled.name for one in right}
        references = [self._comment(one, known) for one in right]
        rejected = [self._comment(one) for one in new if one.fate is PoolDecision.REJECTED]
        self.added["references"] += sum(one.same_as is None for one in references)
        self.added["phrasings"] += sum(one.same_as is not None for one in references)
        self.added["rejected"] += len(rejected)
        if not new:
            return case
        return case.model_copy(
            update={
                "references": (*case.references, *references),
                "rejected": (*case.rejected, *rejected),
                # A change that was known to be clean has a finding now; whether it can be merged nobody was asked.
                "verdict": None if case.verdict is True and references else case.verdict,
            }
        )

    def _comment(self, one: Judged, known: Collection[str] | None = None) -> Comment:
        """A pooled comment as a reference beside those that are `known`, or as a rejected comment."""
        extra = {
            "source": "pooled",
            "version": self.version,
            "said_by": sorted({source.system for source in one.pooled.sources}),
            "raters": one.raters,
            "settled": one.settled,
        }
        update: dict[str, object] = {"origin": Origin.REVIEW, "extra": extra}
        if known is not None:
            update |= {"same_as": one.same_as if one.same_as in known else None, "category": one.category}
            update |= {"tier": Tier.CONFIRMED}
            update |= {"needs": RequiredContext(one.needs)} if one.needs in list(RequiredContext) else {}
        return one.pooled.comment.model_copy(update=update)


def grow(
    database: Database, project: Project, cases: Sequence[Case], *, out: str | Path, name: str, before: str | Path = ""
) -> GrowResult:
    """Write the next version of a benchmark into the folder `out`: its cases with what people judged since.

    That is what was pooled; in a project without a pool what most of its raters say of the benchmark's own content.
    `name` is what the benchmark is called; `before` its folder, whose card has its history. Raises UserError where a
    pooled comment is about no case or another change, and where nothing new was judged.
    """
    folder = Path(out).absolute()
    if (folder / CASES).exists():
        raise UserError(f"{out} holds a benchmark", remedy="a version does not change: name a new folder")
    judged, by_id = judge_pool(database, project), {case.id: case for case in cases}
    people = People(() if judged else labels_of(database, project, None))
    if not judged and not people.opinions:
        remedy = "reviewgauge annotate pool; or judge by a schema of comments or changes"
        raise UserError(f"nothing was pooled into the project {project.name!r}", remedy=remedy)
    with database.reading() as connection:
        check_changes(connection, project.id, by_id)
    if missing := sorted({one.pooled.case for one in judged} - by_id.keys()):
        raise UserError(
            f"{len(missing)} changes of the project are not in {name}, such as {missing[0]}",
            remedy="name what was pooled",
        )
    history = _history(Path(before), name, cases)
    growth = NextVersion(judged, len(history) + 1)
    made = people.settle([Candidate(case=growth.case(case)) for case in cases])
    grown = [one.case for one in made if isinstance(one, Candidate)]
    said = people.section()
    if grown == list(cases):
        raise UserError(
            f"nothing was judged that {name} does not have", remedy="judge first: reviewgauge annotate serve"
        )
    folder.mkdir(parents=True, exist_ok=True)
    brought: dict[str, str] = {}
    written = write_benchmark(folder, (Candidate(case=_with_code(case, folder, brought)) for case in grown))
    result = GrowResult(
        version=growth.version,
        folder=str(out),
        benchmark=written.benchmark,
        before=str(history[-1][2]),
        cases=written.cases,
        findings=_by_fate(one.fate for one in judged if one.pooled.part == ITEM),
        comments=_by_fate(one.fate for one in judged for _ in one.pooled.sources),
        said={name: int(count) for name, count in said.figures.items()} if said else {},
        **growth.added,
    )
    rows = [*history, _row(growth.version, project.name, written)]
    _write_card(folder, name, written, result, history=rows, said=said)
    return result


def _by_fate(fates: Iterable[PoolDecision]) -> dict[str, int]:
    counted = Counter(fates)
    return {str(fate): counted[fate] for fate in PoolDecision}


def _with_code(case: Case, folder: Path, known: dict[str, str]) -> Case:
    """The case with its repository in the new folder, each brought once; without one that is not on this machine."""
    git = case.change.git
    if git is None:
        return case
    if git not in known:
        target = folder / CODE / f"{Path(git).stem}-{content_id(git, length=6)}.git"
        known[git] = str(target) if Path(git).exists() else ""
        if known[git]:
            target.parent.mkdir(exist_ok=True)
            mirror_local(Path(git), target, _ALL_REFS)
    return case.model_copy(update={"change": case.change.model_copy(update={"git": known[git] or None})})


# --- the card ----------------------------------------------------------------------------------------------------

Row = tuple[str | int | float | None, ...]


def _history(folder: Path, name: str, cases: Sequence[Case]) -> list[Row]:
    """One row a version so far, by the card of the benchmark; the first where it has none. Raises UserError."""
    benchmark = benchmark_hash(cases)
    if (folder / CARD_JSON).is_file():
        card = parse_record(BuildCard, read_within(folder / CARD_JSON), CARD_JSON)
        rows = [row for section in card.sections if section.title == VERSIONS for row in section.rows]
        if rows and rows[-1][2] != benchmark:
            raise UserError(f"{folder / CASES} changed since its card was written", remedy="take it as it was made")
        if rows:
            return rows
    references = sum(len(case.references) for case in cases)
    return [(1, name, benchmark, len(cases), references, sum(len(case.rejected) for case in cases))]


def _row(version: int, project: str, written: Written) -> Row:
    counts = written.census.counts
    grown_by = f"judged in the project {project}"
    return version, grown_by, written.benchmark, written.cases, counts["references"], counts["rejected"]


def _write_card(
    folder: Path, name: str, written: Written, result: GrowResult, *, history: Sequence[Row], said: CardSection | None
) -> None:
    """The card: what became of the pooled comments, and every version so far."""
    columns = ("what", *map(str, PoolDecision))
    counted = [
        (what, *(counts[fate] for fate in PoolDecision))
        for what, counts in (("findings", result.findings), ("comments", result.comments))
    ]
    card = BuildCard(
        title=f"{name}, version {result.version}",
        summary="" if said else f"{_SUMMARY} {BIAS}",
        recipe="annotate grow",
        source=name,
        built=datetime.now(UTC).replace(microsecond=0),
        reviewgauge=__version__,
        benchmark=written.benchmark,
        cases=written.cases,
        counts=dict(written.census.counts),
        distributions=written.census.distributions(),
        spreads=written.census.spreads(),
        sections=(
            said or CardSection(by="grow", title="What was pooled", columns=columns, rows=tuple(counted)),
            CardSection(by="grow", title=VERSIONS, columns=_VERSION_COLUMNS, rows=tuple(history)),
        ),
        licences=find_licences(folder / CODE, written.mirrors),
    )
    write_whole(folder / CARD_JSON, card.model_dump_json(indent=2).encode() + b"\n")
    write_whole(folder / CARD_MD, markdown(card).encode())
