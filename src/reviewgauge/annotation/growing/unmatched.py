"""What scored runs say that matches no reference: each distinct comment once, with everybody who said it.

Who said it is kept apart from the items that raters see.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sql

from reviewgauge.annotation.schemas.schema import ITEM
from reviewgauge.annotation.store.tables import pooled
from reviewgauge.core.base import Record, content_id
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case, Comment, Review, Task
from reviewgauge.core.results import CommentState, Matching, Score
from reviewgauge.core.specs import short_spec
from reviewgauge.engine.run.manifest import same_change
from reviewgauge.engine.run.scored_run import ScoredRun, read_scored_runs

UNMATCHED, KNOWN_WRONG, WITHOUT_WORDS = "unmatched", "known to be wrong", "without words"


class Source(Record):
    """Who said it: a comment of a review."""

    system: str
    attempt: int
    comment: str


class Pooled(Record):
    """A distinct comment with everybody who said it, and where it is judged: `ITEM` is the finding of its item.

    `name` comes from the comment's case, place and words, and is the id of the reference that it may become.
    """

    name: str
    case: str
    comment: Comment
    sources: tuple[Source, ...]
    item: int = 0
    part: int = ITEM

    def said_by_more(self, sources: Sequence[Source]) -> Pooled:
        """The comment with everybody else who said it."""
        return self.model_copy(update={"sources": tuple(dict.fromkeys((*self.sources, *sources)))})


def read_pool(connection: sql.Connection, project: int) -> dict[str, Pooled]:
    """The pooled comments of a project by their names, in the order in which they came."""
    query = sql.select(pooled).where(pooled.c.project == project).order_by(pooled.c.item, pooled.c.part)
    found = {}
    for row in connection.execute(query).all():
        values: dict[str, Any] = {key: value for key, value in row._mapping.items() if key != "project"}
        found[row.name] = Pooled.model_validate(values)
    return found


def write_pool(connection: sql.Connection, project: int, one: Pooled) -> None:
    """Add a pooled comment, or replace what is known of it."""
    same = (pooled.c.project == project) & (pooled.c.name == one.name)
    values = one.model_dump(mode="json", exclude_defaults=True, include={"comment", "sources"})
    row = {"case": one.case, "item": one.item, "part": one.part, **values}
    if connection.execute(pooled.update().where(same).values(row)).rowcount == 0:
        connection.execute(pooled.insert().values(project=project, name=one.name, **row))


@dataclass
class Unmatched:
    """Distinct comments by name, the references closest to each, and what all comments of the runs counted as."""

    cases: dict[str, Case] = field(default_factory=dict)
    comments: dict[str, Pooled] = field(default_factory=dict)
    near: dict[str, dict[str, None]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    runs: list[str] = field(default_factory=list)

    def add(self, case: Case, score: Score, review: Review) -> None:
        """What a review says that matched nothing. Raises UserError where the case was another change before."""
        said = score.matching.comments if score.matching else ()
        states = {one.comment: KNOWN_WRONG if one.rejected else one.state for one in said}
        for comment in review.comments:
            state = states.get(comment.id, CommentState.FALSE)
            if state in (CommentState.FALSE, CommentState.UNSURE):
                state = UNMATCHED if comment.body.strip() else WITHOUT_WORDS
            self.counts[str(state)] += 1
            if state == UNMATCHED:
                self._keep(case, comment, score)

    def _keep(self, case: Case, comment: Comment, score: Score) -> None:
        known = self.cases.setdefault(case.id, case)
        if known is not case and not same_change(known.change, case.change):
            raise UserError(f"{case.id} is another change in this run", remedy="pool runs on the same changes")
        place = comment.span.to_line().decode() if comment.span else ""
        name = f"pooled-{content_id(case.id, place, comment.body, length=16)}"
        self.near.setdefault(name, {}).update(dict.fromkeys(_near(case, comment, score.matching)))
        source = Source(system=score.system, attempt=score.attempt, comment=comment.id)
        shown = Comment(id=name, body=comment.body, span=comment.span, quote=comment.quote)
        found = self.comments.get(name) or Pooled(name=name, case=case.id, comment=shown, sources=())
        self.comments[name] = found.said_by_more([source])


def read_unmatched(paths: Sequence[str | Path], metric: str | None = None) -> Unmatched:
    """The unmatched comments of runs. Raises UserError for a run that was scored with nothing that matches comments."""
    found = Unmatched()
    for path in paths:
        run = _matched(path, metric)
        found.runs.append(Path(path).name)
        case_at = {case.id: at for at, case in enumerate(run.cases)}
        review_at = {one.key: at for at, one in enumerate(run.outcomes)}
        for score in run.scores:  # cases and reviews stay on the disk, but for those that are pooled
            review, case = run.outcomes[review_at[score.key]].review, run.cases[case_at[score.case]]
            nothing_known = score.failure is None and not case.references and case.change.task is Task.REVIEW
            if review is not None and (score.matching is not None or nothing_known):
                try:
                    found.add(case, score, review)
                except UserError as error:
                    raise UserError(f"{path}: {error.problem}", remedy=error.remedy) from None
    return found


def _matched(path: str | Path, metric: str | None) -> ScoredRun:
    found = [run for run in read_scored_runs([path], metric) if any(score.matching for score in run.scores)]
    if not found:
        raise UserError(
            f"{path} was not scored with a metric that matches comments", remedy=f"reviewgauge score {path} hits"
        )
    if len(found) > 1:
        known = ", ".join(short_spec(run.metric) for run in found)
        raise UserError(f"{path} was scored with several metrics that match comments", remedy=f"--metric: {known}")
    return found[0]


def _near(case: Case, comment: Comment, matching: Matching | None) -> list[str]:
    """The reference that the matching found closest, if it is about the same file or about none."""
    references = {one.id for one in case.references}
    pairs = [one for one in (matching.pairs if matching else ()) if one.comment == comment.id]
    found = [one for one in pairs if one.reference in references and one.same_path is not False]
    chances = [one.weighed or (one.verdict.probability if one.verdict else 0.0) for one in found]
    return [found[chances.index(max(chances))].reference] if found else []
