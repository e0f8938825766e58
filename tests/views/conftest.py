"""Believable records made by hand: what a run leaves behind, without running anything."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import validity_toys
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, RequiredContext, Review, Severity, Span, Usage
from reviewgauge.core.reports.leaderboard import (
    Comparison,
    ComparisonTable,
    Estimate,
    Leaderboard,
    SliceSummary,
    SystemSummary,
)
from reviewgauge.core.results import (
    CommentOutcome,
    CommentState,
    Failure,
    FailureKind,
    GroupOutcome,
    Matching,
    Outcome,
    Pair,
    Score,
    Verdict,
    Vote,
)
from reviewgauge.views.pages import document_page
from reviewgauge.views.report.report import ReportData
from reviewgauge.views.validity.document import validity_document

METRIC = "hits(judge='lexical', policy='optimal', variant='', location='hint', tolerance=1)"
BENCHMARK = "3fb1c07e5a2d4419b9d0ce7aa8f4c6d2e5b0a1938475665748392a1b0c9d8e7f"
NOTE = "offline estimate (lexical judge)"

FINDINGS = (
    ("defect", "The retry loop never resets `attempt`, so the second caller starts with the budget already spent."),
    ("security", "`order_by` goes into the query as text. A caller can append any SQL to it."),
    ("defect", "The upper bound is exclusive here but `page_count` is inclusive: the last page is never read."),
    ("performance", "This issues one query per row. With 5,000 invoices the page takes minutes; fetch them in one go."),
    ("maintainability", "Two settings are called `timeout`: one counts seconds, the other milliseconds."),
    (
        "defect",
        "The lock is released before the cache is written, so two workers can interleave and keep a stale value.",
    ),
    ("defect", "When `stream.close()` raises, the temporary file stays behind, because the `finally` is missing."),
)
NOISE = (
    "Consider adding a docstring to this function for clarity.",
    "This could be extracted into a helper to improve readability and testability in the long run.",
    "Nit: a constant would be better than the literal 30.",
    "Have you considered what happens when the list is empty? It looks handled, but a test would make it sure.",
    "The variable name `tmp` is not very descriptive.",
    "Potential null dereference: `user` may be None if the session has expired in the meantime.",
)
PATCH = """@@ -10,7 +10,9 @@ class Client:
     def fetch(self, page):
-        for attempt in range(3):
+        attempt = self.attempt
+        while attempt < self.limit:
             try:
                 return self._get(page)
+                attempt += 1
             except TimeoutError:
                 continue
@@ -60,5 +62,6 @@ def pages(total):
     size = 50
     page_count = total // size
+    log.debug("pages", page_count)
     for page in range(1, page_count):
         yield page
     return
@@ -200,3 +203,4 @@ def unrelated():
     one()
+    two()
     three()
     four()
"""


def estimates(rng: random.Random, precision: float | None, recall: float, n: int) -> tuple[Estimate, ...]:
    """Measures as the hits metric has them."""
    f1 = 2 * precision * recall / (precision + recall) if precision is not None and precision + recall else 0.0
    values = {"precision": precision, "recall": recall, "f1": f1}
    wide = rng.uniform(0.05, 0.1)
    made = [
        Estimate(
            measure=name,
            value=value,
            low=None if value is None else max(0.0, value - wide),
            high=None if value is None else min(1.0, value + wide),
            n=n,
            clusters=n,
            worst=None if value is None else value * 0.93,
            best=None if value is None else min(1.0, value * 1.05),
        )
        for name, value in values.items()
    ]
    shares = {"noise": None if precision is None else 1 - precision, "clean_left_alone": rng.random()}
    made += [Estimate(measure=k, value=v, n=n, clusters=n) for k, v in shares.items()]
    said = 0.0 if precision is None else rng.uniform(1.5, 7)
    made.append(
        Estimate(
            measure="comments_per_change", value=said, unit="comments per change", n=n, clusters=n, low=said, high=said
        )
    )
    return tuple(made)


def summary(
    rng: random.Random, system: str, precision: float | None, recall: float, n: int, **more: Any
) -> SystemSummary:
    """One row of a leaderboard."""
    failed = more.pop("failed", 0)
    return SystemSummary(
        system=system,
        estimates=estimates(rng, precision, recall, n - failed),
        cases=n,
        scored=n - failed,
        failed=failed,
        **more,
    )


def board(names: Sequence[str], n: int, seed: int = 1, slices: bool = True) -> Leaderboard:
    """A leaderboard, best first; the last system says nothing, so that its precision is undefined."""
    rng = random.Random(seed)
    rows = [summary(rng, name, rng.uniform(0.2, 0.75), rng.uniform(0.2, 0.65), n) for name in names[:-1]]
    if len(names) > 2:
        rows[1] = summary(rng, names[1], 0.6, 0.42, n, failed=2, failures={"timeout": 1, "refusal": 1})
        rows[-1] = rows[-1].model_copy(update={"fake": True})
    rows.sort(key=lambda s: -(next(e.value for e in s.estimates if e.measure == "f1") or 0))
    rows.append(summary(rng, names[-1], None, 0.0, n))
    pieces = []
    values = {"language": ("Python", "TypeScript", "Go", "Java"), "category": ("defect", "security", "performance")}
    for fact, kinds in values.items() if slices else ():
        for kind in kinds:
            part = [summary(rng, s.system, rng.uniform(0.1, 0.8), rng.uniform(0.1, 0.8), max(5, n // 4)) for s in rows]
            if fact == "category":
                part = [only_recall(s) for s in part]
            pieces.append(
                SliceSummary(fact=fact, value=kind, facet=fact == "category", n=max(5, n // 4), systems=tuple(part))
            )
    return Leaderboard(
        metric=METRIC,
        headline="f1",
        benchmark=BENCHMARK,
        dataset="martian",
        clustered_by="change",
        clusters=n,
        resamples=10_000,
        seed=0,
        systems=tuple(rows),
        common=n - 2,
        slices=tuple(pieces),
        pins={"lexical weights": "9f2b11"},
        estimate_note=NOTE,
        warnings=("3 repositories are too few to cluster by: the intervals speak of these repositories only",),
    )


def only_recall(row: SystemSummary) -> SystemSummary:
    """The row as a facet has it, where precision and F1 are not defined."""
    kept = [
        e if e.measure == "recall" else e.model_copy(update={"value": None, "low": None, "high": None})
        for e in row.estimates
    ]
    return row.model_copy(update={"estimates": tuple(kept)})


def comparisons(board: Leaderboard) -> ComparisonTable:
    """Every pair of the board's systems, in F1."""
    made = []
    for a, b in combinations(board.systems, 2):
        first, second = (next(e.value for e in s.estimates if e.measure == "f1") or 0.0 for s in (a, b))
        gap = first - second
        p = max(0.0002, 0.9 - 8 * abs(gap))
        made.append(
            Comparison(
                measure="f1", first=a.system, second=b.system, first_value=first, second_value=second, difference=gap,
                low=gap - 0.07, high=gap + 0.07, p=p, p_holm=min(1.0, p * 3), test="paired permutation (10,000)",
                detectable=0.11, n=board.common, clusters=board.common, worst=gap - 0.02, best=gap + 0.02,
            )
        )  # fmt: skip
    return ComparisonTable(
        metric=board.metric, benchmark=board.benchmark, dataset=board.dataset, clustered_by="change", resamples=10_000,
        seed=0, comparisons=tuple(made), estimate_note=board.estimate_note,
    )  # fmt: skip


def case(rng: random.Random, number: int, repo: str, findings: int, patch: str | None = None) -> Case:
    """A change with so many findings, the first in two phrasings; none of them makes it clean."""
    places = [Span(path="src/client.py", start=12, end=13), Span(path="src/client.py", start=65, end=66)]
    references = []
    for at in range(findings):
        category, body = FINDINGS[(number + at) % len(FINDINGS)]
        span = places[at % 2] if patch else None
        references.append(
            Comment(id=f"g{number}-{at}", body=body, category=category, severity=rng.choice(list(Severity)), span=span,
                    needs=rng.choice(list(RequiredContext)))
        )  # fmt: skip
    if findings > 1:
        words = "In other words: " + references[0].body
        references.insert(1, Comment(id=f"g{number}-0b", body=words, same_as=references[0].id, span=references[0].span))
    return Case(
        id=f"{repo}/pull-{1000 + number}",
        change=Change(
            repo=repo,
            title=f"{rng.choice(('Retry', 'Cache', 'Validate'))} {rng.choice(('invoices', 'sessions', 'uploads'))}",
            description="Calls time out under load.\n\nThis adds a limit and tests.",
            url=f"https://example.org/{repo}/pull/{1000 + number}",
            files=(ChangedFile(path="src/client.py", patch=patch),) if patch else (),
        ),
        references=tuple(references),
        rejected=(Comment(id=f"w{number}", body="`limit` is never defined."),) if number % 5 == 0 else (),
        verdict=findings == 0,
        facts={"language": "Python", "size": 40 + number},
    )


def reviewed(rng: random.Random, case: Case, system: str, skill: float, said: int) -> tuple[Outcome, Score]:
    """A review of so many comments and its matching; the counts add up."""
    groups = [r for r in case.references if r.same_as is None]
    members = {r.id: tuple(m.id for m in case.references if r.id in (m.id, m.same_as)) for r in groups}
    comments, states, found, pairs = [], [], [], []
    for at in range(said):
        cid = f"c{at}-{system[:6]}-{case.id[-4:]}".replace(" ", "_").replace("/", "_")
        hit = at < len(groups) and rng.random() < skill
        target = groups[at] if at < len(groups) else None
        body = f"{target.body} Move it out of the loop." if hit and target else rng.choice(NOISE)
        span = Span(path="src/client.py", start=rng.randint(10, 18)) if case.change.files else None
        comments.append(
            Comment(id=cid, body=body, span=target.span if hit and target else span, severity=Severity.MEDIUM)
        )
        near = Pair(comment=cid, reference=target.id, distance=0 if span else None,
                    verdict=Verdict(probability=0.91 if hit else 0.22, same=hit,
                                    votes=(Vote(rater="judge-1", value=hit),)),
                    ) if target else None  # fmt: skip
        if near:
            pairs.append(near)
        if hit and target:
            states.append(
                CommentOutcome(comment=cid, state=CommentState.MATCHED, group=target.id, reason="says the same")
            )
            found.append((target.id, cid))
        else:
            state = rng.choice([CommentState.FALSE] * 6 + [CommentState.NEUTRAL])
            states.append(
                CommentOutcome(
                    comment=cid, state=state, rejected=state == "false" and at % 7 == 6, reason="like no finding"
                )
            )
    outcomes = []
    for group in groups:
        by = tuple(c for g, c in found if g == group.id)
        nearest = next((p.comment for p in pairs if p.reference == group.id), None)
        outcomes.append(
            GroupOutcome(group=group.id, members=members[group.id], hit=bool(by), comments=by,
                         nearest=None if by else nearest, reason="" if by else "no comment is close enough")
        )  # fmt: skip
    review = Review(
        case=case.id,
        system=system,
        comments=tuple(comments),
        usage=Usage(tokens_in=4100, tokens_out=380, dollars=0.0121),
    )
    matching = Matching(policy="optimal", comments=tuple(states), groups=tuple(outcomes), pairs=tuple(pairs))
    score = Score(
        case=case.id, system=system, metric=METRIC, benchmark=BENCHMARK, parts={"hit": len(found)}, matching=matching
    )
    return Outcome(case=case.id, system=system, review=review), score


def report(names: Sequence[str], n: int, said: int, seed: int = 3, patch: str | None = PATCH) -> ReportData:
    """A whole report: n changes in three repositories, `said` comments per review."""
    rng = random.Random(seed)
    repos = ("acme/billing", "acme/portal", "globex/ingest")
    cases = [case(rng, at, repos[at % 3], at % 4, patch) for at in range(n)]
    outcomes, scores = [], []
    for at, name in enumerate(names):
        skill = 0 if name == names[-1] else rng.uniform(0.2, 0.8)
        for number, one in enumerate(cases):
            if at == 1 and number in (1, 2):
                broken = Failure(kind=FailureKind.TIMEOUT, message="no answer within 600 s")
                outcomes.append(Outcome(case=one.id, system=name, failure=broken))
                continue
            outcome, score = reviewed(rng, one, name, skill, 0 if name == names[-1] else said)
            outcomes.append(outcome)
            scores.append(score)
    main = board(names, n, seed)
    return ReportData(
        title=f"{len(names)} reviewers on {n} changes",
        created="2025-06-01 12:00 UTC",
        leaderboards=[main],
        comparisons=[comparisons(main)],
        cases=cases,
        outcomes=outcomes,
        scores=scores,
        facts={"reviewgauge": "0.1.0", "seed": "0", "data": "martian, three repositories"},
    )


NAMES = (
    "coral", "kestrel-pro", "prompt(model='openai:gpt-5', context='bm25(k=3)')", "Lintel Review", "bugwarden",
    "patchwise", "northlight", "Graphene AI", "sentinel v2", "quillbot-cr", "parrot", "silent",
)  # fmt: skip


@pytest.fixture(scope="session")
def small() -> ReportData:
    """Four systems on six changes, with diffs."""
    return report([NAMES[0], NAMES[1], "parrot", "silent"], n=6, said=4)


@pytest.fixture(scope="session")
def big() -> ReportData:
    """Twelve systems on thirty changes with 35 comments each."""
    return report(NAMES, n=30, said=35)


@pytest.fixture(scope="session")
def make_report() -> Callable[..., ReportData]:
    """`report`, for tests that need other sizes."""
    return report


@pytest.fixture(scope="session")
def make_board() -> Callable[..., Leaderboard]:
    """`board`, for tests that need other systems."""
    return board


@pytest.fixture(scope="session")
def make_comparisons() -> Callable[[Leaderboard], ComparisonTable]:
    """`comparisons`."""
    return comparisons


@pytest.fixture(scope="session")
def validity_pages(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Validity reports as files, each made once: `plain`, `awkward`, `hostile`."""
    folder: Path = tmp_path_factory.mktemp("validity")
    make = {
        "plain": lambda: validity_toys.report(validity_toys.KINDS[3:], rows=400),
        "awkward": validity_toys.awkward,
        "hostile": validity_toys.hostile,
    }

    def page(name: str) -> Path:
        path = folder / f"{name}.html"
        if not path.exists():
            path.write_text(document_page(validity_document(make[name]())), encoding="utf-8")
        return path

    return page
