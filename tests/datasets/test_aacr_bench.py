from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.records import Case, ChangedFile, RequiredContext, Side, Span
from reviewgauge.datasets.aacr_bench import AacrBench
from reviewgauge.datasets.files.code import CODE, DIFFS, Diff


@pytest.fixture(scope="module")
def real(shared_data: Path) -> AacrBench:
    return AacrBench(path=str(shared_data / "aacr-bench"))


@pytest.fixture(scope="module")
def cases(real: AacrBench) -> list[Case]:
    return list(real.cases())


@pytest.mark.slow
def test_the_counts_of_the_paper(real: AacrBench, cases: list[Case]) -> None:
    """Table 2 and section 4 of arXiv:2601.19494, which the official files give exactly."""
    references = [reference for case in cases for reference in case.references]
    assert (len(cases), len(references), sum(len(case.rejected) for case in cases)) == (200, 1505, 640)
    people = sum(reference.author == "human" for reference in references)
    assert (people, len(references) - people) == (391, 1114)
    assert all((r.author == "human") == (r.extra["is_ai"] is False) for r in references)
    assert Counter(reference.category for reference in references) == {
        "security": 53, "defect": 709, "maintainability": 626, "performance": 117,
    }  # fmt: skip
    assert Counter(r.needs for r in references) == {
        RequiredContext.DIFF: 754,
        RequiredContext.FILE: 518,
        RequiredContext.REPO: 233,
    }
    assert real.counts() == real.card.expected


def test_the_comments_of_the_six_models_are_recorded_reviews(real: AacrBench, cases: list[Case]) -> None:
    reviews, labels = real.recorded()
    said = Counter[str]()
    for review in reviews:
        said[review.system] += len(review.comments)
    assert not labels and len(reviews) == 6 * len(cases)
    wrong = Counter(comment.author for case in cases for comment in case.rejected)
    assert said["GPT-5.2"] == 379 + wrong["GPT-5.2"] and "human" not in said
    assert said.total() == 1114 + 640 - wrong["human"]
    with pytest.raises(UserError, match="no parameter 'who'"):
        real.recorded(who="GPT-5.2")


def test_the_slices_stand_on_the_union_of_both_files(cases: list[Case]) -> None:
    domains = Counter(case.facts["domain"] for case in cases)
    assert sorted(domains.values(), reverse=True) == [53, 44, 28, 20, 19, 13, 12, 8, 3]
    assert domains["Bug Fix"] == 53 and domains["Dependency Updates & Environment Compatibility"] == 3
    sizes = Counter(case.facts["size"] for case in cases)
    assert [sizes[name] for name in ("XS", "S", "M", "L", "XL", "XXL")] == [8, 22, 47, 89, 34, 0]
    assert len(Counter(case.facts["language"] for case in cases)) == 10
    lone = [case for case in cases if not case.references]
    assert len(lone) == 4 and all(case.rejected and "language" in case.facts for case in lone)
    assert not any(case.clean for case in cases)  # no references is not the same as known to be clean


@pytest.mark.slow
def test_sides_ids_and_the_reversed_range(real: AacrBench, cases: list[Case]) -> None:
    spans = [r.span for case in cases for r in case.references if r.span is not None]
    assert len(spans) == 1505
    assert Counter(span.side for span in spans) == {Side.NEW: 1497, Side.OLD: 8}
    reversed_one = [note for note in real.notes() if "reversed" in note.reason]
    assert [note.item for note in reversed_one] == ["FreeCAD/FreeCAD#19411, src/Mod/TechDraw/App/DrawProjGroup.cpp"]
    assert Span(path="src/Mod/TechDraw/App/DrawProjGroup.cpp", start=1144, end=1153) in spans
    assert cases == list(real.cases())
    ids = {(case.id, c.id) for case in cases for c in (*case.references, *case.rejected)}
    assert len(ids) == 1505 + 640


def test_base_and_head(cases: list[Case]) -> None:
    """Two changes of mpv started from one commit: that is a base, never a head."""
    bases = Counter(case.change.base for case in cases)
    heads = Counter(case.change.head for case in cases)
    assert max(bases.values()) == 2 and max(heads.values()) == 1
    assert not any(case.change.has_diff for case in cases)


# --- a small made-up copy of the format ------------------------------------------------------------------------------


def comment(**changes: object) -> dict[str, object]:
    return {
        "is_ai_comment": True, "note": "n", "path": "a.py", "side": "right", "source_model": "m", "from_line": 1,
        "to_line": 2, "category": "Code Defect", "context": "Diff Level", **changes,
    }  # fmt: skip


def sample(*comments: object, **changes: object) -> dict[str, object]:
    return {
        "change_line_count": 5, "project_main_language": "Python", "source_commit": "a" * 40, "target_commit": "b" * 40,
        "githubPrUrl": "https://github.com/owner/name/pull/7", "comments": list(comments), "category": "Bug Fix",
        **changes,
    }  # fmt: skip


def write(folder: Path, positive: object, negative: object) -> AacrBench:
    folder.mkdir(exist_ok=True)
    (folder / "positive_samples.json").write_text(json.dumps(positive))
    (folder / "negative_samples.json").write_text(json.dumps(negative))
    return AacrBench(path=str(folder))


def test_an_id_rests_on_content_not_on_order(tmp_path: Path) -> None:
    one, two = comment(), comment(note="other")
    first = write(tmp_path / "1", [sample(one, two)], []).cases()[0]
    second = write(tmp_path / "2", [sample(two, one)], []).cases()[0]
    assert {c.id for c in first.references} == {c.id for c in second.references}


def test_equal_comments_are_kept_apart(tmp_path: Path) -> None:
    case = write(tmp_path, [sample(comment(), comment())], []).cases()[0]
    assert len({c.id for c in case.references}) == 2


def test_a_left_side_is_old_and_a_text_of_digits_is_a_count(tmp_path: Path) -> None:
    case = write(tmp_path, [sample(comment(side="left"), change_line_count="12")], []).cases()[0]
    assert case.references[0].span is not None and case.references[0].span.side is Side.OLD
    assert case.facts["changed_lines"] == 12 and case.facts["size"] == "S"


@pytest.mark.parametrize(("positive", "negative", "problem"), [
    ([sample(comment(side="middle"))], [], "neither 'left' nor 'right'"),
    ([sample(comment(from_line=0))], [], "greater than or equal to 1"),
    ([sample(comment(from_line="x"))], [], "should be a whole number, not text"),
    ([sample(comment(path="../../etc/passwd"))], [], "climbs out"),
    ([sample(comment(path="/etc/passwd"))], [], "absolute path"),
    ([sample(comment(note="a\u0000b"))], [], "NUL"),
    ([sample(comment(note="\ud800"))], [], "surrogate"),
    ([sample(), sample()], [], "occurs twice"),
    ([sample(githubPrUrl="ext::sh")], [], "not the address of a pull request"),
    ([sample()], [sample(project_main_language="Go")], "differs from positive"),
    ([sample(comment())], [sample(comment())], "occurs twice"),
    ({}, [], "should be a list, not an object"),
])  # fmt: skip
def test_bad_files_are_named(tmp_path: Path, positive: object, negative: object, problem: str) -> None:
    with pytest.raises(BadInput, match=problem) as caught:
        write(tmp_path, positive, negative).cases()
    assert "_samples.json" in str(caught.value)


def test_code_that_was_fetched_is_attached_and_what_lacks_is_noted(tmp_path: Path) -> None:
    other = sample(githubPrUrl="https://github.com/owner/name/pull/8", target_commit="c" * 40)
    data = write(tmp_path, [sample(), other], [])
    files = (ChangedFile(path="a.py", patch="@@ -1 +1 @@\n-a\n+b\n"),)
    diff = Diff(repo="owner/name", base="a" * 40, head="b" * 40, merge_base="d" * 40, files=files)
    (tmp_path / CODE).mkdir()
    (tmp_path / CODE / DIFFS).write_bytes(diff.to_line())
    first, second = data.cases()
    assert first.change.has_diff and first.change.base == "d" * 40
    assert not second.change.has_diff
    assert [note.item for note in data.notes()] == ["owner/name#8"]
    assert not any(case.change.has_diff for case in AacrBench(path=str(tmp_path), code=False).cases())
