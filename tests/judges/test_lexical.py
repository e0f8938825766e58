from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbench.core.errors import BadInput, UserError
from reviewbench.core.plugins import load
from reviewbench.core.protocols import Judge
from reviewbench.core.records import Case, Change, Comment, Review
from reviewbench.core.results import Verdict
from reviewbench.judges._lexical_model import LexicalModel, load_weights, rivals
from reviewbench.judges.lexical import Lexical, finding_names

BODIES = st.one_of(
    st.text(alphabet=st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=60),
    st.lists(st.sampled_from(["null", "user_id", "cache", "not", "12", "getUser", "`x`"]), max_size=8).map(" ".join),
)
GOLDEN = "The cache is written without holding the lock, so two requests race on `entry_table`."
SAID = "Race: `entry_table` of the cache is updated without taking the lock."
OTHER = "Typo in the name of this test."


def table(comments: list[str], references: list[str], judge: Judge | None = None) -> list[list[Verdict]]:
    case = Case(id="c", change=Change(repo="a/b"), references=_comments("r", references))
    review = Review(case="c", system="s", comments=_comments("c", comments))
    rows = (judge or Lexical()).judge(case, review.comments, case.references, review)
    assert all(verdict is not None for row in rows for verdict in row)
    return [[verdict for verdict in row if verdict] for row in rows]


def _comments(prefix: str, bodies: list[str]) -> tuple[Comment, ...]:
    return tuple(Comment(id=f"{prefix}{n}", body=body) for n, body in enumerate(bodies))


def test_it_tells_the_same_finding_from_another() -> None:
    (same, other), (unlike, _) = table([SAID, OTHER], [GOLDEN, "Nothing closes the file handle."])
    assert same.same
    assert same.probability > 0.8
    assert "`entry_table`" in same.reason
    assert not other.same
    assert not unlike.same
    assert unlike.probability < 0.1


@given(st.lists(BODIES, max_size=3), st.lists(BODIES, max_size=3))
def test_any_text_gets_a_probability_and_the_order_does_not_matter(comments: list[str], references: list[str]) -> None:
    rows = table(comments, references)
    assert [len(row) for row in rows] == [len(references)] * len(comments)
    for row in rows:
        for verdict in row:
            assert 0 <= verdict.probability <= 1
            assert verdict.unsure == (0.1 < verdict.probability < 0.9)
            assert verdict.same == (verdict.probability >= Lexical().threshold) or verdict.same is True
    turned = table(comments[::-1], references[::-1])
    for row, mirrored in zip(rows, turned[::-1], strict=True):
        assert [v.probability for v in row] == pytest.approx([v.probability for v in mirrored[::-1]])


@given(BODIES)
def test_the_same_words_are_the_same(body: str) -> None:
    verdict = table(["  " + body + "\n", OTHER], [OTHER, body, GOLDEN])[0][1]
    assert verdict.same
    assert not verdict.unsure


@pytest.mark.parametrize("body", ["", "LGTM", "Nice work!", "👍", "..."])
def test_empty_praise_raises_nothing(body: str) -> None:
    for verdict in table([body], [GOLDEN, "Null dereference of the row.", "Wrong index."])[0]:
        assert verdict.probability < 0.05
        assert not verdict.same


def test_other_comments_of_the_review_do_not_change_a_verdict() -> None:
    assert table([SAID, SAID, OTHER], [GOLDEN])[0] == table([SAID], [GOLDEN])[0]


def test_a_better_rival_makes_a_match_less_likely() -> None:
    alone = table([SAID], [GOLDEN])[0][0].probability
    beside = table([SAID], [GOLDEN, "`entry_table` of the cache: race, updated without taking the lock."])[0][0]
    assert beside.probability < alone


def test_two_phrasings_of_one_finding_are_no_rivals() -> None:
    first = Comment(id="a", body=GOLDEN)
    second = Comment(id="b", body="`entry_table` of the cache: race, updated without taking the lock.", same_as="a")
    assert finding_names([first, second]) == ["a", "a"]
    case = Case(id="c", change=Change(repo="a/b"), references=(first, second))
    review = Review(case="c", system="s", comments=_comments("c", [SAID]))
    rows = Lexical().judge(case, review.comments, case.references, review)
    assert rows[0][0] == table([SAID], [GOLDEN])[0][0]


def test_rivals_by_hand() -> None:
    assert rivals([[0.9, 0.2, 0.4]], ["x", "y", "y"]) == [[0.4, 0.9, 0.9]]
    assert rivals([[0.9]], ["x"]) == [[0.0]]


def test_groups_that_point_at_each_other_end() -> None:
    loop = [Comment(id="a", body="x", same_as="b"), Comment(id="b", body="y", same_as="a")]
    assert finding_names(loop) == ["a", "a"]


def refined(said: dict[str, list[str]], references: list[str]) -> dict[str, list[list[Verdict | None]]]:
    case = Case(id="c", change=Change(repo="a/b"), references=_comments("r", references))
    reviews = {s: Review(case="c", system=s, comments=_comments("c", bodies)) for s, bodies in said.items()}
    judge = Lexical()
    tables = {s: judge.judge(case, r.comments, case.references, r) for s, r in reviews.items()}
    return {s: [list(row) for row in rows] for s, rows in judge.refine(case, tables, reviews).items()}


def test_agreement_of_others_makes_a_match_likelier() -> None:
    vague = "The `entry_table` update is not synchronized between requests."
    alone = refined({"one": [vague]}, [GOLDEN, OTHER])["one"][0][0]
    helped = refined({"one": [vague], "two": [vague + " " + SAID], "three": [SAID], "silent": []}, [GOLDEN, OTHER])
    together = helped["one"][0][0]
    assert alone is not None
    assert together is not None
    assert together.probability > alone.probability
    assert helped["silent"] == []


def test_refining_keeps_the_same_words_and_one_system_alone() -> None:
    case_alone = refined({"one": [SAID]}, [GOLDEN])["one"][0][0]
    assert case_alone == table([SAID], [GOLDEN])[0][0]
    kept = refined({"one": [GOLDEN], "two": [OTHER]}, [GOLDEN])["one"][0][0]
    assert kept is not None
    assert kept.same


def test_parameters() -> None:
    assert load(Judge, "lexical(cut=0.9)").threshold == 0.9
    assert load(Judge, "lexical(high=0.95)").sure == 0.95
    assert Lexical().estimate == "offline estimate"
    assert 0 < Lexical().penalty < 1
    assert set(Lexical().pins()) == {"lexical weights"}
    for wrong in ("lexical(low=0.9, high=0.1)", "lexical(cut=2.0)"):
        with pytest.raises(UserError):
            load(Judge, wrong)


def test_own_weights(tmp_path: Path) -> None:
    shipped = load_weights()[0]
    file = tmp_path / "own.json"
    file.write_text(shipped.model_copy(update={"threshold": 0.77}).model_dump_json())
    judge = Lexical(weights=str(file))
    assert judge.threshold == 0.77
    assert judge.pins() != Lexical().pins()
    with pytest.raises(UserError, match="cannot read"):
        _ = Lexical(weights=str(tmp_path / "absent.json")).threshold
    broken = tmp_path / "broken.json"
    broken.write_text(shipped.model_dump_json()[:-20])
    with pytest.raises(BadInput):
        _ = Lexical(weights=str(broken)).threshold
    fewer = json.loads(shipped.model_dump_json())
    del fewer["features"]["word_cosine"]
    broken.write_text(json.dumps(fewer))
    load_weights.cache_clear()
    with pytest.raises(UserError, match="other features"):
        _ = Lexical(weights=str(broken)).threshold


@given(BODIES, BODIES)
def test_likeness_is_symmetric(one: str, other: str) -> None:
    model = LexicalModel(load_weights()[0])
    assert model.likeness(one, other) == pytest.approx(model.likeness(other, one))
