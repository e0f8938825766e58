"""ReviewBench, on made-up files in the shape of the published ones (golden/*.json of commit 6ff0673)."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.protocols import Dataset, Measured, Metric, Reviewer
from reviewgauge.core.records import GOLDEN_INDEX, Case, Origin, RequiredContext, Severity, Span
from reviewgauge.core.specs import load, signature
from reviewgauge.datasets.files.local_files import data_home
from reviewgauge.datasets.review_bench import ReviewBench

BASE, HEAD = "a" * 40, "9ccd6995" + "b" * 32
SONNET, PEOPLE = "llm_review:claude-sonnet-4.6", "human_review"


def finding(
    message: str = "Pipeline errors close the stream.", label: str = "tp", **changes: object
) -> dict[str, object]:
    return {
        "file": "lib/index.js", "start_line": 315, "end_line": 325, "message": message, "tp_fp": label,
        "severity": "high", "category": "reliability", "scope": "introduced-by-pr", "difficulty": "easy",
        "context_required": "diff-only", "tp_fp_justification": "Looked at: the handler closes it.",
        "severity_justification": "s", "category_justification": "c", "producer": SONNET,
        "source": {"type": "llm_review", "alignment": "generated"}, **changes,
    }  # fmt: skip


def pull(number: int = 39, **changes: object) -> dict[str, object]:
    return {"repo": "https://github.com/tforster/gilbert", "pr_number": number, "base": BASE, "head": HEAD, **changes}


def entry(number: int = 39, **changes: object) -> dict[str, object]:
    more = {"nwo": "tforster/gilbert", "pr_url": f"https://github.com/tforster/gilbert/pull/{number}"}
    sizes = {"language": "JavaScript", "lines_added": 30, "lines_removed": 10, "files_changed": 2, "repo_size_kb": 7}
    return {**pull(number), **more, "title": "Streams", "body": "Compile in streams.", **sizes, **changes}


def write(
    folder: Path,
    *golden: tuple[Mapping[str, object], list[dict[str, object]]],
    manifest: object = None,
    test_set: object = None,
) -> ReviewBench:
    """The files of a data set in `folder`."""
    (folder / "golden").mkdir(parents=True)
    for identity, findings in golden:
        key = f"tforster_gilbert_{identity['pr_number']}-{str(identity['head'])[:8]}"
        content = {"pr_key": key, "pr": identity, "findings": findings}
        (folder / "golden" / f"{key}.json").write_text(json.dumps(content))
    for name, extra in (("manifest.json", manifest), ("test/findings.json", test_set)):
        if extra is not None:
            file = folder / "corpus" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(extra))
    return ReviewBench(path=str(folder))


def one(folder: Path, *findings: dict[str, object]) -> Case:
    (case,) = write(folder, (pull(), list(findings))).cases()
    return case


def test_right_findings_are_references_and_wrong_ones_are_rejected(tmp_path: Path) -> None:
    wrong = finding("It races.", "fp", producer=PEOPLE, severity="low", context_required="broader-project-context")
    data = write(tmp_path, (pull(), [wrong, finding()]), manifest=[entry()], test_set={})
    (case,) = data.cases()
    assert (case.id, case.change.repo, case.change.base, case.change.head) == (
        "tforster_gilbert_39-9ccd6995", "tforster/gilbert", BASE, HEAD,
    )  # fmt: skip
    assert (case.change.title, case.change.description) == ("Streams", "Compile in streams.")
    assert case.facts == {
        "repository": "tforster/gilbert", "language": "JavaScript", "changed_lines": 40, "changed_files": 2,
        "size": case.facts["size"], "set": "rest",
    }  # fmt: skip
    (right,), (rejected,) = case.references, case.rejected
    assert right.span == Span(path="lib/index.js", start=315, end=325)
    assert (right.severity, right.category, right.needs) == (Severity.HIGH, "reliability", RequiredContext.DIFF)
    assert (right.author, right.origin) == (SONNET, Origin.GOLDEN)
    assert (right.extra["scope"], right.extra["difficulty"], right.extra["source_type"]) == (
        "introduced-by-pr",
        "easy",
        "llm_review",
    )
    assert (rejected.author, rejected.severity, rejected.needs) == (PEOPLE, Severity.LOW, RequiredContext.REPO)
    assert (rejected.extra[GOLDEN_INDEX], right.extra[GOLDEN_INDEX]) == (0, 1)  # one order over both
    assert not case.clean and not data.notes()


def test_the_producers_are_counted_beside_what_the_card_states(tmp_path: Path) -> None:
    data = write(
        tmp_path,
        (pull(), [finding(), finding("b", "fp"), finding("c", producer=PEOPLE)]),
        (pull(40), [finding("d")]),
        manifest=[entry(), entry(40)],
        test_set={"tforster_gilbert_40-9ccd6995": [{}]},
    )
    assert data.counts() == {
        "changes": 2, "references": 3, "rejected": 1, "repositories": 1, "languages": 1, "changes of the test set": 1,
        "references of the test set": 1, f"references by {SONNET}": 2, f"references by {PEOPLE}": 1,
        f"rejected by {SONNET}": 1,
    }  # fmt: skip
    assert data.card.expected.keys() <= data.counts().keys()


def test_the_findings_of_a_family_can_be_left_out(tmp_path: Path) -> None:
    """By prefix, as ReviewBench's own `--exclude-producer` does (scripts/eval/exclude-producers.ts)."""
    findings = [finding(), finding("b", "fp"), finding("c", producer=PEOPLE), finding("d", producer="x:llm_review")]
    path = write(tmp_path, (pull(), findings)).path
    data = ReviewBench(path=path, exclude_producers=("llm_review:",))
    (case,) = data.cases()
    assert [reference.author for reference in case.references] == [PEOPLE, "x:llm_review"] and not case.rejected
    (note,) = [note for note in data.notes() if "left out" in note.reason]
    assert note.reason == f"2 findings of {SONNET} left out by exclude_producers"
    spec = signature(data)
    assert load(Dataset, spec) == data
    for wrong in ("('',)", "'llm_review:'"):
        with pytest.raises(UserError, match="exclude_producers"):
            load(Dataset, f"review_bench(exclude_producers={wrong})")


@pytest.mark.parametrize(
    "producer", [" llm_review:claude-sonnet-4.6", "LLM_Review: Claude Sonnet", "llm_\u00a0review:claude"]
)
def test_capitals_and_blanks_do_not_keep_a_family_in(tmp_path: Path, producer: str) -> None:
    path = write(tmp_path, (pull(), [finding(producer=producer), finding("b", producer=PEOPLE)])).path
    (case,) = ReviewBench(path=path, exclude_producers=("llm_review:Claude",)).cases()
    assert [reference.author for reference in case.references] == [PEOPLE]


def test_repositories_whose_names_read_alike_are_two(tmp_path: Path) -> None:
    urls = ["https://github.com/a_b/c", "https://github.com/a/b_c"]
    golden = [{"pr_key": "a_b_c_39-9ccd6995", "pr": pull(repo=url), "findings": [finding(url)]} for url in urls]
    data = write(tmp_path, (pull(), []), manifest=[entry(repo=url, title=url) for url in urls])
    (tmp_path / "golden" / "tforster_gilbert_39-9ccd6995.json").unlink()
    for number, content in enumerate(golden):
        (tmp_path / "golden" / f"{number}.json").write_text(json.dumps(content))
    first, second = data.cases()
    assert (first.id, first.change.title, first.references[0].body) == ("a_b_c_39-9ccd6995", urls[0], urls[0])
    assert second.id.startswith("a_b_c_39-9ccd6995-")
    assert (second.change.title, second.references[0].body) == (urls[1], urls[1])


def test_a_change_without_right_findings_is_not_clean(tmp_path: Path) -> None:
    case = one(tmp_path, finding(label="fp"))
    assert not case.references and case.verdict is None and not case.clean


def test_an_excerpt_without_the_manifest_is_read(tmp_path: Path) -> None:
    case = one(tmp_path, finding())
    assert case.change.title == "" and case.facts == {"repository": "tforster/gilbert"}


def test_what_the_files_do_not_agree_on_is_noted(tmp_path: Path) -> None:
    key = "tforster_gilbert_40-9ccd6995"
    data = write(
        tmp_path, (pull(39), [finding()]), (pull(40), [finding()]), manifest=[entry(40), entry(41)], test_set={key: []}
    )
    assert [(note.item, note.reason) for note in data.notes()] == [
        ("tforster_gilbert_39-9ccd6995", "not in corpus/manifest.json: no title, description or language"),
        ("tforster_gilbert_40-9ccd6995", "1 right findings, and 0 in corpus/test/findings.json"),
        ("tforster_gilbert_41-9ccd6995", "in corpus/manifest.json without a golden file: left out"),
    ]


def test_two_heads_of_one_pull_request_are_two_cases(tmp_path: Path) -> None:
    data = write(tmp_path, (pull(), [finding()]), (pull(head="c" * 40), [finding()]))
    assert [case.id for case in data.cases()] == ["tforster_gilbert_39-9ccd6995", "tforster_gilbert_39-cccccccc"]


def test_odd_ranges_and_equal_findings_are_kept(tmp_path: Path) -> None:
    odd = [finding(start_line=9, end_line=4), finding(start_line=0, end_line=0), finding(), finding()]
    data = write(tmp_path, (pull(), odd))
    (case,) = data.cases()
    assert [(r.span.start, r.span.end) for r in case.references if r.span] == [
        (4, 9), (None, None), (315, 325), (315, 325),
    ]  # fmt: skip
    assert len({r.id for r in case.references}) == 4
    assert [note.reason for note in data.notes()] == [
        "the range 9 to 4 was reversed: corrected",
        "the range 0 to 0 is not a range of lines: the whole file is meant",
    ]


def test_a_folder_of_findings_by_their_official_names_is_replayed_and_scored(tmp_path: Path) -> None:
    data = write(tmp_path / "files", (pull(), [finding()]), (pull(40), [finding(label="fp")]))
    (tmp_path / "findings").mkdir()
    said = {"file": "lib/index.js", "start_line": 1, "end_line": 1, "message": finding()["message"], "producer": "bot"}
    for case, number in zip(data.cases(), (39, 40), strict=True):
        document = {"pr": pull(number), "agent": "bot", "findings": [said]}
        (tmp_path / "findings" / f"{case.id}.json").write_text(json.dumps(document))
    changes = [case.change.model_copy(update={"id": case.id}) for case in data.cases()]
    replay = load(Reviewer, f"replay(path={str(tmp_path / 'findings')!r})")
    assert not replay.prepare(changes)
    metric = load(Metric, "hits(judge='exact', policy='any', variant='review_bench')")
    parts = []
    for case, change in zip(data.cases(), changes, strict=True):
        found = metric.parts(case, replay.review(change))
        assert isinstance(found, Measured)
        parts.append((found.parts["said"], found.parts["right"], found.parts["references"], found.parts["hit"]))
    assert parts == [(1, 1, 1, 1), (1, 0, 0, 0)]  # what is known to be wrong is labelled wrong


@pytest.mark.parametrize(("change", "problem"), [
    ({"tp_fp": "maybe"}, r"findings\[0\].tp_fp: 'maybe' is neither 'tp' nor 'fp'"),
    ({"start_line": "many"}, "start_line: should be a whole number"),
    ({"message": None}, "message: should be text"),
    ({"file": "../../etc/passwd"}, "path"),
    ({"producer": 3}, "producer: should be text"),
])  # fmt: skip
def test_a_bad_finding_is_named(tmp_path: Path, change: dict[str, object], problem: str) -> None:
    with pytest.raises(BadInput, match=problem) as caught:
        one(tmp_path, {**finding(), **change})
    assert "tforster_gilbert_39-9ccd6995.json" in str(caught.value)


def test_bad_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="should be a list"):
        write(tmp_path / "1", (pull(), [finding()]), manifest={"a": 1}).cases()
    with pytest.raises(BadInput, match="occurs twice"):
        write(tmp_path / "2", (pull(), [finding()]), manifest=[entry(), entry()]).cases()
    with pytest.raises(BadInput, match="differs from the golden file of tforster_gilbert_39"):
        write(tmp_path / "3", (pull(), [finding()]), manifest=[entry(base="d" * 40)]).cases()
    with pytest.raises(BadInput, match="is not the address of a pull request"):
        write(tmp_path / "4", (pull(repo="gilbert"), [finding()])).cases()
    data = write(tmp_path / "5", (pull(), [finding()]))
    (tmp_path / "5/golden/tforster_gilbert_39-9ccd6995.json").rename(tmp_path / "5/golden/other.json")
    assert len(data.cases()) == 1  # the file's name says nothing
    (tmp_path / "5/golden/again.json").write_text((tmp_path / "5/golden/other.json").read_text())
    with pytest.raises(BadInput, match="occurs twice"):
        data.cases()
    (tmp_path / "5/golden/again.json").unlink()
    (tmp_path / "5/golden/other.json").write_text("[1")
    with pytest.raises(BadInput, match=r"other\.json"):
        data.cases()
    (tmp_path / "6").mkdir()
    with pytest.raises(UserError, match="holds no golden"):
        ReviewBench(path=str(tmp_path / "6")).cases()


def test_the_published_files() -> None:
    """Its README counts 219 pull requests of 187 repositories; `corpus/test/picks.md` adds up to 352 right findings."""
    folder = Path(os.environ.get("REVIEW_BENCH_FILES", data_home() / "review_bench"))
    if not (folder / "golden").is_dir():
        pytest.skip("ReviewBench's files are not on this machine: reviewgauge get review_bench")
    data = ReviewBench(path=str(folder))
    counts = data.counts()
    assert {name: counts[name] for name in data.card.expected} == data.card.expected
    severities = [r.severity for case in data.cases() if case.facts["set"] == "test" for r in case.references]
    assert [severities.count(s) for s in (Severity.HIGH, Severity.MEDIUM, Severity.LOW)] == [36, 134, 182]
