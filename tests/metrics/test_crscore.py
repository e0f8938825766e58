"""CRScore: the three numbers by hand, what has none, and whose threshold it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import tiny_models
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Measured, Metric
from reviewgauge.core.records import Case, Change, ChangedFile, Claim, Comment, Review
from reviewgauge.core.specs import load
from reviewgauge.metrics.coverage.vectors import Matrix
from reviewgauge.metrics.crscore import NO_DIFF, Crscore, linked, once, pairs, three_numbers

PATCH = "@@ -1,2 +1,2 @@\n def ship(weight):\n-    return weight > 10\n+    return weight >= 10\n"
CLAIMS = (
    Claim(id="1", body="The function ship compares the weight with 10 by >= and not by >."),
    Claim(id="2", body="The retry counter is removed."),
)


def crscore(spec: str = "crscore") -> Crscore:
    metric = load(Metric, spec)
    assert isinstance(metric, Crscore)
    return metric


def case(*claims: Claim, patch: str | None = None, references: tuple[str, ...] = ()) -> Case:
    files = (ChangedFile(path="shop/ship.py", patch=patch),) if patch else ()
    comments = tuple(Comment(id=f"r{at}", body=body) for at, body in enumerate(references))
    return Case(id="c", change=Change(repo="o/r", files=files), claims=claims, references=comments)


def review(*bodies: str) -> Review:
    comments = tuple(Comment(id=f"k{at}", body=body) for at, body in enumerate(bodies))
    return Review(case="c", system="s", comments=comments)


def measured(of: Case, said: Review, spec: str = "crscore") -> Measured:
    found = crscore(spec).parts(of, said)
    assert isinstance(found, Measured)
    return found


def test_the_three_numbers_above_a_threshold() -> None:
    cosines = np.array([[0.9, 0.2, 0.7], [0.1, 0.3, 0.7]])
    assert three_numbers(cosines, 0.7) == {"con": 1 / 3, "comp": 1 / 2, "rel": 0.4}, "strictly above"
    assert three_numbers(cosines, 0.95) == {"con": 0.0, "comp": 0.0, "rel": 0.0}
    soft = three_numbers(cosines, None)
    assert soft["con"] == pytest.approx((0.9 + 0.3 + 0.7) / 3) and soft["comp"] == pytest.approx((0.9 + 0.7) / 2)


def test_saying_one_thing_twice_adds_nothing() -> None:
    said = np.array([[0.8], [0.2]])
    assert once(said, pairs(said)) == {"con": 0.8, "comp": 0.4, "rel": pytest.approx(1.6 / 3)}
    twice = np.hstack([said, said])
    assert once(twice, pairs(twice)) == {"con": 0.5, "comp": 0.5, "rel": pytest.approx(0.5)}, (
        "the second covers the other claim"
    )
    assert three_numbers(twice, None)["con"] == 0.8


SHARES = st.floats(-1, 1)
COSINES = st.tuples(st.integers(1, 6), st.integers(1, 6)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=SHARES)
)


@given(cosines=COSINES, threshold=st.none() | st.floats(0, 1))
def test_numbers_are_shares_and_links_name_the_closest(cosines: Matrix, threshold: float | None) -> None:
    for parts in (three_numbers(cosines, threshold), once(cosines, pairs(cosines))):
        assert all(0 <= value <= 1 for value in parts.values())
        assert min(parts["con"], parts["comp"]) <= parts["rel"] + 1e-12 <= max(parts["con"], parts["comp"]) + 2e-12
    links = linked(cosines)
    assert {link.sentence for link in links} == set(range(cosines.shape[1]))
    assert {link.claim for link in links} == set(range(cosines.shape[0]))
    assert not any(link.paired for link in links)


@given(cosines=COSINES)
def test_the_marked_links_are_the_pairs_that_count(cosines: Matrix) -> None:
    links = linked(cosines, pairs(cosines))
    found = [link for link in links if link.paired]
    assert len({link.sentence for link in found}) == len({link.claim for link in found}) == len(found)
    total = once(cosines, pairs(cosines))["con"] * cosines.shape[1]
    assert sum(link.similarity for link in found) == pytest.approx(total, abs=1e-3)
    assert set(linked(cosines)) <= {link.model_copy(update={"paired": False}) for link in links}


@pytest.mark.parametrize("spec", ["crscore(variant='closest')", "crscore(soft=False)"])
def test_only_the_default_pairs(spec: str) -> None:
    said = review("Is the retry counter removed?", "The retry counter is removed, is it?")
    default, other = measured(case(*CLAIMS), said).coverage, measured(case(*CLAIMS), said, spec).coverage
    assert default is not None and [link.claim for link in default.links if link.paired].count(1) == 1
    assert other is not None and not any(link.paired for link in other.links)


def test_the_evidence_says_which_sentence_covers_which_claim() -> None:
    found = measured(case(*CLAIMS), review("Why >= for the weight? Is the retry counter removed?")).coverage
    assert found is not None and found.claims == CLAIMS
    assert found.sentences == ("Why >= for the weight?", "Is the retry counter removed?")
    assert [(link.sentence, link.claim) for link in found.links] == [(0, 0), (1, 1)]
    assert found.links[1].similarity > found.links[0].similarity > 0


@pytest.mark.parametrize("text", ["", "  \n", "👍", "---"])
def test_a_review_without_a_sentence_is_a_zero(text: str) -> None:
    assert measured(case(*CLAIMS), review(text)).parts == {"con": 0, "comp": 0, "rel": 0}
    assert measured(case(*CLAIMS), review()).parts == {"con": 0, "comp": 0, "rel": 0}


def test_what_has_no_claims_has_no_score() -> None:
    assert crscore().parts(case(), review("x")) == NO_DIFF
    assert crscore().unmeasurable(case()) and crscore().bounds(case()) is None
    assert crscore().parts(case(Claim(id="1", body=" ")), review("x")) == "there is nothing to claim about the change"
    assert crscore("crscore(claims='references')").parts(case(), review("x")) == "the case has no reference comment"


def test_claims_are_made_from_the_diff_or_taken_from_references() -> None:
    made = measured(case(patch=PATCH), review("Should the weight be >= 10?"))
    assert made.coverage is not None and made.coverage.claims and made.parts["rel"] > 0
    said = ("It is never released. So the next one waits.", "Name it.")
    own = measured(case(references=said), review(*said), "crscore(claims='references')")
    assert own.parts == pytest.approx({"con": 1, "comp": 1, "rel": 1}), "references cover themselves"
    taken = measured(
        case(references=("It is never released.",)), review("Never released!"), "crscore(claims='references')"
    )
    assert taken.coverage is not None and [claim.source for claim in taken.coverage.claims] == ["reference"]


def test_a_threshold_belongs_to_one_model() -> None:
    own = "crscore(model='chars', soft=False, threshold=0.3, threshold_of={!r})"
    assert measured(case(*CLAIMS), review("The retry counter is removed."), own.format("chars")).parts["comp"] == 0.5
    with pytest.raises(UserError, match="do not carry over"):
        crscore(own.format("words")).pins()
    with pytest.raises(UserError, match="belongs to the model mxbai"):
        crscore("crscore(model='all-MiniLM-L6-v2', soft=False, threshold=0.7314, threshold_of='mxbai')").pins()
    assert crscore("crscore(model='chars', soft=False)").pins()["threshold"] == "0.251", "one is shipped"
    found = crscore(own.format("chars")).pins()
    assert found["threshold"] == "0.3" and len(found["chars"]) == 64


@pytest.mark.parametrize("spec", [
    "crscore(threshold=0.3, threshold_of='words')",
    "crscore(soft=False, threshold=0.3)",
    "crscore(soft=False, threshold_of='words')",
    "crscore(soft=False, variant='published')",
    "crscore(variant='published', model='all-MiniLM-L6-v2')",
    "crscore(soft=False, variant='closest', threshold=0.3, threshold_of='words')",
    "crscore(soft=False, threshold=1.5, threshold_of='words')",
    "crscore(soft=False, threshold=-0.1, threshold_of='words')",
    "crscore(model='')", "crscore(claims='all')",
])  # fmt: skip
def test_parameters_that_do_not_fit(spec: str) -> None:
    with pytest.raises(UserError):
        crscore(spec)


def test_a_model_without_a_fitted_threshold_is_refused_with_the_command_that_fits_one(tmp_path: Path) -> None:
    folder = str(tiny_models.write_model(tmp_path / "tiny"))
    with pytest.raises(UserError, match=f"no threshold is known for .*validate crscore_study .*{folder}.* --sweep"):
        Crscore(model=folder, soft=False).pins()


@pytest.mark.drill
def test_the_last_digit_does_not_depend_on_the_hash_seed() -> None:
    code = (
        "from reviewgauge.datasets.sample import Sample\n"
        "from reviewgauge.metrics.coverage.vectors import TextVectors\n"
        "texts = [one.body for case in Sample().cases() for one in case.references]\n"
        "print(TextVectors(texts, 'words').cosines(texts, texts).tobytes().hex())"
    )
    command = [sys.executable, "-c", code]
    seeds = ({**os.environ, "PYTHONHASHSEED": seed} for seed in "12")
    first, second = (subprocess.run(command, env=env, capture_output=True, check=True).stdout for env in seeds)
    assert first == second
