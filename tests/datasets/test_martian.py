from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import strategies as st

from reviewgauge.core.base import content_id
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.labels import RaterKind, SubjectKind
from reviewgauge.core.records import Severity
from reviewgauge.datasets.martian import Martian, stored_counts

JUDGES = ["anthropic_claude-opus-4-5-20251101", "anthropic_claude-sonnet-4-5-20250929", "openai_gpt-5.2"]


@pytest.fixture(scope="module")
def real(shared_data: Path) -> Martian:
    return Martian(path=str(shared_data / "martian"))


def test_the_goldens_of_thirty_pull_requests(real: Martian) -> None:
    cases = real.cases()
    assert (len(cases), sum(len(case.references) for case in cases)) == (30, 85)
    assert Counter(case.facts["repository"] for case in cases) == {"sentry": 10, "grafana": 10, "cal.com": 10}
    assert len({case.id for case in cases}) == 30
    fork = next(case for case in cases if case.id == "ai-code-review-evaluation/sentry-greptile#1")
    assert fork.change.repo == "getsentry/sentry"  # clustered with the project that it is a fork of
    assert fork.references[1].severity is Severity.HIGH
    assert not any(case.change.has_diff for case in cases)
    assert cases == real.cases()


@pytest.mark.parametrize("judge", JUDGES)
def test_precision_and_recall_equal_the_stored_ones(real: Martian, judge: str) -> None:
    stored = json.loads((real.folder / "results" / judge / "evaluations.json").read_bytes())
    counts = stored_counts(real.folder, judge)
    assert len(counts) == 360
    for (tool, url), found in counts.items():
        entry = stored[url][tool]
        precision = found.tp / found.candidates if found.candidates else 0.0
        assert precision == pytest.approx(entry["precision"], abs=1e-12)
        assert found.tp / found.golden == pytest.approx(entry["recall"], abs=1e-12)
        assert found.credited + found.displaced + found.repeated + found.fp == found.candidates
        assert found.tp + found.fn == found.golden


@pytest.mark.parametrize("judge", JUDGES)
def test_labels_and_reviews_give_the_stored_counts_back(real: Martian, judge: str) -> None:
    cases = {case.id: case for case in real.cases()}
    url_of = {case.id: case.change.url for case in cases.values()}
    reviews, labels = real.recorded(extractor=judge)
    assert len(reviews) == 360
    assert {(label.rater, label.rater_kind) for label in labels} == {(judge, RaterKind.MODEL)}
    assert all(label.value is True for label in labels)
    found = Counter((label.subject.system, url_of[label.subject.case], label.dimension) for label in labels)
    for (tool, url), stored in stored_counts(real.folder, judge).items():
        assert found[tool, url, "same_issue"] == stored.tp
        assert found[tool, url, "false_positive"] == stored.fp
        assert found[tool, url, "missed"] == stored.fn
    texts = {(review.case, review.system): {c.id: c.body for c in review.comments} for review in reviews}
    for label in labels:
        subject = label.subject
        assert subject.system is not None
        assert (subject.kind is SubjectKind.PAIR) == (label.dimension == "same_issue")
        assert subject.comment is None or subject.comment in texts[subject.case, subject.system]
        assert subject.reference is None or subject.reference in {r.id for r in cases[subject.case].references}


@pytest.mark.parametrize(("judge", "broken", "twice", "displaced"), [(JUDGES[0], 30, 18, 12), (JUDGES[1], 27, 20, 10)])
@pytest.mark.slow
def test_what_breaks_is_counted(real: Martian, judge: str, broken: int, twice: int, displaced: int) -> None:
    counts = stored_counts(real.folder, judge)
    assert sum(c.tp + c.fp != c.candidates for c in counts.values()) == broken
    assert sum(c.tp > c.credited for c in counts.values()) == twice
    notes = [note for note in real.notes() if note.item.startswith(judge)]
    found = {note.reason: int(note.item.split(": ")[1].split()[0]) for note in notes}
    assert found["tp + fp is not the number of candidates"] == broken
    assert found["one candidate is credited with several golden comments"] == twice
    assert found["no candidates and nothing posted: kept as a review without comments"] == 24
    assert sum(n for reason, n in found.items() if reason.startswith("no extracted candidates")) == 15
    assert found["a matching candidate lost its golden comment to a surer one and has no verdict"] == displaced


def test_reviews_without_candidates_are_kept(real: Martian) -> None:
    reviews = {(review.system, review.case): review for review in real.recorded()[0]}
    posted = [r for r in reviews.values() if any(c.extra.get("source") == "posted" for c in r.comments)]
    assert Counter(review.system for review in posted) == {"baz": 9, "propel": 5, "bugbot": 1}
    empty = [review for review in reviews.values() if review.system == "graphite" and not review.comments]
    assert len(empty) == 24


def test_an_unknown_extractor_names_those_at_hand(real: Martian) -> None:
    with pytest.raises(UserError, match=r"openai_gpt-5\.2"):
        real.recorded(extractor="../../etc")
    with pytest.raises(UserError, match="no parameter 'judge'"):
        real.recorded(judge="x")


# --- a small made-up copy of the format ------------------------------------------------------------------------------

URL = "https://github.com/owner/name/pull/7"


def write(folder: Path, goldens: object, candidates: object, evaluations: object) -> Martian:
    (folder / "golden_comments").mkdir(parents=True, exist_ok=True)
    (folder / "results" / "judge").mkdir(parents=True, exist_ok=True)
    (folder / "golden_comments" / "thing.json").write_text(json.dumps(goldens))
    (folder / "results" / "judge" / "candidates.json").write_text(json.dumps(candidates))
    (folder / "results" / "judge" / "evaluations.json").write_text(json.dumps(evaluations))
    return Martian(path=str(folder))


def golden(*texts: str, url: str = URL) -> list[dict[str, object]]:
    return [{"pr_title": "t", "url": url, "comments": [{"comment": text, "severity": "High"} for text in texts]}]


def entry(tp: list[tuple[str, str]], fp: list[str], fn: list[str], total: int) -> dict[str, object]:
    return {
        "true_positives": [
            {"golden_comment": g, "severity": "High", "matched_candidate": c, "confidence": 0.9, "reasoning": "r"}
            for g, c in tp
        ],
        "false_positives": [{"candidate": c} for c in fp],
        "false_negatives": [{"golden_comment": g, "severity": "High"} for g in fn],
        "total_candidates": total,
        "total_golden": len(tp) + len(fn),
        "tp": len(tp),
        "fp": len(fp),
        "fn": len(fn),
    }


def candidates(*texts: str) -> list[dict[str, object]]:
    return [{"text": text, "path": None, "line": None, "source": "extracted"} for text in texts]


def test_equal_texts_get_ids_of_their_own_and_the_first_is_judged(tmp_path: Path) -> None:
    data = write(
        tmp_path,
        golden("g"),
        {URL: {"bot": candidates("same", "same", "other")}},
        {URL: {"bot": entry([("g", "same")], ["other"], [], 3)}},
    )
    reviews, labels = data.recorded(extractor="judge")
    ids = [comment.id for comment in reviews[0].comments]
    assert len(set(ids)) == 3
    assert labels[0].subject.comment == ids[0] == content_id("same")
    assert labels[0].confidence == 0.9 and labels[0].reason == "r"
    counts = stored_counts(tmp_path, "judge")["bot", URL]
    assert (counts.credited, counts.repeated, counts.displaced, counts.fp) == (1, 1, 0, 1)


def test_what_has_no_counterpart_is_noted_not_lost_in_silence(tmp_path: Path) -> None:
    other = "https://github.com/owner/name/pull/8"
    data = write(
        tmp_path,
        golden("g"),
        {URL: {"bot": candidates("c"), "unjudged": candidates("x")}},
        {URL: {"bot": entry([("another golden", "c")], [], [], 1)}, other: {"bot": entry([], ["x"], [], 1)}},
    )
    reasons = [note.reason for note in data.notes()]
    assert any("a verdict about a text that the files do not hold" in reason for reason in reasons)
    assert any("not among the golden files at hand" in reason for reason in reasons)
    assert any("has candidates but no verdicts" in reason for reason in reasons)
    assert len(data.recorded(extractor="judge")[0]) == 1


def test_a_profile_counts_the_goldens_of_its_categories_and_leaves_the_others_neutral(tmp_path: Path) -> None:
    goldens = golden("leaks", "slow", "ugly")
    for at, word in zip(goldens[0]["comments"], ("security", "perf", "style"), strict=True):  # type: ignore[call-overload]
        at["category"] = word
    verdicts = {URL: {"bot": entry([("ugly", "c")], [], ["leaks", "slow"], 1)}}
    data = write(tmp_path, goldens, {URL: {"bot": candidates("c")}}, verdicts)
    for chosen, counted in ((data, 3), (replace(data, profile="core"), 2), (replace(data, profile="strict"), 1)):
        case = chosen.cases()[0]
        assert (len(case.references), len(case.neutral)) == (counted, 3 - counted)
        assert case.references[0].category == "security"
        assert len(chosen.recorded(extractor="judge")[1]) == 3  # the verdict on a neutral one stays
    write(tmp_path, golden("old"), {}, {})
    with pytest.raises(BadInput, match=r"has no category.*profile=.all"):
        replace(data, profile="core").cases()


@pytest.mark.parametrize(("goldens", "problem"), [
    ({}, "should be a list, not an object"),
    ([{"url": URL, "comments": []}], "pr_title: is missing"),
    ([{"pr_title": "t", "url": "file:///etc/passwd", "comments": []}], "not the address of a pull request"),
    ([{"pr_title": "t", "url": "https://github.com/../../pull/1", "comments": []}], "not the address"),
    ([{"pr_title": "t", "url": URL, "comments": [{"comment": 3}]}], "should be text, not a number"),
    ([{"pr_title": "t\u0000", "url": URL, "comments": []}], "NUL"),
    (golden("g") + golden("h"), "occurs twice"),
    (golden("g", "g"), "occurs twice"),
])  # fmt: skip
def test_bad_goldens_are_named(tmp_path: Path, goldens: object, problem: str) -> None:
    with pytest.raises(BadInput, match=problem) as caught:
        write(tmp_path, goldens, {}, {}).cases()
    assert "thing.json" in str(caught.value) and "\n" not in str(caught.value)


def test_an_empty_folder_says_how_to_get_the_data(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="reviewgauge get martian"):
        Martian(path=str(tmp_path)).cases()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([URL, "bot", "text", "tp", "true_positives", "skipped"]), inner, max_size=4)
    ),
    max_leaves=12,
)
