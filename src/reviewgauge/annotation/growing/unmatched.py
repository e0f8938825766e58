"""What scored runs say that matches no reference: each distinct comment once, with everybody who said it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reviewgauge.annotation.store.pools import Pooled, Source
from reviewgauge.core.base import content_id
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case, Comment, Review, Task
from reviewgauge.core.results import CommentState, Matching, Score
from reviewgauge.core.specs import short_spec
from reviewgauge.engine.run.manifest import same_change
from reviewgauge.engine.run.scored_run import ScoredRun, read_scored_runs

KNOWN_WRONG, WITHOUT_WORDS = "known to be wrong", "without words"


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
        states = _states(case, score)
        for comment in review.comments:
            state = states.get(comment.id, CommentState.FALSE)
            if state in (CommentState.FALSE, CommentState.UNSURE):
                state = "unmatched" if comment.body.strip() else WITHOUT_WORDS
            self.counts[str(state)] += 1
            if state == "unmatched":
                self._keep(case, comment, score)

    def _keep(self, case: Case, comment: Comment, score: Score) -> None:
        known = self.cases.setdefault(case.id, case)
        if known is not case and not same_change(known.change, case.change):
            raise UserError(f"{case.id} is another change in this run", remedy="pool runs on the same changes")
        name = pooled_name(case.id, comment)
        self.near.setdefault(name, {}).update(dict.fromkeys(_near(case, comment, score.matching)))
        source = Source(system=score.system, attempt=score.attempt, comment=comment.id)
        shown = Comment(id=name, body=comment.body, span=comment.span, quote=comment.quote)
        found = self.comments.get(name) or Pooled(name=name, case=case.id, comment=shown, sources=())
        self.comments[name] = with_sources(found, [source])


def with_sources(known: Pooled, sources: Sequence[Source]) -> Pooled:
    """The comment with everybody else who said it."""
    return known.model_copy(update={"sources": tuple(dict.fromkeys((*known.sources, *sources)))})


def pooled_name(case: str, comment: Comment) -> str:
    """The name of a comment that says these words at this place of this case."""
    place = comment.span.to_line().decode() if comment.span else ""
    return f"pooled-{content_id(case, place, comment.body, length=16)}"


def read_unmatched(paths: Sequence[str | Path], metric: str | None = None) -> Unmatched:
    """The unmatched comments of runs. Raises UserError for a run that was scored with nothing that matches comments."""
    found = Unmatched()
    for path in paths:
        run = _matched(path, metric)
        found.runs.append(Path(path).name)
        case_at = {case.id: at for at, case in enumerate(run.cases)}
        review_at = {one.key: at for at, one in enumerate(run.outcomes)}
        for score in run.scores:  # cases and reviews stay on the disk, but for those that are pooled
            review = run.outcomes[review_at[score.key]].review
            case = run.cases[case_at[score.case]]
            if review is not None and (score.matching is not None or _has_no_references(case, score)):
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


def _has_no_references(case: Case, score: Score) -> bool:
    """Whether the case could not be measured because nothing is known about it: then nothing matched."""
    return score.failure is None and not case.references and case.change.task is Task.REVIEW


def _states(case: Case, score: Score) -> Mapping[str, str]:
    if score.matching is None:
        return {}
    return {one.comment: KNOWN_WRONG if one.rejected else one.state for one in score.matching.comments}


def _near(case: Case, comment: Comment, matching: Matching | None) -> Iterator[str]:
    """The reference that the matching found closest, if it is about the same file or about none."""
    references = {one.id for one in case.references}
    pairs = [one for one in (matching.pairs if matching else ()) if one.comment == comment.id]
    found = [one for one in pairs if one.reference in references and one.same_path is not False]
    if found:
        chances = [one.weighed or (one.verdict.probability if one.verdict else 0.0) for one in found]
        yield found[chances.index(max(chances))].reference
