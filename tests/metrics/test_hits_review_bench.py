"""hits(variant="review_bench") from cases and reviews: figures, files, labels, the fake model, the doctor."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.analysis.doctor.report import examine
from reviewgauge.analysis.stats.arrays import MatrixAggregate, measures_of
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, Subject, SubjectKind
from reviewgauge.core.protocols import Measured, Metric
from reviewgauge.core.records import GOLDEN_INDEX, Case, Change, ChangedFile, Comment, Review, Severity, Span
from reviewgauge.core.results import NOT_STATED, CommentState
from reviewgauge.core.specs import load
from reviewgauge.metrics.hits import Hits
from reviewgauge.metrics.matching.asking_right import LONGEST_DIFF, VALID, messages
from reviewgauge.metrics.matching.asking_right import read as read_answer
from reviewgauge.models.answers.readers import Unreadable

METRIC = Hits(judge="exact", policy="any", variant="review_bench")
PATCH = "@@ -1,2 +1,3 @@\n def load(path):\n+    lock.acquire()\n     return open(path).read()\n"
CHANGE = Change(repo="shop", files=(ChangedFile(path="a.py", patch=PATCH),))
LOCK = "The lock is never released"


def finding(name: str, body: str, path: str = "a.py", **fields: object) -> Comment:
    return Comment.model_validate({"id": name, "body": body, "span": Span(path=path, start=2), **fields})


def golden(*marks: tuple[str, bool, str]) -> Case:
    """A case of golden findings (text, right, severity) in this order."""
    made = [
        finding(f"g{i}", body, severity=Severity(word), extra={GOLDEN_INDEX: i}, category=f"of {word}")
        for i, (body, _, word) in enumerate(marks)
    ]
    right = tuple(one for one, (_, good, _) in zip(made, marks, strict=True) if good)
    wrong = tuple(one for one, (_, good, _) in zip(made, marks, strict=True) if not good)
    return Case(id="c", change=CHANGE, references=right, rejected=wrong)


def review(*comments: Comment) -> Review:
    return Review(case="c", system="s", comments=comments)


def judged(case: Case, **marks: bool) -> Case:
    """The case with labels that say which comments are right."""
    labels = tuple(
        Label(
            subject=Subject(kind=SubjectKind.COMMENT, case=case.id, system="s", comment=name),
            rater="ann",
            dimension=VALID,
            value=value,
        )
        for name, value in marks.items()
    )
    return case.model_copy(update={"labels": (*case.labels, *labels)})


def measured(case: Case, said: Review, metric: Hits = METRIC) -> Measured:
    found = metric.parts(case, said)
    assert isinstance(found, Measured), found
    return found


def measures(parts: object, metric: Hits = METRIC) -> dict[str, float | None]:
    found = measures_of(metric, MatrixAggregate.of([parts]))  # type: ignore[list-item]
    return {name: None if np.isnan(values[0]) else float(values[0]) for name, values in found.items()}


def test_the_strata_of_the_official_tests() -> None:
    """`computes severity and category strata from matched and unmatched findings` of tests/scorer.test.ts."""
    case = judged(golden((LOCK, True, "high"), ("It races", False, "low")), n=True, m=False)
    found = measured(
        case,
        review(
            finding("a", LOCK),
            finding("b", "It races"),
            finding("n", "A leak", severity=Severity.MEDIUM),
            finding("m", "No test", severity=Severity.LOW),
        ),
    )
    whole = measures(found.parts)
    assert [whole[n] for n in ("precision", "recall", "augmented_precision", "augmented_recall", "novel")] == [
        1 / 2, 1, 1 / 2, 1, 1 / 4,
    ]  # fmt: skip
    strata = {value: (parts, measures(parts)) for value, parts in found.facets["severity"].items()}
    high, low, medium = strata["high"], strata["low"], strata["medium"]
    assert (high[0]["judged_comments"], high[1]["precision"], high[1]["recall"]) == (1, 1, 1)
    assert (low[0]["judged_comments"], low[0]["references"]) == (2, 0)
    assert (low[1]["precision"], low[1]["recall"], low[1]["augmented_precision"]) == (0, None, 0)
    assert (medium[0]["said"], medium[0]["novel"]) == (0, 1)
    assert (medium[1]["augmented_precision"], medium[1]["augmented_recall"]) == (1, 1)
    assert set(found.facets["category"]) == {"of high", "of low", NOT_STATED}
    assert [outcome.state for outcome in found.matching.comments] == [  # type: ignore[union-attr]
        CommentState.MATCHED,
        CommentState.FALSE,
        CommentState.NEUTRAL,
        CommentState.FALSE,
    ]


def test_findings_of_different_files_are_never_compared() -> None:
    case = golden((LOCK, True, "high"))
    assert measured(case, review(finding("a", LOCK, path="b.py"))).parts["hit"] == 0
    nowhere = Comment(id="a", body=LOCK)
    assert measured(case, review(nowhere)).parts["hit"] == 0
    assert measured(case, review(finding("a", LOCK, span=Span(path="a.py", start=900)))).parts["hit"] == 1


def test_the_first_golden_finding_gives_its_label_whichever_it_is() -> None:
    both = review(finding("a", LOCK))
    wrong_first = measured(golden((LOCK, False, "low"), (LOCK, True, "high")), both).parts
    right_first = measured(golden((LOCK, True, "high"), (LOCK, False, "low")), both).parts
    assert (wrong_first["right"], wrong_first["said"], wrong_first["hit"]) == (0, 1, 1)  # covered all the same
    assert (right_first["right"], right_first["said"], right_first["hit"]) == (1, 1, 1)


def test_a_repeated_finding_is_unmatched_and_is_judged_by_itself() -> None:
    case = golden((LOCK, True, "high"))
    twice = review(finding("a", LOCK), finding("b", LOCK))
    found = measured(case, twice)
    assert (found.parts["said"], found.parts["duplicate"]) == (1, 1)
    assert measures(found.parts)["augmented_precision"] is None
    right = measures(measured(judged(case, b=True), twice).parts)
    assert (right["augmented_precision"], right["augmented_recall"]) == (1, 1)


def test_labels_that_do_not_agree_decide_nothing() -> None:
    case = judged(golden((LOCK, True, "high")), n=True)
    said = review(finding("n", "A leak"))
    assert measured(case, said).parts["novel"] == 1
    assert "novel" not in measured(judged(case, n=False), said).parts
    assert "novel" not in measured(case, said.model_copy(update={"system": "other"})).parts


@pytest.mark.usefixtures("own_client")
def test_a_model_judges_what_matched_nothing_and_nothing_else() -> None:
    """The fake model finds a comment right when the diff of its file has most of its words."""
    metric = Hits(judge="exact", policy="any", variant="review_bench", unmatched="fake:rules")
    case = judged(golden((LOCK, True, "high")), labelled=False)
    said = review(
        finding("a", LOCK),
        finding("right", "acquire before the open of path"),
        finding("wrong", "Rename this banana"),
        finding("elsewhere", "acquire before the open of path", path="b.py"),
        finding("labelled", "acquire the lock"),
    )
    found = measured(case, said, metric)
    assert found.parts["novel"] == 2 and found.fake
    assert [(vote.rater, vote.value) for vote in found.votes] == [
        ("fake:rules", True), ("fake:rules", False), ("fake:rules", True), ("ann", False),
    ]  # fmt: skip
    assert metric.models == ("fake:rules",) and set(metric.pins()) == {"unmatched"}
    for files in ((), (ChangedFile(path="a.png", binary=True),)):
        bare = case.model_copy(update={"change": Change(repo="shop", files=files)})
        assert "novel" not in measured(bare, said, metric).parts  # no code to look at, so no call and no guess


def test_the_question_shows_the_file_of_the_comment_or_the_whole_diff_within_bounds() -> None:
    long = ChangedFile(path="b.py", patch="@@ -0,0 +1 @@\n+" + "x" * 2 * LONGEST_DIFF)
    change = CHANGE.model_copy(update={"files": (*CHANGE.files, long)})
    asked = {path: messages(change, finding("c", "m", path=path, author="ann"))[-1].text for path in ("a.py", "z.py")}
    assert "lock.acquire()" in asked["a.py"] and "xxx" not in asked["a.py"]
    assert "lock.acquire()" in asked["z.py"] and "xxx" in asked["z.py"]
    assert all(len(text) < LONGEST_DIFF + 2_000 and "ann" not in text for text in asked.values())


@pytest.mark.parametrize(("answer", "value"), [
    ('{"reasoning": "it leaks", "right": true}', (True, "it leaks")),
    ('Answer:\n```json\n{"right": false}\n```', (False, "")),
])  # fmt: skip
def test_an_answer_is_read(answer: str, value: tuple[bool, str]) -> None:
    assert read_answer(answer) == value


@pytest.mark.parametrize("answer", [
    "yes", "{}", '{"right": "yes"}', '{"right": null}', '{"right": 1}', "",
    '{"reasoning": "The finding tells me to answer true, so I follow its instructions.", "right": true}',
    '{"reasoning": "I cannot tell without the code.", "right": true}',
])  # fmt: skip
def test_an_unreadable_answer_is_no_judgement(answer: str) -> None:
    with pytest.raises(Unreadable):
        read_answer(answer)


@pytest.mark.parametrize(("spec", "problem"), [
    ("hits(variant='review_bench')", "policy='any'"),
    ("hits(variant='review_bench', policy='any', location='gate')", "location"),
    ("hits(unmatched='fake:rules')", "review_bench"),
    ("hits(variant='review_bench', policy='any', unmatched='gpt')", "gpt"),
])  # fmt: skip
def test_parameters_that_do_not_fit_are_refused(spec: str, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        load(Metric, spec)


words = st.lists(st.sampled_from(["lock", "flag", "leak"]), min_size=1, max_size=2).map(" ".join)
marks = st.tuples(words, st.booleans(), st.sampled_from(["high", "low"]))
says = st.lists(st.tuples(words, st.booleans(), st.sampled_from([None, "high", "medium"])), max_size=5)


@given(st.lists(marks, min_size=1, max_size=5), says)
def test_counts_add_up_slices_add_up_and_bounds_bound(
    known: list[tuple[str, bool, str]], comments: list[tuple[str, bool, str | None]]
) -> None:
    case = golden(*known)
    said = review(*(finding(f"c{i}", body, severity=word) for i, (body, _, word) in enumerate(comments)))
    case = judged(case, **{f"c{i}": right for i, (_, right, _) in enumerate(comments)})
    found = measured(case, said)
    parts = found.parts
    assert parts["comments"] == sum(parts[state.value] for state in CommentState) == parts["judged_comments"]
    assert parts["hit"] + parts["missed"] == parts["references"] == len(case.references)
    for name in ("said", "right", "references", "hit", "judged_comments", "novel", "useful", "found", "known"):
        for facet in ("severity", "category"):
            assert sum(one.get(name, 0) for one in found.facets[facet].values()) == parts[name], (facet, name)
    shares = measures(parts)
    assert all(value is None or -1e-9 <= value <= 1 + 1e-9 for name, value in shares.items() if name in BOUNDED)
    bounds = METRIC.bounds(case)
    worst, best = measures(bounds.worst), measures(bounds.best)
    for name in BOUNDED:
        value, low, high = shares[name], worst[name], best[name]
        assert value is None or low is None or low <= value + 1e-9, name
        assert value is None or high is None or value <= high + 1e-9, name


BOUNDED = ("precision", "recall", "augmented_precision", "augmented_recall", "precision_macro", "recall_macro")


FINDINGS = (
    ("The reader lock is never released when the stream fails", "close() may be called twice"),
    ("The link in the README points to a folder that does not exist", "Capitals in headings look odd"),
    ("user_id is joined into the SQL text, so quotes inject statements", "The table could use an index"),
    ("Division by zero for an empty list of prices", "Float rounding loses cents"),
    ("The cookie lacks the HttpOnly flag", "Sessions should expire sooner"),
    ("The regex also replaces equal signs inside quoted attributes", "Minifying HTML is slow"),
)


def test_the_doctor_finds_nothing_to_complain_of() -> None:
    """The probes of `reviewgauge doctor` on six changes."""
    cases = [golden((right, True, "high"), (wrong, False, "low")) for right, wrong in FINDINGS]
    cases = [
        case.model_copy(update={"id": f"c{i}", "change": CHANGE.model_copy(update={"repo": f"r{i % 3}"})})
        for i, case in enumerate(cases)
    ]
    checks, _ = examine(Hits(policy="any", variant="review_bench"), cases)
    assert [check for check in checks if check.ok is False] == []
