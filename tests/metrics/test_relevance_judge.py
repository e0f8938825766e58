"""`relevance_judge`: CRScore's LLM-as-a-judge, its prompt to the letter, and what real models answer to it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Measured, Metric
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Review
from reviewgauge.core.results import Failure, FailureKind
from reviewgauge.core.specs import load, signature
from reviewgauge.metrics.relevance_judge import NO_DIFF, NO_LANGUAGE, RelevanceJudge, diff_of
from reviewgauge.models.chat.client import ChatClient, track_usage
from scripted_models import scripted
from text_metrics import BLANK, read

PATCH = "@@ -1,2 +1,3 @@\n def save(path):\n+    lock.acquire()\n     write(path)"
SAID = "The lock is acquired here and never released."
FAKE = RelevanceJudge(model="fake:rules")


@pytest.fixture(autouse=True)
def door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatClient]:
    monkeypatch.setenv("REVIEWGAUGE_CACHE", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-test")
    with ChatClient() as opened:
        yield opened


def case(*files: ChangedFile, language: str | None = "python") -> Case:
    change = Change(repo="shop", files=files or (ChangedFile(path="save.py", patch=PATCH),))
    return Case(id="case", change=change, facts={} if language is None else {"language": language})


def review(*bodies: str) -> Review:
    return Review(
        case="case", system="s", comments=tuple(Comment(id=f"c{i}", body=body) for i, body in enumerate(bodies))
    )


def judged(answers: Sequence[str], *bodies: str) -> Measured | Failure | str:
    with scripted(answers) as model:
        (found,) = RelevanceJudge(model=model.spec).parts_many([(case(), review(*(bodies or (SAID,))))])
    return found


# Appendix D.4 of the paper; "TASK PROMPT:" is the caption of the second one.
PRINTED = """You are a highly skilled software engineer who has a lot of experience reviewing code changes.
Your task is to rate the relevance of any given code change
TASK PROMPT: You will be asked to rate the relevance of reviews for given Python, Java, or Javascript code changes.
A relevant review is one which is both concise and comprehensive. A concise review contains very little text not
related to the code change. A comprehensive review contains all the information about a code change that should be
covered by a review. A relevant review is comprehensive while being concise.
Now look at the {lang} code change and review below and score the relevance of the review on a scale of 1 to 5
Code Change: {code_change}
Review: {review}
Your score:
"""


def test_the_published_prompt_is_the_printed_one() -> None:
    system, user = RelevanceJudge().messages("{lang}", "{code_change}", "{review}")
    assert f"{system.text} TASK PROMPT: {user.text}".split() == PRINTED.split()


def test_the_fenced_prompt_has_the_same_words() -> None:
    published = [message.text for message in RelevanceJudge().messages("Java", PATCH, SAID)]
    fenced = [message.text for message in RelevanceJudge(prompt="fenced").messages("Java", PATCH, SAID)]
    assert fenced[0] == published[0]
    bare = re.sub(r"\n<<<(?:DATA|END) [0-9a-f]+>>>", "", fenced[1])
    bare = re.sub(r"Text between a line <<<DATA.*?\n\n", "", bare, flags=re.DOTALL)
    assert bare.split() == published[1].split()
    assert RelevanceJudge().pins() != RelevanceJudge(prompt="fenced").pins()


@pytest.mark.parametrize(
    ("language", "written"), [("python", "Python"), ("java", "Java"), ("javascript", "Javascript")]
)
def test_the_language_stands_as_the_paper_writes_it(language: str, written: str) -> None:
    with scripted(["4"]) as model:
        RelevanceJudge(model=model.spec).parts(case(language=language), review(SAID, "And rename it."))
        (system, user) = model.asked[0]
    assert system["role"] == "system"
    assert f"Now look at the {written} code change" in user["content"]
    assert user["content"].endswith(f"Code Change: {PATCH}\n\nReview: {SAID}\nAnd rename it.\n\nYour score:"), (
        "the whole diff, and the comments one a line"
    )


ANSWERS: list[tuple[str, int | None]] = [  # more stand in the corpus of answers
    ("**Score:** 2/5", 2),
    ("I would rate the relevance of the review a 3.", 3),
    ("4\n\nThe review is concise, and names the lock on line 12.", 4),
    ("5 - concise and comprehensive", 5),
    ("4/10", None),
    ("3 or 4", None),
    ("Conciseness: 5\nComprehensiveness: 2\nScore: 3", None),
    ("I cannot rate this review without more context.", None),
    ("Score: 4\nActually, score: 3", None),
]


@pytest.mark.parametrize(("answer", "score"), ANSWERS, ids=[f"{number}" for number in range(len(ANSWERS))])
def test_answers_as_models_write_them(answer: str, score: int | None) -> None:
    found = judged([answer])
    if score is None:
        assert isinstance(found, Failure), found
        assert (found.kind, found.raw or "") == (FailureKind.UNREADABLE, answer)
    else:
        assert isinstance(found, Measured), found
        assert found.parts == {"score": score, "relevance": (score - 1) / 4}
        (vote,) = found.votes
        assert (vote.value, vote.reason) == (score, answer)


def test_asked_again_in_the_same_words_or_with_the_reason() -> None:
    for prompt, longer in (("published", False), ("fenced", True)):
        with scripted(["Good.", "7", "2"]) as model:
            metric = load(Metric, f"relevance_judge(model={model.spec!r}, prompt={prompt!r})")
            found = metric.parts(case(), review(SAID))
            assert isinstance(found, Measured)
            assert found.parts["score"] == 2
            assert [len(messages) for messages in model.asked] == [2, 4 if longer else 2, 4 if longer else 2]


@pytest.mark.parametrize("blank", [(), *((text,) for text in BLANK)])
def test_a_blank_review_is_a_1_without_a_call(blank: tuple[str, ...]) -> None:
    with track_usage() as tracker:
        found = FAKE.parts(case(), review(*blank))
    assert found == Measured(parts={"score": 1, "relevance": 0})
    assert tracker.usage.calls == 0


def test_what_cannot_be_judged() -> None:
    without = ChangedFile(path="a.py")
    picture = ChangedFile(path="a.png", binary=True)
    whole = ChangedFile(path="b.py", old_path="a.py", patch=PATCH)
    for of, reason in (
        (case(without), NO_DIFF),
        (case(whole, without), NO_DIFF),
        (case(picture), NO_DIFF),
        (case(language=None), NO_LANGUAGE),
        (case(whole).model_copy(update={"change": Change(repo="shop")}), NO_DIFF),
    ):
        assert FAKE.parts(of, review(SAID)) == FAKE.unmeasurable(of) == reason
        assert FAKE.bounds(of) is None
    assert diff_of(case(whole).change) == PATCH
    assert diff_of(case(whole, picture).change) == f"--- a.py\n+++ b.py\n{PATCH}"
    assert diff_of(case(whole, ChangedFile(path="c.py", patch="@@ -1 +1 @@")).change).count("+++ ") == 2


def test_a_cut_diff_is_counted() -> None:
    with scripted(["4"]) as model:
        metric = RelevanceJudge(model=model.spec, cut=20)
        found = metric.parts(case(), review(SAID))
        assert f"Code Change: {PATCH[:20]}\n\nReview" in model.asked[0][1]["content"]
    assert isinstance(found, Measured)
    assert found.parts == {"score": 4, "relevance": 0.75, "cut": 1}
    bounds = metric.bounds(case())
    assert bounds is not None
    assert bounds.worst == {"score": 1, "relevance": 0, "cut": 1}
    whole = RelevanceJudge(model="fake:rules", cut=len(PATCH)).parts(case(), review(SAID))
    assert isinstance(whole, Measured)
    assert whole.parts["cut"] == 0
    with pytest.raises(ValueError, match="cut=0 must be 1 or more"):
        RelevanceJudge(cut=0)


def test_parameters_and_measures() -> None:
    assert FAKE.models == ("fake:rules",)
    assert RelevanceJudge().models == ()
    with pytest.raises(UserError, match="needs a chat model"):
        RelevanceJudge().parts(case(), review(SAID))
    with pytest.raises(UserError, match="provider"):
        RelevanceJudge(model="gpt-4o")
    assert load(Metric, signature(FAKE)) == FAKE
    assert read(FAKE, [{"score": 4.0, "relevance": 0.75}, {"score": 1.0, "relevance": 0.0}]) == {
        "score": 2.5,
        "relevance": 0.375,
    }
