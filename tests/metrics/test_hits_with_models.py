"""hits with the fake model as judge gives the numbers that its written rules foretell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from fake_rules.rules import SAME_FROM, confidence, overlap
from reviewgauge.core.protocols import Measured
from reviewgauge.core.records import Case, Comment, Review
from reviewgauge.core.results import CommentState
from reviewgauge.datasets.martian import Martian
from reviewgauge.datasets.sample import Sample
from reviewgauge.judges.pairs.asking import NOT_ASKED
from reviewgauge.metrics.hits import Hits
from reviewgauge.models.chat.client import track_usage

pytestmark = pytest.mark.usefixtures("own_client")

FAKE = "fake:rules"


def sample() -> list[tuple[Case, Review]]:
    cases = {case.id: case for case in Sample().cases()}
    return [(cases[review.case], review) for review in Sample().recorded()[0]]


def martian(folder: Path) -> list[tuple[Case, Review]]:
    data = Martian(path=str(folder))
    cases = {case.id: case for case in data.cases()}
    return [(cases[review.case], review) for review in data.recorded(extractor="openai_gpt-5.2")[0]]


def is_located(comment: Comment, reference: Comment) -> bool:
    """AACR's location rule, written anew: what both have must agree, lines may be one apart."""
    here, there = comment.span, reference.span
    if here is None or there is None:
        return True
    if here.path != there.path:
        return False
    if here.start is None or here.end is None or there.start is None or there.end is None:
        return True
    return here.side == there.side and here.start <= there.end + 1 and there.start <= here.end + 1


def foretold(case: Case, review: Review) -> tuple[int, int]:
    """(findings hit, pairs asked about) by the rule: yes from a Dice of .3 on, one-to-one, repeated words once."""
    known = [*case.references, *case.neutral, *case.rejected]
    said = list({(" ".join(c.body.split()), c.span): c for c in reversed(review.comments)}.values())
    yes = np.array(
        [[is_located(c, r) and overlap(c.body, r.body) >= SAME_FROM for r in known] for c in said], dtype=float
    )
    yes = yes.reshape(len(said), len(known))
    asked = sum(
        is_located(c, r) and not (c.body == r.body and c.span == r.span) for c in review.comments for r in known
    )
    own, other = yes[:, : len(case.references)], yes[:, len(case.references) :]
    assert not ((own.sum(axis=1) > 0) & (other.sum(axis=1) > 0)).any(), "no comment here says what two kinds say"
    rows, columns = linear_sum_assignment(-own)
    return int(own[rows, columns].sum()), asked


def measured(metric: Hits, items: Sequence[tuple[Case, Review]]) -> list[tuple[Case, Review, Measured]]:
    found = [(case, review, metric.parts(case, review)) for case, review in items]
    return [(case, review, value) for case, review, value in found if isinstance(value, Measured)]


@pytest.mark.slow
def test_a_whole_small_run_gives_the_rules_numbers() -> None:
    items = sample()
    with track_usage() as tracker:
        found = measured(Hits(judge=FAKE), items)
    assert len(found) == len(items)
    wanted = [foretold(case, review) for case, review in items]
    assert [(value.parts["hit"], value.parts["asked"]) for _, _, value in found] == wanted
    assert sum(hit for hit, _ in wanted) > 0
    assert tracker.fake
    assert tracker.usage.calls <= sum(asked for _, asked in wanted)


@pytest.mark.slow
def test_every_vote_stays_in_the_evidence() -> None:
    for _, _, value in measured(Hits(judge=f"same_concern(model='{FAKE}', votes=2)"), sample()):
        assert value.matching is not None
        voted = [pair.verdict for pair in value.matching.pairs if pair.verdict is not None and pair.verdict.votes]
        assert len(voted) == value.parts["asked"]
        assert all(len(verdict.votes) == 2 for verdict in voted)
        shown = [pair.verdict for pair in value.matching.pairs if pair.verdict is not None]
        assert all(verdict.votes or verdict.reason.startswith(NOT_ASKED) for verdict in shown)


@pytest.mark.slow
def test_what_a_gate_excludes_is_not_asked_about_whatever_the_judge_would() -> None:
    anywhere = f"same_concern(model='{FAKE}', location='any')"
    gated, everything = (measured(Hits(judge=anywhere, location=rule), sample()) for rule in ("gate", "ignore"))
    first = measured(Hits(judge=FAKE, location="gate"), sample())
    assert [v.parts for _, _, v in gated] == [v.parts for _, _, v in first]
    asked = [sum(value.parts["asked"] for _, _, value in found) for found in (gated, everything)]
    assert 0 < asked[0] < asked[1]


def test_martians_own_matching_with_confidences_by_the_rule(shared_data: Path) -> None:
    """Per golden comment the surest candidate; one candidate may hold several, and several may lose theirs."""
    items = martian(shared_data / "martian")[:40]
    found = measured(Hits(judge=f"golden(model='{FAKE}')", policy="greedy", variant="martian"), items)
    for case, review, value in found:
        best: dict[str, str] = {}
        for reference in case.references:
            shared = [(overlap(c.body, reference.body), -at, c.id) for at, c in enumerate(review.comments)]
            sure = [(confidence(dice), at, name) for dice, at, name in shared if dice >= SAME_FROM]
            if sure:
                best[reference.id] = max(sure)[2]
        assert value.matching is not None
        hit = {group.group: group.comments[0] for group in value.matching.groups if group.hit}
        assert hit == best
        matched = {one.comment for one in value.matching.comments if one.state is CommentState.MATCHED}
        assert matched == set(best.values())
