"""Which findings did the review hit, and how many of its comments were right? Precision, recall, F and noise.

Sources: AACR-Bench (line and semantic matching, precision, recall, F1, noise; docs/metrics.md of the official
repository), SWR-Bench (hits), Martian's code-review-benchmark (candidate against golden), ReviewBench (its
METHODOLOGY.md). The one-to-one policy, the neutral bucket and the accounting identities are ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from reviewgauge.core.parameters import AboveZero, Count
from reviewgauge.core.protocols import Aggregate, Judge, Measured, Metric
from reviewgauge.core.records import Anchoring, Case, Review, findings, groups_of
from reviewgauge.core.results import Bounds, CommentState, Failed, Failure, Matching, Verdict
from reviewgauge.core.specs import signature
from reviewgauge.core.trust import ModelName, PluginSpec
from reviewgauge.judges.pairs.asking import NOT_ASKED, Asking, Compared, judge_of, not_asked
from reviewgauge.judges.pairs.location import locate
from reviewgauge.metrics.matching import asking_right, counts, match, review_bench
from reviewgauge.metrics.matching.counts import Facet
from reviewgauge.models.request.model_spec import parse_model
from reviewgauge.repo.diff.diffs import hunk_count

if TYPE_CHECKING:
    from reviewgauge.core.protocols import Numbers


Table = Sequence[Sequence[Verdict | None]]


@dataclass(frozen=True)
class Hits(Metric):
    """The matching of comments to references, read in several ways.

    `judge` says whether two comments raise the same thing: a judge spec, or a chat model's, which is short for
    `same_concern(model=...)`. `policy`: "optimal" one-to-one, "greedy" strongest pair first, "any" many-to-many.
    `variant` reproduces a published matcher with its quirks: "aacr" (and "aacr_ids", the same with the missing ids put
    right), its successor "aacr_evaluation", "martian", "review_bench". `unmatched` is for the last: the chat model that
    says whether a comment is right that matches no golden finding. `location`: "hint" lets the text decide, weighs in
    that a comment stands on the reference's lines, and asks for a sure judge across files; "gate" also demands the
    right lines within `tolerance`; "only" looks at nothing but lines; "ignore" at nothing but text.
    `duplicates="false"` counts a repeated finding against precision. `second_stage` lets the judge look at what the
    other systems of the run said.
    """

    judge: PluginSpec = "lexical"
    policy: match.Policy = "optimal"
    variant: match.Variant = ""
    location: match.LocationRule = "hint"
    tolerance: Count = 1
    duplicates: Literal["apart", "false"] = "apart"
    beta: AboveZero = 1.0
    second_stage: bool = False
    unmatched: ModelName = ""

    headline: ClassVar[str] = "f1"
    facets: ClassVar[Sequence[str]] = ("category", "severity", "needs", "comment_category", "comment_severity")
    units: ClassVar[Mapping[str, str]] = {
        "comments_per_change": "comments per change",
        "comments_per_hunk": "comments per hunk",
    }
    lower_is_better: ClassVar[frozenset[str]] = frozenset(
        {"noise", "rejected_hits", "invalid_anchors", "comments_per_change", "duplicate_share"}
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        policy = "any" if self._is_review_bench else "greedy"
        if self.variant and self.policy != policy:
            raise ValueError(f"variant={self.variant!r} needs policy={policy!r}")
        if self._is_review_bench and self.location != "hint":
            raise ValueError("variant='review_bench' compares within one file: location cannot be chosen")
        if self.unmatched and not self._is_review_bench:
            raise ValueError("unmatched is for variant='review_bench'")
        if self.unmatched:
            parse_model(self.unmatched)

    @property
    def estimate_note(self) -> str:
        """The judge's label, such as "offline estimate"."""
        return "" if self.location == "only" else self._judge.estimate

    @property
    def _judge(self) -> Judge:
        return judge_of(self.judge)

    @property
    def _is_review_bench(self) -> bool:
        return self.variant == review_bench.NAME

    @property
    def models(self) -> tuple[str, ...]:
        """The judge's models, and the one that is asked about unmatched comments."""
        asked = (self.unmatched,) if self.unmatched else ()
        return () if self.location == "only" else tuple(dict.fromkeys((*self._judge.models, *asked)))

    def pins(self) -> Mapping[str, str]:
        """The judge's pins; for one that asks a model, its whole spec too."""
        if self.location == "only":
            return {}
        judge = {"judge": signature(self._judge)} if self._judge.models else {}
        return {
            **judge,
            **self._judge.pins(),
            **({"unmatched": asking_right.prompt().digest} if self.unmatched else {}),
        }

    @property
    def joint(self) -> bool:
        """True with the second stage: a system's score then depends on the other systems' comments."""
        return self.second_stage

    @property
    def reads_labels(self) -> bool:
        """Whether the judge reads labels, or unmatched comments may be labelled."""
        return self._is_review_bench or (self.location != "only" and self._judge.reads_labels)

    def parts(self, case: Case, review: Review) -> Measured | str:
        """The counts of one review against one case."""
        reason = self._why_not(case)
        return reason or self._measure(case, review, self._table(case, review))

    def unmeasurable(self, case: Case) -> str:
        """Without references, and not known to be clean, nothing can be counted."""
        return self._why_not(case)

    def _why_not(self, case: Case) -> str:
        return review_bench.why_unmeasurable(case) if self._is_review_bench else match.why_unmeasurable(case)

    def parts_many(self, items: Sequence[tuple[Case, Review]]) -> Iterator[Measured | str | Failure]:
        """As `parts`; with `second_stage` the judge sees all systems' comments on a case before it decides."""
        if not self.second_stage:
            yield from super().parts_many(items)
            return
        refined = self._refined_tables(items)
        for (case, review), table in zip(items, refined, strict=True):
            if isinstance(table, str | Failure):
                yield table
            else:
                yield self.guarded(partial(self._measure, case, review, table))

    def _refined_tables(self, items: Sequence[tuple[Case, Review]]) -> list[Table | str | Failure]:
        """Each review's table, refined by the others on its case, or why there is none.

        Attempts go together by number; a system with fewer attempts takes part in the others with its first.
        """
        refined = [self._table_or_reason(case, review) for case, review in items]
        first = {i: table for i, table in enumerate(refined) if not isinstance(table, str | Failure)}
        by_case: dict[str, dict[str, dict[int, int]]] = {}
        for i in first:
            case, review = items[i]
            by_case.setdefault(case.id, {}).setdefault(review.system, {})[review.attempt] = i
        for systems in by_case.values():
            for attempt in sorted({attempt for own in systems.values() for attempt in own}):
                here = {system: own.get(attempt, own[min(own)]) for system, own in systems.items()}
                case = items[next(iter(here.values()))][0]
                tables = {system: first[i] for system, i in here.items()}
                after = self._judge.refine(case, tables, {system: items[i][1] for system, i in here.items()})
                for system, i in here.items():
                    if attempt in systems[system]:
                        refined[i] = after[system]
        return refined

    def _table_or_reason(self, case: Case, review: Review) -> Table | str | Failure:
        if reason := self._why_not(case):
            return reason
        try:
            return self._table(case, review)
        except Failed as error:
            if error.stops:
                raise
            return error.failure

    def _table(self, case: Case, review: Review) -> Table:
        known = match.known_comments(case)
        if self.location == "only":
            return [[None] * len(known) for _ in review.comments]
        judge = self._judge
        if not (self.location == "gate" or self._is_review_bench) or not isinstance(judge, Asking):
            return judge.judge(case, review.comments, known, review)
        strict = self.location == "gate"
        places = [[locate(comment, other, self.tolerance, strict) for other in known] for comment in review.comments]
        open_to_it = [
            (c, r)
            for c, row in enumerate(places)
            for r, place in enumerate(row)
            if (place.same_path is True if self._is_review_bench else place.located is not False)
        ]
        found = judge.judge_some(Compared(case, review.comments, known, review), open_to_it)
        return [
            [found[c, r] if (c, r) in found else not_asked(place) for r, place in enumerate(row)]
            for c, row in enumerate(places)
        ]

    def _rules(self) -> match.Rules:
        judge = self._judge
        return match.Rules(
            policy=self.policy,
            variant=self.variant,
            location=self.location,
            tolerance=self.tolerance,
            threshold=judge.threshold,
            sure=judge.sure,
            penalty=judge.penalty,
            base_rate=judge.base_rate,
            every_vote=isinstance(judge, Asking),
        )

    def _measure(self, case: Case, review: Review, table: Table) -> Measured | str:
        cells = [verdict for row in table for verdict in row]
        if self.location != "only" and cells and not any(cells):
            return "the judge has no verdict on this review"
        if self._is_review_bench:
            return self._score(case, review, review_bench.Resolved(case, review, table, self._rules()), cells)
        matching = match.match(case, review, table, self._rules())
        return Measured(
            parts={**self._counts(case, review, matching), **self._questions(cells)},
            facets=self._facets(case, review, matching),
            matching=matching,
            fake=review.fake,
        )

    def _score(
        self, case: Case, review: Review, resolved: review_bench.Resolved, cells: Sequence[Verdict | None]
    ) -> Measured:
        """ReviewBench's scoring: what matched nothing is judged, by labels where there are some, else by the model."""
        judged = asking_right.labelled(case, review)
        if self.unmatched:
            judged |= asking_right.ask(self.unmatched, case, [c for c in resolved.unmatched if c.id not in judged])
        found = resolved.scored(judged)
        counted = self._counts(case, review, found.matching)
        kept = {name: part for name, part in counted.items() if not name.endswith(("_least", "_most"))}
        needs = {"needs": self._facets(case, review, found.matching).get("needs", {})}
        return Measured(
            parts={**kept, **found.parts, **self._questions(cells)},
            facets={name: facet for name, facet in {**needs, **found.facets}.items() if facet},
            matching=found.matching,
            votes=tuple(judged[one.id].vote for one in resolved.unmatched if one.id in judged),
            fake=review.fake or any(one.fake for one in judged.values()),
        )

    def _questions(self, cells: Sequence[Verdict | None]) -> dict[str, float]:
        """The number of pairs to ask about, and of those asked; empty for a judge that asks no model."""
        judge = self._judge
        if self.location == "only" or not isinstance(judge, Asking):
            return {}
        verdicts = [verdict for verdict in cells if verdict is not None]
        open_to_it = len(cells) - sum(verdict.reason.startswith(NOT_ASKED) for verdict in verdicts)
        return {"pairs": open_to_it, "asked": sum(judge.was_asked(verdict) for verdict in verdicts)}

    def _counts(self, case: Case, review: Review, matching: Matching) -> dict[str, float]:
        states = [outcome.state for outcome in matching.comments]
        comments, hit = len(states), sum(group.credit for group in matching.groups)
        count = {state: states.count(state) for state in CommentState}
        hunks = hunk_count(case.change)
        placed = [c for c in review.comments if c.anchoring not in (None, Anchoring.NONE)]
        lined = _lined(case)
        parts: dict[str, float] = {
            "changes": 1,
            "comments": comments,
            **{state.value: n for state, n in count.items()},
            "rejected": sum(outcome.rejected for outcome in matching.comments),
            **counts.precision_parts(matching, self.duplicates),
            **counts.recall_parts(matching.groups),
            "placed": len(placed),
            "invalid": sum(c.anchoring is Anchoring.INVALID for c in placed),
            "clean": case.clean,
            "clean_quiet": case.clean and comments == count[CommentState.NEUTRAL],
        }
        if self.variant:
            parts |= {"right": hit, "right_least": hit, "right_most": hit}
        if hunks:
            parts |= {"hunks": hunks, "hunk_comments": comments}
        if lined:
            parts |= {"line_hits": matching.line_hits, "line_references": lined}
        if lined or (case.clean and any(c.span and c.span.start for c in review.comments)):
            parts["line_said"] = comments
        return parts

    def combine(self, aggregate: Aggregate) -> Mapping[str, Numbers]:
        """Micro-averaged measures: every total is summed over the changes before anything is divided.

        precision = right / said; recall = hit / references; noise = false / comments. What is unsure counts as its
        probability; `_least` and `_most` are the measures if all of it is wrong, and if all of it is right.
        line_* look at lines alone, one-to-one. asked: the share of the pairs that a judge which asks a
        model, or a second judge, asked about; what the location rule excludes is not a pair to ask about.
        """
        total, ratio = aggregate.total, aggregate.ratio
        measures = {
            "precision": ratio(total("right"), total("said")),
            "recall": ratio(total("hit"), total("references")),
            "comments_per_change": ratio(total("comments"), total("changes")),
            "comments_per_hunk": ratio(total("hunk_comments"), total("hunks")),
            "clean_left_alone": ratio(total("clean_quiet"), total("clean")),
            "noise": ratio(total("false"), total("comments")),
            "duplicate_share": ratio(total("duplicate"), total("comments")),
            "rejected_hits": ratio(total("rejected"), total("comments")),
            "invalid_anchors": ratio(total("invalid"), total("placed")),
            "line_precision": ratio(total("line_hits"), total("line_said")),
            "line_recall": ratio(total("line_hits"), total("line_references")),
        }
        measures["f1"] = _f(aggregate, "right", "hit")
        if "said_most" in aggregate.names:
            for end, said in (("least", "said"), ("most", "said_most")):
                measures[f"precision_{end}"] = ratio(total(f"right_{end}"), total(said))
                measures[f"recall_{end}"] = ratio(total(f"hit_{end}"), total("references"))
                measures[f"f1_{end}"] = _f(aggregate, f"right_{end}", f"hit_{end}", said=said)
        measures["line_f1"] = ratio(2 * total("line_hits"), total("line_said") + total("line_references"))
        if self._is_review_bench:
            kept = {name: values for name, values in measures.items() if name in review_bench.KEPT}
            measures = kept | dict(review_bench.measures(aggregate))
        if "pairs" in aggregate.names:
            measures["asked"] = ratio(total("asked"), total("pairs"))
        if self.beta != 1.0:
            measures[f"f{self.beta:g}"] = _f(aggregate, "right", "hit", self.beta)
        return measures

    def bounds(self, case: Case) -> Bounds:
        """At worst: every finding missed and as many false comments (at least one). At best: all hit, none false."""
        if self._why_not(case):
            return Bounds(worst={}, best={})  # no review of such a case adds anything, so neither did the missing one
        n, lined = len(groups_of(case.references)), _lined(case)
        wrong = max(1, n)
        shared = {"changes": 1.0, "references": float(n), "clean": float(case.clean)}
        worst: dict[str, float] = {
            **shared,
            "missed": n,
            **dict.fromkeys(("comments", "false", "said", "said_most", "placed", "invalid"), wrong),
        }
        if case.rejected:
            worst["rejected"] = wrong
        best = {**shared, "clean_quiet": float(case.clean)}
        best |= dict.fromkeys(("comments", "matched", "right", "said", "hit", "placed"), n)
        best |= dict.fromkeys(("right_least", "right_most", "said_most", "hit_least", "hit_most"), n)
        if lined:
            worst |= {"line_references": lined, "line_said": wrong}
            best |= {"line_references": lined, "line_said": n, "line_hits": lined}
        if self._is_review_bench:
            ends = review_bench.bounds_of(n)
            worst, best = ({**old, **new} for old, new in zip((worst, best), ends, strict=True))
            best = {name: part for name, part in best.items() if not name.endswith(("_least", "_most"))}
        return Bounds(worst=worst, best=best)

    def _facets(self, case: Case, review: Review, matching: Matching) -> dict[str, Facet]:
        """Parts by the references' category, severity and needs, and by the comments' own.

        The values of one facet, `NOT_STATED` among them, add up to the parts of the whole.
        """
        facets: dict[str, Facet] = {}
        for fact in ("category", "severity", "needs"):
            values: dict[str, str | None] = {}
            for group in matching.groups:
                stated = (getattr(one, fact) for one in case.references if one.id in group.members)
                value = next((str(value) for value in stated if value is not None), None)
                values |= dict.fromkeys(group.members, value)
            facets[fact] = counts.finding_parts(matching, values)
        for fact in ("category", "severity"):
            facts = {comment.id: getattr(comment, fact) for comment in review.comments}
            own = {name: None if value is None else str(value) for name, value in facts.items()}
            facets[f"comment_{fact}"] = counts.comment_parts(matching, own, self.duplicates)
        return {name: facet for name, facet in facets.items() if facet}


def _f(aggregate: Aggregate, right: str, hit: str, beta: float = 1.0, said: str = "said") -> Numbers:
    """The F; undefined on a facet, whose parts count comments or findings of one kind, never both."""
    return np.where(
        aggregate.total("changes") > 0, counts.f_measure(aggregate, right, hit, beta=beta, said=said), np.nan
    )


def _lined(case: Case) -> int:
    """How many findings have lines."""
    spans = [[reference.span for reference in finding] for finding in findings(case.references)]
    return sum(any(span is not None and span.start is not None for span in group) for group in spans)
